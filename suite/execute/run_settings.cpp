// Settings before, between and after the trials.
#include "suite/execute/run_settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "common/affinity/scheduling.h"
#include "common/base/error.h"

namespace krepro {
namespace {

std::vector<Setting> of_kind(const std::vector<Setting>& settings, SettingKind kind) {
  std::vector<Setting> result;
  for (const Setting& setting : settings) {
    if (kind_of_setting(setting.name) == kind) result.push_back(setting);
  }
  return result;
}

std::vector<Setting> of_machine(const std::vector<Setting>& settings) {
  std::vector<Setting> result;
  std::copy_if(settings.begin(), settings.end(), std::back_inserter(result), changes_machine);
  return result;
}

bool any_of_kind(const Plan& plan, SettingKind kind) {
  const auto has = [kind](const std::vector<Setting>& settings) {
    return !of_kind(settings, kind).empty();
  };
  return has(plan.settings) ||
         std::any_of(plan.variants.begin(), plan.variants.end(),
                     [&](const Variant& variant) { return has(variant.settings); });
}

bool varies_machine(const Plan& plan) {
  return std::any_of(plan.variants.begin(), plan.variants.end(),
                     [](const Variant& variant) { return !of_machine(variant.settings).empty(); });
}

/// Roles that a setting of a role or of both names.
std::vector<std::string> roles_of(const Setting& setting) {
  const std::string role = role_of_setting(setting.name);
  return role.empty() ? std::vector<std::string>{"load", "serve"} : std::vector<std::string>{role};
}

bool is_real_time(const std::string& scheduling) {
  const SchedulingClass policy = parse_scheduling(scheduling).policy;
  return policy == SchedulingClass::fifo || policy == SchedulingClass::rr;
}

}  // namespace

std::vector<Setting> settings_of(const Plan& plan, const Trial& trial) {
  std::vector<Setting> settings = plan.settings;
  if (plan.variants.empty()) return settings;
  const std::vector<Setting>& varied = plan.variants.at(trial.variant).settings;
  settings.insert(settings.end(), varied.begin(), varied.end());
  return settings;
}

RunSettings::RunSettings(const Plan& plan, bool permitted, bool groups) {
  if (varies_machine(plan) && !permitted) {
    throw usage_error(
        fmt::format("{} varies settings of this machine ({})", plan.profile_name,
                    plan.variants.front().suffix.substr(1)),
        "krepro plan shows them; --apply-settings applies them, and puts them back at the end");
  }
  if (groups) {
    groups_ = std::make_unique<RoleGroups>(access_);
    groups_->make();
  }
  if (any_of_kind(plan, SettingKind::cgroup) && (!groups_ || !groups_->made())) {
    throw not_possible(
        fmt::format("{} has settings of control groups, and there are none here{}{}",
                    plan.profile_name, groups_ ? ": " : "", groups_ ? groups_->problem() : ""),
        groups_ ? "run it as root, outside of groups that limit CPUs"
                : "leave --cgroups none away");
  }
  if (!permitted) {
    note_differences(plan.settings);
    return;
  }
  if (of_machine(plan.settings).empty() && !varies_machine(plan)) return;
  keeper_ = std::make_unique<SettingsKeeper>(access_, state_directory());
  if (any_of_kind(plan, SettingKind::sched_ext)) sched_ext_ = std::make_unique<SchedExt>();
  apply(of_machine(plan.settings));
  const nlohmann::json values = keeper_->read_back();
  for (const auto& [name, value] : values.items()) {
    notes_.push_back(fmt::format("{} is {} for this run, and put back at its end", name,
                                 value.get<std::string>()));
  }
}

RunSettings::~RunSettings() {
  try {
    (void)end();
  } catch (const Error& error) {
    print_error("krepro", error);
  }
}

void RunSettings::note_differences(const std::vector<Setting>& settings) {
  for (const Setting& setting : of_kind(settings, SettingKind::host)) {
    try {
      for (const KnobWrite& write : knob_writes(setting, access_)) {
        const std::string now = access_.read(write.knob).value_or("not there");
        if (same_value(now, write.value)) continue;
        notes_.push_back(
            fmt::format("the profile asks for {} = {}, and it is {}: --apply-settings "
                        "applies it for the run",
                        setting.name, setting.value, now));
      }
    } catch (const Error& error) {
      notes_.push_back(fmt::format("the profile asks for {} = {}: {}", setting.name, setting.value,
                                   error.what()));
    }
  }
  for (const Setting& setting : of_kind(settings, SettingKind::sched_ext)) {
    notes_.push_back(
        fmt::format("the profile asks for the scheduler {}, and it is {}: --apply-settings starts "
                    "it for the run",
                    setting.value, SchedExt().describe()));
  }
}

void RunSettings::apply(const std::vector<Setting>& settings) {
  keeper_->apply(of_kind(settings, SettingKind::host));
  for (const Setting& setting : of_kind(settings, SettingKind::sched_ext)) {
    sched_ext_->use(setting.value);
  }
}

nlohmann::json RunSettings::groups_item() const {
  constexpr const char* source = "krepro's own";
  if (groups_ && groups_->made()) return {{"value", groups_->describe()}, {"source", source}};
  return {{"value", nullptr},
          {"source", source},
          {"reason", groups_ ? groups_->problem() : "--cgroups none"}};
}

RoleSetup RunSettings::prepare(const Plan& plan, const Trial& trial) {
  const std::vector<Setting> settings = settings_of(plan, trial);
  if (keeper_ && !plan.variants.empty()) {
    const std::vector<Setting> wanted = of_machine(plan.variants.at(trial.variant).settings);
    if (wanted != machine_now_) {
      machine_now_.clear();  // Half of them may be there where one cannot be applied.
      apply(wanted);
      machine_now_ = wanted;
    }
  }
  RoleSetup setup;
  for (const Setting& setting : of_kind(settings, SettingKind::scheduling)) {
    for (const std::string& role : roles_of(setting)) setup.scheduling[role] = setting.value;
  }
  if (!groups_ || !groups_->made()) return setup;
  for (const Setting& setting : of_kind(settings, SettingKind::cgroup)) groups_->set(setting);
  const Benchmark& benchmark = plan.benchmarks.at(trial.benchmark);
  for (const char* role : {"load", "serve"}) {
    const auto varied = setup.scheduling.find(role);
    const std::string policy = varied != setup.scheduling.end()
                                   ? varied->second
                                   : benchmark.scheduling.value(role, std::string("other"));
    setup.cgroup[role] = groups_->group_of(role, is_real_time(policy));
  }
  return setup;
}

std::string RunSettings::find_change() const {
  std::string change = keeper_ ? keeper_->find_change() : std::string();
  if (change.empty() && sched_ext_) change = sched_ext_->find_change();
  return change;
}

nlohmann::json RunSettings::read_back(const Plan& plan, const Trial& trial) const {
  nlohmann::json values = keeper_ ? keeper_->read_back() : nlohmann::json::object();
  if (sched_ext_) values["sched_ext"] = sched_ext_->describe();
  for (const Setting& setting : settings_of(plan, trial)) {
    const SettingKind kind = kind_of_setting(setting.name);
    // The sample itself tells the policies as the threads had them.
    if (kind == SettingKind::scheduling) values[setting.name] = setting.value;
    if (kind == SettingKind::cgroup && groups_ && groups_->made()) {
      values[setting.name] = groups_->read_back(setting);
    }
  }
  return values.empty() ? nlohmann::json() : values;
}

std::vector<std::string> RunSettings::end() {
  std::vector<std::string> lines;
  if (keeper_) lines = keeper_->restore();
  keeper_.reset();
  if (groups_) groups_->remove();
  if (sched_ext_) sched_ext_->end();
  sched_ext_.reset();
  return lines;
}

}  // namespace krepro
