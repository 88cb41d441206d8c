// What has to be put back, on disk before anything is changed: so that a run that was killed, by
// whatever signal, leaves its settings to the next start. One journal per machine's state
// directory; its lock tells whether the run that wrote it still lives.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suite/settings/knob.h"

namespace krepro {

/// One knob that was changed.
struct JournalEntry {
  Knob knob;
  std::string before;
  std::string applied;
};

/// $KREPRO_STATE_DIR, else $XDG_STATE_HOME/krepro, else /var/lib/krepro for root and
/// ~/.local/state/krepro for others.
[[nodiscard]] std::filesystem::path state_directory();

class SettingsJournal {
 public:
  /// Nothing is touched yet.
  SettingsJournal(std::filesystem::path directory, std::string boot_id);
  SettingsJournal(const SettingsJournal&) = delete;
  SettingsJournal& operator=(const SettingsJournal&) = delete;
  ~SettingsJournal();

  /// Takes the lock, making the directory; false where a living run has it. Throws usage_error
  /// where the directory cannot be written to.
  [[nodiscard]] bool lock();
  /// What an earlier run of this boot left; empty where it left nothing. A reboot has put
  /// everything back by itself: a journal of another boot is removed. Needs the lock.
  [[nodiscard]] std::vector<JournalEntry> take_over();
  /// Replaces the journal on disk, whole; with no entries it is removed. Throws system errors.
  void write(const std::vector<JournalEntry>& entries);
  [[nodiscard]] bool exists() const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path directory_;
  std::filesystem::path path_;
  std::string boot_id_;
  int lock_ = -1;
};

}  // namespace krepro
