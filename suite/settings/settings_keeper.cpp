// Applying and putting back.
#include "suite/settings/settings_keeper.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "common/base/error.h"
#include "suite/environment/environment.h"

namespace krepro {
namespace {

bool same_knob(const Knob& left, const Knob& right) {
  return left.path == right.path && left.feature == right.feature;
}

Error refused(const Setting& setting, const std::string& path, int error_number) {
  std::string remedy;
  switch (error_number) {
    case EACCES:
    case EPERM:
      remedy = "run it as root; in a container the machine's owner must do it";
      break;
    case ENOENT:
      remedy = path.starts_with("/sys/kernel/debug")
                   ? "mount -t debugfs none /sys/kernel/debug, if the kernel has it"
                   : "this kernel has no such setting: leave it out of the profile";
      break;
    case EINVAL:
      remedy = "the kernel does not take this value: units, range and spelling are the kernel's";
      break;
    default:
      break;
  }
  return Error(ExitCode::not_possible,
               fmt::format("setting {} = {}: {}: {}", setting.name, setting.value, path,
                           std::strerror(error_number)),
               remedy);
}

/// Puts one knob back; returns what is to be said about it, or nothing where it went well.
std::string put_back(const JournalEntry& entry, const KnobAccess& access) {
  const std::string name =
      entry.knob.feature.empty() ? entry.knob.path : entry.knob.path + " " + entry.knob.feature;
  const std::optional<std::string> now = access.read(entry.knob);
  if (now && same_value(*now, entry.before)) return {};
  if (now && !same_value(*now, entry.applied)) {
    return fmt::format("{} is {}: neither what krepro set ({}) nor what it was ({}); left alone",
                       name, *now, entry.applied, entry.before);
  }
  const int error_number = access.write(entry.knob.path, entry.before);
  if (error_number == 0) return {};
  return fmt::format("{} could not be put back to {}: {}", name, entry.before,
                     std::strerror(error_number));
}

}  // namespace

SettingsKeeper::SettingsKeeper(const KnobAccess& access,
                               const std::filesystem::path& state_directory)
    : access_(access), journal_(state_directory, boot_id(access.host())) {
  if (!journal_.lock()) {
    throw usage_error(
        fmt::format("another krepro run has settings applied ({})", journal_.path().string()),
        "wait for its end: it puts them back");
  }
}

SettingsKeeper::~SettingsKeeper() { (void)restore(); }

void SettingsKeeper::apply(const std::vector<Setting>& settings) {
  for (const Setting& setting : settings) {
    const std::vector<KnobWrite> writes = knob_writes(setting, access_);
    applied_[setting.name].clear();
    for (const KnobWrite& write : writes) {
      apply_one(setting, write);
      applied_[setting.name].push_back(write);
    }
  }
}

void SettingsKeeper::apply_one(const Setting& setting, const KnobWrite& write) {
  int error_number = 0;
  const std::optional<std::string> before = access_.read(write.knob, &error_number);
  if (!before) throw refused(setting, write.knob.path, error_number == 0 ? ENOENT : error_number);
  if (same_value(*before, write.value)) return;
  auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const JournalEntry& each) {
    return same_knob(each.knob, write.knob);
  });
  if (entry == entries_.end()) {
    entry = entries_.insert(entries_.end(), {write.knob, *before, write.value});
  } else {
    entry->applied = write.value;
  }
  journal_.write(entries_);
  error_number = access_.write(write.knob.path, write.value);
  if (error_number != 0) throw refused(setting, write.knob.path, error_number);
  const std::optional<std::string> after = access_.read(write.knob);
  if (after && same_value(*after, write.value)) return;
  // What the kernel made of it is krepro's doing too, and is put back.
  entry->applied = after.value_or(write.value);
  journal_.write(entries_);
  throw not_possible(fmt::format("setting {} = {}: {} reads {} after it", setting.name,
                                 setting.value, write.knob.path, after.value_or("nothing")),
                     "the kernel took another value: check its unit and range");
}

nlohmann::json SettingsKeeper::read_back() const {
  nlohmann::json values = nlohmann::json::object();
  for (const auto& [name, writes] : applied_) {
    std::vector<std::string> distinct;
    for (const KnobWrite& write : writes) {
      const std::string value = access_.read(write.knob).value_or("");
      if (std::find(distinct.begin(), distinct.end(), value) == distinct.end()) {
        distinct.push_back(value);
      }
    }
    std::string text;
    for (const std::string& value : distinct) text += (text.empty() ? "" : " ") + value;
    values[name] = text;
  }
  return values;
}

std::string SettingsKeeper::find_change() const {
  for (const auto& [name, writes] : applied_) {
    for (const KnobWrite& write : writes) {
      const std::optional<std::string> now = access_.read(write.knob);
      if (now && same_value(*now, write.value)) continue;
      return fmt::format("{} was set to {} and is {} now ({})", name, write.value,
                         now.value_or("not there"), write.knob.path);
    }
  }
  return {};
}

std::vector<std::string> SettingsKeeper::restore() {
  std::vector<std::string> lines;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    std::string line = put_back(*entry, access_);
    if (!line.empty()) lines.push_back(std::move(line));
  }
  if (!entries_.empty()) {
    entries_.clear();
    try {
      journal_.write({});
    } catch (const Error& error) {
      lines.emplace_back(error.what());
    }
  }
  applied_.clear();
  return lines;
}

std::vector<std::string> restore_left_settings(const KnobAccess& access,
                                               const std::filesystem::path& state_directory) {
  SettingsJournal journal(state_directory, boot_id(access.host()));
  std::vector<std::string> lines;
  // Who never applied settings makes no directory and takes no lock.
  if (!journal.exists() || !journal.lock()) return lines;
  const std::vector<JournalEntry> entries = journal.take_over();
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const std::string problem = put_back(*entry, access);
    lines.push_back(
        problem.empty()
            ? fmt::format("{}{}{} put back to {}: a run that was killed had left it at {}",
                          entry->knob.path, entry->knob.feature.empty() ? "" : " ",
                          entry->knob.feature, entry->before, entry->applied)
            : problem);
  }
  journal.write({});
  return lines;
}

}  // namespace krepro
