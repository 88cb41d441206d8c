// The key and certificate of a server that speaks TLS, made by OpenSSL.
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <exception>
#include <memory>

#include "common/base/error.h"
#include "generators/http/server_folder.h"
#include "generators/http/tls.h"

namespace krepro::http {

namespace {

constexpr int key_bits = 4096;
constexpr long valid_seconds = 30L * 86400;

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(FILE* file) const { std::fclose(file); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Certificate = std::unique_ptr<X509, Free>;

[[noreturn]] void fail(const char* what) {
  throw usage_error(std::string(what) + ": OpenSSL: " + take_ssl_error());
}

/// What a signal throws must not pass through OpenSSL's frames: it is kept, and thrown behind them.
struct Watch {
  Frame* frame = nullptr;
  std::exception_ptr thrown;
};

int look_at_signals(EVP_PKEY_CTX* context) {
  auto* watch = static_cast<Watch*>(EVP_PKEY_CTX_get_app_data(context));
  try {
    watch->frame->check_interrupted();
  } catch (...) {
    watch->thrown = std::current_exception();
    return 0;
  }
  return 1;
}

Key make_key(Frame& frame) {
  const std::unique_ptr<EVP_PKEY_CTX, Free> context(EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nullptr));
  if (!context || EVP_PKEY_keygen_init(context.get()) != 1 ||
      EVP_PKEY_CTX_set_rsa_keygen_bits(context.get(), key_bits) != 1) {
    fail("make a key");
  }
  Watch watch{&frame, nullptr};
  EVP_PKEY_CTX_set_app_data(context.get(), &watch);
  EVP_PKEY_CTX_set_cb(context.get(), look_at_signals);
  EVP_PKEY* key = nullptr;
  const int made = EVP_PKEY_keygen(context.get(), &key);
  if (watch.thrown) std::rethrow_exception(watch.thrown);
  if (made != 1) fail("make a key");
  return Key(key);
}

Certificate make_signed(EVP_PKEY* key) {
  Certificate certificate(X509_new());
  X509* x509 = certificate.get();
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
  X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x509), valid_seconds);
  X509_set_pubkey(x509, key);
  X509_NAME* name = X509_get_subject_name(x509);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(x509, name);
  const std::unique_ptr<X509_EXTENSION, Free> names(X509V3_EXT_conf_nid(
      nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1"));
  if (!names || X509_add_ext(x509, names.get(), -1) != 1 ||
      X509_sign(x509, key, EVP_sha256()) == 0) {
    fail("make a certificate");
  }
  return certificate;
}

template <typename Write>
void write_file(const std::filesystem::path& path, Write write) {
  const std::unique_ptr<FILE, Free> file(std::fopen(path.c_str(), "wx"));
  if (!file) throw system_error("create " + path.string(), errno);
  if (write(file.get()) != 1 || std::fflush(file.get()) != 0) fail("write a key or certificate");
}

}  // namespace

void make_certificate(const std::filesystem::path& folder, Frame& frame) {
  const Key key = make_key(frame);
  const Certificate certificate = make_signed(key.get());
  write_file(folder / "key.pem", [&](FILE* file) {
    return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  write_file(folder / "certificate.pem",
             [&](FILE* file) { return PEM_write_X509(file, certificate.get()); });
}

}  // namespace krepro::http
