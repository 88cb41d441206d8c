// From a profile to a plan: rows checked against their generators, named, placed, and put in order.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "common/base/error.h"
#include "common/base/random.h"
#include "common/base/units.h"
#include "common/generator/options.h"
#include "suite/plan/machine_differences.h"
#include "suite/plan/plan.h"
#include "suite/plan/row_name.h"
#include "suite/plan/row_options.h"
#include "suite/plan/row_roles.h"
#include "suite/plan/rows.h"
#include "suite/plan/trials.h"

namespace krepro {

namespace {

constexpr std::size_t trials_max = 1'000'000;
constexpr std::size_t names_shown_max = 12;
constexpr std::size_t variants_max = 64;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A row that is going to run, and how often.
struct Planned {
  Benchmark benchmark;
  TrialCounts counts;
  SourcePosition position;
};

class Planner {
 public:
  Planner(const Profile& profile, const PlanSettings& settings, const Catalog& catalog,
          const Machine& machine)
      : profile_(profile),
        settings_(settings),
        catalog_(catalog),
        machine_(machine),
        errors_(profile.path),
        parameters_(profile, settings.parameters, errors_) {}

  Plan make() {
    check_settings();
    read_defaults();
    choose_fit();
    read_settings();
    for (const Row& row : expand_rows(profile_, parameters_, errors_)) add_row(row);
    parameters_.report_unused();
    report_unused_defaults();
    errors_.throw_if_any();
    drop_rows_made_equal();
    check_names();
    select_rows();
    errors_.throw_if_any();
    return assemble();
  }

 private:
  void check_settings() {
    if (settings_.repetitions && *settings_.repetitions < 1) {
      errors_.add({}, fmt::format("--repetitions {}: expected 1 or more", *settings_.repetitions));
    }
    if (settings_.warmups && *settings_.warmups < 0) {
      errors_.add({}, fmt::format("--warmups {}: expected 0 or more", *settings_.warmups));
    }
    if (!settings_.fit) return;
    if (!profile_.machine.cpus) {
      errors_.add(
          {},
          fmt::format("--fit: {} says nothing of the machine it was written for", profile_.name),
          "add [machine] with cpus = ...");
    }
  }

  void read_defaults() {
    for (const auto& [key, value] : profile_.defaults) {
      const auto filled = parameters_.fill(value.value, value.position);
      if (!filled) continue;
      defaults_.push_back({key, *filled, value.position, value.key_position, false});
    }
  }

  /// One setting with one of its values, filled in and checked.
  std::optional<Setting> setting_of(const ProfileText& name, const ProfileText& value) {
    const auto filled_name = parameters_.fill(name.text, name.position);
    const auto filled_value = parameters_.fill(value.text, value.position);
    if (!filled_name || !filled_value) return std::nullopt;
    Setting setting{filled_name->get<std::string>(), filled_value->get<std::string>()};
    // A parameter that names a device has its path.
    const std::size_t device = setting.name.find("block//dev/");
    if (device == 0) setting.name.erase(6, 5);
    try {
      check_setting(setting);
    } catch (const Error& error) {
      errors_.add(value.position, fmt::format("settings: {}", error.what()), error.remedy());
      return std::nullopt;
    }
    return setting;
  }

  void read_settings() {
    std::vector<Variant> variants(1);
    for (const ProfileSetting& asked : profile_.settings) {
      std::vector<Setting> values;
      for (const ProfileText& value : asked.values) {
        if (auto setting = setting_of(asked.name, value)) values.push_back(std::move(*setting));
      }
      if (!asked.axis) {
        settings_of_plan_.insert(settings_of_plan_.end(), values.begin(), values.end());
        continue;
      }
      if (asked.name.text == "smt") {
        errors_.add(asked.name.position, "settings.smt cannot be varied within a run",
                    "placements differ with it: run twice, with a --label each");
      }
      if (variants.size() * std::max<std::size_t>(1, values.size()) > variants_max) {
        errors_.add(asked.name.position,
                    fmt::format("the settings have more than {} combinations", variants_max));
        return;
      }
      std::vector<Variant> multiplied;
      for (const Variant& variant : variants) {
        for (const Setting& value : values) {
          multiplied.push_back(variant);
          multiplied.back().settings.push_back(value);
        }
      }
      variants = std::move(multiplied);
    }
    if (variants.size() == 1 && variants.front().settings.empty()) return;
    for (Variant& variant : variants) variant.suffix = label_suffix(variant.settings);
    variants_ = std::move(variants);
  }

  void choose_fit() {
    if (!settings_.fit || !profile_.machine.cpus) return;
    fit_ = FitFactor{static_cast<double>(machine_.allowed.size()),
                     static_cast<double>(*profile_.machine.cpus)};
  }

  /// Nothing where the row cannot run here (noted) or names no generator (reported).
  const GeneratorInfo* generator_of(const Row& row) {
    const ProfileText& wanted = row.from->generator;
    const GeneratorInfo* generator = catalog_.find(wanted.text);
    if (generator != nullptr) return generator;
    std::vector<std::string> names = catalog_.known_names;
    for (const GeneratorInfo& each : catalog_.generators) names.push_back(each.name);
    for (const BrokenGenerator& each : catalog_.broken) names.push_back(each.name);
    if (contains(names, wanted.text)) {
      skip(row_name_as_written(row, parameters_), catalog_.reason_for_absence(wanted.text));
      return nullptr;
    }
    const std::string near = suggestion(wanted.text, names);
    errors_.add(wanted.position, fmt::format("unknown generator \"{}\"", wanted.text),
                near.empty() ? fmt::format("there are {}", fmt::join(names, ", ")) : near);
    return nullptr;
  }

  void skip(const std::string& name, const std::string& reason) {
    skipped_.push_back({name, reason});
  }

  void add_row(const Row& row) {
    const GeneratorInfo* generator = generator_of(row);
    if (generator == nullptr) return;
    judged_rows_ = true;
    const RowOptions options =
        check_row_options(row, *generator, defaults_, fit_, used_defaults_, errors_);
    for (const std::string& note : options.notes) {
      const std::string warning = fmt::format("{}: {}", generator->name, note);
      if (!contains(warnings_, warning)) warnings_.push_back(warning);
    }
    Planned planned;
    Benchmark& benchmark = planned.benchmark;
    benchmark.generator = generator->name;
    benchmark.upstream = row.from->upstream;
    benchmark.options = options.values;
    benchmark.scaled = options.scaled;
    benchmark.name = name_of(row, options, *generator);
    benchmark.family = family_of(row, *generator);
    benchmark.expected_seconds =
        row.from->expected_seconds > 0 ? row.from->expected_seconds : options.runtime_seconds;
    planned.counts = counts_of(*row.from);
    planned.position =
        row.from->name.position.line > 0 ? row.from->name.position : row.from->position;
    set_scheduling(row, *generator, benchmark, errors_);
    std::string obstacle = upstream_obstacle(row, *generator, benchmark, errors_);
    for (const auto& set : {set_placement, set_pinning, set_memory}) {
      const std::string misplaced = set(row, *generator, machine_, benchmark, errors_);
      if (obstacle.empty()) obstacle = misplaced;
    }
    if (!obstacle.empty()) {
      skip(benchmark.name, obstacle);
      return;
    }
    planned_.push_back(std::move(planned));
  }

  TrialCounts counts_of(const BenchmarkTemplate& benchmark) const {
    TrialCounts counts;
    counts.repetitions =
        settings_.repetitions.value_or(benchmark.repetitions.value_or(profile_.repetitions));
    counts.warmups = settings_.warmups.value_or(benchmark.warmups.value_or(profile_.warmups));
    return counts;
  }

  static std::string family_of(const Row& row, const GeneratorInfo& generator) {
    if (!row.from->family.empty()) return row.from->family;
    const MetricInfo* metric = generator.primary_metric();
    std::string name = metric == nullptr ? "" : metric->name;
    std::replace(name.begin(), name.end(), '_', ' ');
    return fmt::format("{}{}, {} ({} is better)", generator.name,
                       row.from->upstream ? " (original)" : "", name,
                       metric != nullptr && metric->higher_is_better ? "higher" : "lower");
  }

  std::string name_of(const Row& row, const RowOptions& options, const GeneratorInfo& generator) {
    try {
      return row_name(row, options.values, generator, parameters_);
    } catch (const Error& error) {
      errors_.add(row.from->name.position, fmt::format("name {}", error.what()), error.remedy());
      return row.from->name.text;
    }
  }

  // The plan as a whole ------------------------------------------------------------------------

  void report_unused_defaults() {
    if (!judged_rows_ || !skipped_.empty()) return;  // a generator that is not here may take it
    for (const RowOption& option : defaults_) {
      // The seed is the plan's own too.
      if (option.key == "seed" || used_defaults_.contains(option.key)) continue;
      errors_.add(option.position,
                  fmt::format("{} in [defaults] has no effect: no generator of this profile has "
                              "an option that means it",
                              option.key),
                  "remove it");
    }
  }

  /// --fit makes small counts equal; the rows that repeat others would only cost time.
  void drop_rows_made_equal() {
    if (!fit_) return;
    std::set<std::string> seen;
    std::size_t dropped = 0;
    std::vector<Planned> kept;
    for (Planned& planned : planned_) {
      const Benchmark& each = planned.benchmark;
      const nlohmann::json identity = {each.generator, each.upstream, each.options,
                                       each.placement, each.pinning,  each.memory,
                                       each.scheduling};
      if (!seen.insert(identity.dump()).second) {
        ++dropped;
        continue;
      }
      kept.push_back(std::move(planned));
    }
    planned_ = std::move(kept);
    const bool scaled = std::any_of(planned_.begin(), planned_.end(), [](const Planned& each) {
      return !each.benchmark.scaled.empty();
    });
    if (!scaled && dropped == 0) {
      if (fit_->cpus_here != fit_->cpus_expected) {
        warnings_.emplace_back("--fit has changed nothing: no benchmark names options to scale");
      }
      return;
    }
    std::string warning =
        fmt::format("scaled to this machine (x {}/{} CPUs): not comparable with published rows",
                    fit_->cpus_here, fit_->cpus_expected);
    if (dropped > 0) {
      warning += fmt::format("; {} {} left out that became equal to others", dropped,
                             dropped == 1 ? "row" : "rows");
    }
    warnings_.push_back(std::move(warning));
  }

  void check_names() {
    std::set<std::string> names;
    for (const Planned& planned : planned_) {
      if (names.insert(planned.benchmark.name).second) continue;
      errors_.add(planned.position,
                  fmt::format("two rows are called \"{}\"", planned.benchmark.name),
                  "let the name say what differs, for instance with ${option}");
    }
  }

  std::vector<std::string> row_names() const {
    std::vector<std::string> names;
    for (const Planned& planned : planned_) names.push_back(planned.benchmark.name);
    for (const SkippedBenchmark& each : skipped_) names.push_back(each.name);
    return names;
  }

  bool selected(const std::string& name) const {
    return settings_.only.empty() ||
           std::any_of(settings_.only.begin(), settings_.only.end(), [&](const std::string& each) {
             return fnmatch(each.c_str(), name.c_str(), 0) == 0;
           });
  }

  void select_rows() {
    const std::vector<std::string> names = row_names();
    for (const std::string& pattern : settings_.only) {
      const bool matches = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
      });
      if (matches) continue;
      const std::vector<std::string> shown(
          names.begin(),
          names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), names_shown_max)));
      errors_.add({}, fmt::format("--only '{}' matches no row; rows are: {}{}", pattern,
                                  fmt::join(shown, ", "),
                                  names.size() > shown.size()
                                      ? fmt::format(" and {} more", names.size() - shown.size())
                                      : ""));
    }
    std::erase_if(planned_, [&](const Planned& each) { return !selected(each.benchmark.name); });
    std::erase_if(skipped_, [&](const SkippedBenchmark& each) { return !selected(each.name); });
  }

  std::uint64_t seed() const {
    if (settings_.seed) return *settings_.seed;
    for (const RowOption& option : defaults_) {
      if (option.key == "seed") return parse_count(value_text(option.value));
    }
    return fresh_seed();
  }

  Plan assemble() {
    if (planned_.empty()) {
      throw not_possible(
          fmt::format("{}: no row can run here: {}", profile_.name,
                      skipped_.empty() ? "the profile has none" : skipped_.front().reason),
          skipped_.size() > 1 ? fmt::format("and so for {} more rows", skipped_.size() - 1) : "");
    }
    Plan plan;
    plan.title = profile_.title;
    plan.profile_name = profile_.name;
    plan.report = profile_.report;
    plan.order = settings_.order;
    plan.seed = seed();
    plan.fitted = settings_.fit;
    plan.warnings = machine_differences(profile_.machine, machine_);
    plan.warnings.insert(plan.warnings.end(), warnings_.begin(), warnings_.end());
    plan.skipped = skipped_;
    std::vector<TrialCounts> counts;
    std::size_t trials = 0;
    for (Planned& planned : planned_) {
      trials += static_cast<std::size_t>(planned.counts.repetitions + planned.counts.warmups) *
                std::max<std::size_t>(1, variants_.size());
      counts.push_back(planned.counts);
      plan.benchmarks.push_back(std::move(planned.benchmark));
    }
    if (trials > trials_max) {
      throw usage_error(
          fmt::format("{}: {} trials; at most {} in one run", profile_.name, trials, trials_max));
    }
    plan.settings = settings_of_plan_;
    plan.variants = variants_;
    // What only the load is started with leaves no state behind that would have to settle.
    const bool settles =
        !variants_.empty() && std::any_of(variants_.front().settings.begin(),
                                          variants_.front().settings.end(), changes_machine);
    plan.trials = order_trials(counts, plan.order, plan.seed,
                               std::max<std::size_t>(1, variants_.size()), settles);
    return plan;
  }

  const Profile& profile_;
  const PlanSettings& settings_;
  const Catalog& catalog_;
  const Machine& machine_;
  ProfileErrors errors_;
  Parameters parameters_;
  std::vector<RowOption> defaults_;
  std::set<std::string> used_defaults_;
  std::optional<FitFactor> fit_;
  bool judged_rows_ = false;  ///< Some row's generator is here.
  std::vector<Planned> planned_;
  std::vector<SkippedBenchmark> skipped_;
  std::vector<std::string> warnings_;
  std::vector<Setting> settings_of_plan_;
  std::vector<Variant> variants_;
};

}  // namespace

Plan make_plan(const Profile& profile, const PlanSettings& settings, const Catalog& catalog,
               const Machine& machine) {
  return Planner(profile, settings, catalog, machine).make();
}

ExpectedDuration expected_duration(const Plan& plan) {
  ExpectedDuration expected;
  for (const Trial& trial : plan.trials) {
    const double seconds = plan.benchmarks[trial.benchmark].expected_seconds;
    expected.seconds += seconds;
    expected.complete = expected.complete && seconds > 0;
  }
  return expected;
}

}  // namespace krepro
