// Applies settings of the machine, reads each back, and puts everything back at the end: also after
// an exception and Ctrl-C, and by the next start after SIGKILL.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/settings/journal.h"
#include "suite/settings/knob.h"

namespace krepro {

class SettingsKeeper {
 public:
  /// Takes the journal's lock. Throws usage_error where another run that lives has settings
  /// applied. `access` must outlive it.
  SettingsKeeper(const KnobAccess& access, const std::filesystem::path& state_directory);
  SettingsKeeper(const SettingsKeeper&) = delete;
  SettingsKeeper& operator=(const SettingsKeeper&) = delete;
  ~SettingsKeeper();  ///< restore()

  /// Settings of kind `host`, in their order. What was before is on disk before it is changed.
  /// Throws not_possible with what to do where one cannot be written, or reads back as another
  /// value; what was applied before then is put back by restore().
  void apply(const std::vector<Setting>& settings);
  /// {name: value as read back} of all that were applied, now.
  [[nodiscard]] nlohmann::json read_back() const;
  /// "thp was set to never and is always now", where something has changed them since; else empty.
  [[nodiscard]] std::string find_change() const;
  /// Puts all back, the last first. What could not be put back, or had been changed by somebody
  /// else and was left alone: one line each.
  std::vector<std::string> restore();

 private:
  void apply_one(const Setting& setting, const KnobWrite& write);
  const KnobAccess& access_;
  SettingsJournal journal_;
  std::vector<JournalEntry> entries_;
  std::map<std::string, std::vector<KnobWrite>> applied_;  ///< By the setting's name.
};

/// Puts back what a run that was killed has left. Returns one line for each knob; empty where
/// nothing was left. Leaves alone what belongs to a living run.
[[nodiscard]] std::vector<std::string> restore_left_settings(
    const KnobAccess& access, const std::filesystem::path& state_directory);

}  // namespace krepro
