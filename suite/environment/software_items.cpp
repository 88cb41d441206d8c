// Items about what the loads and servers are made of besides the kernel: libraries and servers,
// told apart by their GNU build ids. Which server a trial really used is in its sample.
#include <fmt/core.h>
#include <gnu/libc-version.h>

#include <vector>

#include "common/base/elf_notes.h"
#include "suite/environment/findings.h"

namespace krepro {
namespace {

/// The notes of a program or library stand in its first pages.
constexpr std::size_t head_bytes = 16384;

/// {path: build id} of those of `paths` that are there; "" where one carries no id.
Finding build_ids_of(const HostFiles& host, const std::vector<std::string>& paths,
                     const std::string& what) {
  nlohmann::json ids = nlohmann::json::object();
  for (const std::string& path : paths) {
    const auto head = host.read_start(path, head_bytes);
    if (head) ids[path] = gnu_build_id_in(*head);
  }
  if (ids.empty()) return not_found("not installed where it is looked for", what);
  return found(std::move(ids), what);
}

std::vector<std::string> library_paths(const HostFiles& host,
                                       std::initializer_list<const char*> names) {
  std::vector<std::string> directories = {"/lib64", "/usr/lib64", "/usr/lib"};
  for (const std::string& name : host.list("/usr/lib")) {
    if (name.find("-linux-") != std::string::npos) directories.push_back("/usr/lib/" + name);
  }
  std::vector<std::string> paths;
  for (const std::string& directory : directories) {
    for (const char* name : names) paths.push_back(directory + "/" + name);
  }
  return paths;
}

Finding libc_item(const HostFiles& host) {
  Finding finding = build_ids_of(host, library_paths(host, {"libc.so.6"}), "lib*/libc.so.6");
  if (finding.value.is_object()) finding.value["version"] = gnu_get_libc_version();
  return finding;
}

Finding openssl_item(const HostFiles& host) {
  return build_ids_of(host, library_paths(host, {"libssl.so.3", "libcrypto.so.3", "libssl.so.1.1"}),
                      "lib*/libssl.so.*, lib*/libcrypto.so.*");
}

Finding program_item(const HostFiles& host, const std::string& name) {
  std::vector<std::string> paths;
  for (const char* directory : {"/usr/sbin/", "/usr/bin/", "/usr/local/sbin/", "/usr/local/bin/"}) {
    paths.push_back(directory + name);
  }
  return build_ids_of(host, paths, fmt::format("/usr/{{sbin,bin,local}}/{}", name));
}

/// Every installed major version: /usr/lib/postgresql/15/bin/postgres.
Finding postgres_item(const HostFiles& host) {
  std::vector<std::string> paths = {"/usr/bin/postgres", "/usr/local/pgsql/bin/postgres"};
  for (const std::string& version : host.list("/usr/lib/postgresql")) {
    paths.push_back(fmt::format("/usr/lib/postgresql/{}/bin/postgres", version));
  }
  return build_ids_of(host, paths, "/usr/lib/postgresql/*/bin/postgres");
}

/// "PRETTY_NAME="Debian GNU/Linux 12"" of os-release.
Finding distribution_item(const HostFiles& host) {
  Finding name = field_of(host, "/etc/os-release", "PRETTY_NAME");
  if (!name.value.is_string()) return name;
  std::string text = name.value.get<std::string>();
  std::erase(text, '"');
  name.value = text;
  return name;
}

}  // namespace

std::vector<EnvironmentItem> software_items() {
  using Host = const HostFiles&;
  return {
      {"software.distribution", distribution_item},
      {"software.libc", libc_item},
      {"software.openssl", openssl_item},
      {"software.nginx", [](Host host) { return program_item(host, "nginx"); }},
      {"software.memcached", [](Host host) { return program_item(host, "memcached"); }},
      {"software.postgres", postgres_item},
  };
}

}  // namespace krepro
