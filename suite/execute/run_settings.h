// The settings of a run from its plan: what has to be there before a trial starts, whether it still
// is when the trial has ended, and everything as before at the end. The kinds of settings and their
// files are suite/settings'.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/execute/trial.h"
#include "suite/plan/plan.h"
#include "suite/settings/role_groups.h"
#include "suite/settings/sched_ext.h"
#include "suite/settings/settings_keeper.h"

namespace krepro {

class RunSettings {
 public:
  /// Applies the plan's settings where `permitted`; else nothing is changed, and what differs is in
  /// notes(). Throws usage_error where the plan varies settings of the machine and it is not
  /// permitted, and not_possible where one cannot be applied. `groups`: the roles get control
  /// groups of their own.
  RunSettings(const Plan& plan, bool permitted, bool groups);
  RunSettings(const RunSettings&) = delete;
  RunSettings& operator=(const RunSettings&) = delete;
  ~RunSettings();  ///< end()

  /// For the user, before the first trial.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Settings of the machine are in force.
  [[nodiscard]] bool applied() const { return keeper_ != nullptr; }
  /// What the environment is to say of the roles' groups: an item as read_environment() has them.
  [[nodiscard]] nlohmann::json groups_item() const;

  /// Before a trial: switches the machine where the variant differs from the one before, and
  /// returns how the roles are to be started. Throws not_possible.
  [[nodiscard]] RoleSetup prepare(const Plan& plan, const Trial& trial);
  /// After it: what has changed meanwhile, one line (a setting that somebody wrote, a scheduler
  /// that was ejected); empty: nothing.
  [[nodiscard]] std::string find_change() const;
  /// The `settings` of a sample line: every setting in force, as read back; null where there is
  /// none.
  [[nodiscard]] nlohmann::json read_back(const Plan& plan, const Trial& trial) const;
  /// Puts everything back; what could not be, one line each.
  std::vector<std::string> end();

 private:
  void apply(const std::vector<Setting>& settings);
  void note_differences(const std::vector<Setting>& settings);
  KnobAccess access_;
  std::unique_ptr<SettingsKeeper> keeper_;
  std::unique_ptr<SchedExt> sched_ext_;
  std::unique_ptr<RoleGroups> groups_;
  std::vector<Setting> machine_now_;  ///< Applied for the variant.
  std::vector<std::string> notes_;
};

/// All settings of a trial: the plan's and its variant's.
[[nodiscard]] std::vector<Setting> settings_of(const Plan& plan, const Trial& trial);

}  // namespace krepro
