// The journal's file and its lock.
#include "suite/settings/journal.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/error.h"

namespace krepro {
namespace {

using nlohmann::json;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void write_whole(const std::filesystem::path& path, const std::string& text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) throw system_error(fmt::format("cannot write {}", path.string()), errno);
  const ssize_t written = ::write(descriptor, text.data(), text.size());
  const bool whole = written == static_cast<ssize_t>(text.size()) && fsync(descriptor) == 0;
  const int error_number = errno;
  close(descriptor);
  if (!whole) throw system_error(fmt::format("cannot write {}", path.string()), error_number);
}

void flush_directory(const std::filesystem::path& directory) {
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

std::filesystem::path state_directory() {
  if (const std::string given = variable("KREPRO_STATE_DIR"); !given.empty()) return given;
  if (const std::string base = variable("XDG_STATE_HOME"); !base.empty()) {
    return std::filesystem::path(base) / "krepro";
  }
  const std::string home = variable("HOME");
  if (geteuid() == 0 || home.empty()) return "/var/lib/krepro";
  return std::filesystem::path(home) / ".local/state/krepro";
}

SettingsJournal::SettingsJournal(std::filesystem::path directory, std::string boot_id)
    : directory_(std::move(directory)),
      path_(directory_ / "settings.json"),
      boot_id_(std::move(boot_id)) {}

SettingsJournal::~SettingsJournal() {
  if (lock_ >= 0) close(lock_);
}

bool SettingsJournal::exists() const {
  std::error_code error;
  return std::filesystem::exists(path_, error);
}

bool SettingsJournal::lock() {
  if (lock_ >= 0) return true;
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  const std::filesystem::path path = directory_ / "settings.lock";
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    throw system_error(fmt::format("cannot write the journal of settings {}", path.string()),
                       errno);
  }
  // A lock of the process, which no child inherits: it ends with this process and no later.
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  if (fcntl(descriptor, F_SETLK, &range) != 0) {
    close(descriptor);
    return false;
  }
  lock_ = descriptor;
  return true;
}

std::vector<JournalEntry> SettingsJournal::take_over() {
  std::vector<JournalEntry> entries;
  std::ifstream stream(path_);
  if (!stream) return entries;
  const json journal = json::parse(stream, nullptr, false);
  try {
    if (journal.at("boot_id").get<std::string>() == boot_id_) {
      for (const json& each : journal.at("entries")) {
        entries.push_back({{each.at("path").get<std::string>(), each.value("feature", "")},
                           each.at("before").get<std::string>(),
                           each.at("applied").get<std::string>()});
      }
    }
  } catch (const json::exception&) {
    // It is renamed into place whole: this is nobody's journal.
    entries.clear();
  }
  if (entries.empty()) write({});
  return entries;
}

void SettingsJournal::write(const std::vector<JournalEntry>& entries) {
  if (entries.empty()) {
    unlink(path_.c_str());
    flush_directory(directory_);
    return;
  }
  json journal = {{"boot_id", boot_id_}, {"pid", getpid()}, {"entries", json::array()}};
  for (const JournalEntry& entry : entries) {
    journal["entries"].push_back({{"path", entry.knob.path},
                                  {"feature", entry.knob.feature},
                                  {"before", entry.before},
                                  {"applied", entry.applied}});
  }
  std::filesystem::path draft = path_;
  draft += ".new";
  write_whole(draft, journal.dump(1) + "\n");
  std::filesystem::rename(draft, path_);
  flush_directory(directory_);
}

}  // namespace krepro
