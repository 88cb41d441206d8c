// The load against TLS servers that a test scripts: how a response ends, and records of other sizes
// than those of the servers that krepro starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "generators/http/test_support/running_http.h"
#include "generators/http/tls.h"

namespace krepro::http {
namespace {

/// With a certificate of its own making.
SslContext make_server_context() {
  SslContext context(SSL_CTX_new(TLS_server_method()));
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  SSL_CTX_use_certificate(context.get(), certificate.get());
  SSL_CTX_use_PrivateKey(context.get(), key.get());
  return context;
}

enum class After { goes_on, says_goodbye, closes };

/// Answers requests with `response` in records of `record_bytes`.
ScriptedServer::Script answering(const std::string& response, After after, int record_bytes) {
  return [=](int socket) {
    const SslContext context = make_server_context();
    SSL_CTX_set_max_send_fragment(context.get(), record_bytes);
    const SslPointer ssl(SSL_new(context.get()));
    SSL_set_fd(ssl.get(), socket);
    char request[4096];
    if (SSL_accept(ssl.get()) != 1) return;
    while (SSL_read(ssl.get(), request, sizeof request) > 0) {
      if (SSL_write(ssl.get(), response.data(), static_cast<int>(response.size())) <= 0) return;
      if (after == After::says_goodbye) SSL_shutdown(ssl.get());
      if (after != After::goes_on) return;
    }
  };
}

HttpRun run_over_tls(const ScriptedServer& server, const char* pattern) {
  return run_http({"--duration=500ms", "-c2", "-t1", std::string("--pattern=") + pattern,
                   "https" + server.url().substr(4)});
}

TEST(OverTls, ABodyUntilTheEndIsWholeWhereTheServerSaysGoodbye) {
  for (const char* pattern : {"wrk", "lean"}) {
    const ScriptedServer server(
        answering("HTTP/1.1 200 OK\r\n\r\nhello", After::says_goodbye, 16384));
    const HttpRun run = run_over_tls(server, pattern);
    EXPECT_EQ(run.exit_code, 0) << run.err << run.sample;
    EXPECT_GT(run.sample.at("operations"), 2);
  }
}

TEST(OverTls, ABodyUntilTheEndIsShortWhereTheServerDoesNot) {
  for (const char* pattern : {"wrk", "lean"}) {
    const ScriptedServer server(answering("HTTP/1.1 200 OK\r\n\r\nhello", After::closes, 16384));
    const HttpRun run = run_over_tls(server, pattern);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_EQ(run.sample.at("operations"), 0);
    EXPECT_GT(run.errors("short_body"), 0U) << run.sample;
    EXPECT_EQ(run.errors(), run.errors("short_body"));
  }
}

TEST(OverTls, ABodyByItsLengthNeedsNoGoodbye) {
  for (const char* pattern : {"wrk", "lean"}) {
    const ScriptedServer server(
        answering("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
                  After::closes, 16384));
    const HttpRun run = run_over_tls(server, pattern);
    EXPECT_EQ(run.exit_code, 0) << run.err << run.sample;
    EXPECT_GT(run.sample.at("operations"), 2);
  }
}

/// The last record is read together with the one before, and waits in OpenSSL after as many reads
/// as one event may make.
TEST(OverTls, ResponsesOfManySmallRecordsAreReadToTheEnd) {
  for (const char* pattern : {"wrk", "lean"}) {
    for (const int record_bytes : {2048, 8192}) {
      const std::size_t body_bytes = 64 * static_cast<std::size_t>(record_bytes);
      const ScriptedServer server(
          answering("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body_bytes) +
                        "\r\n\r\n" + std::string(body_bytes, 'x'),
                    After::goes_on, record_bytes));
      const HttpRun run = run_over_tls(server, pattern);
      EXPECT_EQ(run.exit_code, 0) << run.err << run.sample;
      EXPECT_EQ(run.errors(), 0U);
      // One that stood still would be alone.
      EXPECT_GT(run.sample.at("operations"), 4) << record_bytes;
    }
  }
}

}  // namespace
}  // namespace krepro::http
