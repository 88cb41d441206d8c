// The loop over the trials of a run, and what the user sees of it.
#include "suite/execute/run_command.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/base/version.h"
#include "common/timing/clock.h"
#include "suite/environment/environment.h"
#include "suite/execute/observations.h"
#include "suite/execute/progress_line.h"
#include "suite/execute/run_session.h"
#include "suite/record/run_lines.h"
#include "suite/record/wall_clock.h"
#include "suite/report/output.h"
#include "suite/report/show_command.h"
#include "suite/report/summary_table.h"
#include "suite/statistics/summary.h"

namespace krepro {
namespace {

std::string plan_line(const RunSession& session) {
  const Plan& plan = session.plan;
  std::vector<std::int64_t> repetitions(plan.benchmarks.size(), 0);
  for (const Trial& trial : plan.trials) {
    if (!trial.warmup && trial.variant == 0) ++repetitions[trial.benchmark];
  }
  const auto [least, most] = std::minmax_element(repetitions.begin(), repetitions.end());
  std::string text =
      least != repetitions.end() && *least == *most
          ? fmt::format("plan: {} benchmark{} x {} repetition{}", plan.benchmarks.size(),
                        plan.benchmarks.size() == 1 ? "" : "s", *least, *least == 1 ? "" : "s")
          : fmt::format("plan: {} benchmarks, {} trials", plan.benchmarks.size(),
                        plan.trials.size());
  if (!plan.variants.empty()) text += fmt::format(" x {} settings", plan.variants.size());
  if (session.simulated_boots)
    text += fmt::format(" x {} simulated boots", *session.simulated_boots);
  text += fmt::format(", {}", to_string(plan.order));
  const ExpectedDuration expected = expected_duration(plan);
  const double boots = static_cast<double>(session.simulated_boots.value_or(1));
  if (expected.complete && expected.seconds > 0) {
    text += fmt::format(", about {}", format_duration(expected.seconds * boots * 1e9));
  }
  if (session.pending.size() < session.total) {
    text += fmt::format("\ngoing on: {} of {} trials are recorded already",
                        session.total - session.pending.size(), session.total);
  }
  return text;
}

/// "24 s", "3 min", "2.5 h": more digits would only flicker.
std::string rough_time(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  if (seconds < 99.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

void print_heading(const RunSession& session) {
  const std::string program = fmt::format("krepro {}   Linux {}", version, kernel_release());
  const bool fits = program.size() + 3 + session.machine.size() <= 78;
  print_text(fmt::format("{}{}{}\n{}\n", program, fits ? "   " : "\n", session.machine,
                         plan_line(session)));
  for (const std::string& note : session.notes) {
    print_text(wrap_text("note: " + note, "      ") + "\n");
  }
  flush_text();
}

/// The loop's own state.
class RunLoop {
 public:
  RunLoop(RunSession& session, const RunArguments& arguments, const Interruption& interruption)
      : session_(session),
        arguments_(arguments),
        interruption_(interruption),
        progress_(arguments.quiet),
        time_left_(session.plan) {}

  void run() {
    const std::size_t before = session_.total - session_.pending.size();
    for (std::size_t i = 0; i < session_.pending.size() && !interruption_.requested(); ++i) {
      const PendingTrial& pending = session_.pending[i];
      position_ = before + i + 1;
      current_ = i;
      record_boot(pending.boot);
      run_one(pending);
    }
    progress_.clear();
    if (!arguments_.observe.empty()) observe_rows();
    if (interruption_.requested()) {
      session_.writer.append(make_note_line(
          "interrupted", fmt::format("interrupted by {}", interruption_.signal_name())));
    }
    record_environment_after();
    record_cost();
  }

 private:
  void record_boot(std::int64_t boot) {
    const std::string id = boot_id_of(session_, boot);
    if (!session_.known_boots.insert(id).second) return;
    session_.writer.append(
        make_boot_line(id, session_.simulated_boots.has_value(), session_.environment));
    const std::string schedstat = counters_.unknown_schedstat();
    if (schedstat.empty()) return;
    nlohmann::json note = make_note_line(
        "counters",
        "/proc/schedstat has a layout that is not known: its columns are kept without names, and "
        "its text in this note");
    note["raw"] = schedstat;
    session_.writer.append(note);
  }

  void run_one(const PendingTrial& pending) {
    const Trial& trial = session_.plan.trials[pending.index];
    const Benchmark& benchmark = session_.plan.benchmarks[trial.benchmark];
    show_progress("");
    RecordedTrial record = execute(pending, trial, benchmark);
    const std::int64_t start_ns = now_ns();
    if (flush_ns_ > 0) record.harness["previous_flush_ns"] = flush_ns_;
    session_.writer.append(to_json(record));
    flush_ns_ = now_ns() - start_ns;
    flushes_ns_.push_back(static_cast<double>(flush_ns_));
    learn(trial, record);
    if (!record.valid()) report_trouble(record);
  }

  RecordedTrial execute(const PendingTrial& pending, const Trial& trial,
                        const Benchmark& benchmark) {
    const std::string started = utc_now();
    RecordedTrial record;
    const GeneratorInfo* generator = session_.catalog.find(benchmark.generator);
    if (generator == nullptr) {
      record = unstarted(benchmark, trial, "skipped",
                         not_possible(session_.catalog.reason_for_absence(benchmark.generator)));
    } else {
      TrialRequest request = make_request(pending, trial, benchmark, *generator);
      if (progress_.shown()) {
        request.on_progress = [this](const std::string& text) { show_progress(text); };
      }
      record = run_with_settings(request, trial);
    }
    if (!session_.plan.variants.empty()) record.label = label_of(session_, trial);
    record.started = started;
    record.boot_id = boot_id_of(session_, pending.boot);
    return record;
  }

  /// A setting that cannot be applied fails its trial, and so does one that was changed meanwhile.
  RecordedTrial run_with_settings(TrialRequest& request, const Trial& trial) {
    try {
      request.roles = session_.settings->prepare(session_.plan, trial);
    } catch (const Error& error) {
      return unstarted(*request.benchmark, trial, "failed", error);
    }
    RecordedTrial record = run_trial(request, interruption_);
    record.settings = session_.settings->read_back(session_.plan, trial);
    const std::string change = session_.settings->find_change();
    if (!change.empty() && record.valid()) {
      record.status = "failed";
      record.reason = change;
    }
    return record;
  }

  static RecordedTrial unstarted(const Benchmark& benchmark, const Trial& trial,
                                 const std::string& status, const Error& reason) {
    RecordedTrial record;
    record.benchmark = benchmark.name;
    record.repetition = trial.repetition;
    record.warmup = trial.warmup;
    record.order = trial.index;
    record.status = status;
    record.reason = reason.what();
    if (!reason.remedy().empty()) record.reason += "; " + reason.remedy();
    return record;
  }

  TrialRequest make_request(const PendingTrial& pending, const Trial& trial,
                            const Benchmark& benchmark, const GeneratorInfo& generator) const {
    TrialRequest request;
    request.benchmark = &benchmark;
    request.trial = trial;
    request.generator = &generator;
    request.counters = &counters_;
    request.seed = seed_of(session_, pending);
    if (session_.simulated_boots) {
      request.simulated_boot = simulated_boot_identity(session_, pending.boot);
    }
    request.limits = arguments_.limits;
    return request;
  }

  /// After the trials that count, so that what a tool leaves in caches spoils none of them.
  void observe_rows() {
    const std::filesystem::path parent = observed_directory(session_.writer.path());
    for (std::size_t i = 0; i < session_.plan.benchmarks.size(); ++i) {
      const Benchmark& benchmark = session_.plan.benchmarks[i];
      const GeneratorInfo* generator = session_.catalog.find(benchmark.generator);
      if (interruption_.requested() || generator == nullptr) continue;
      if (session_.observed.contains(benchmark.name)) continue;
      progress_.show(fmt::format("[observing {}/{}] {}", i + 1, session_.plan.benchmarks.size(),
                                 benchmark.name));
      const Trial trial{session_.plan.trials.size() + i, i, 0, false};
      const PendingTrial pending{session_.simulated_boots ? 1 : 0, 0};
      record_boot(pending.boot);
      const std::string started = utc_now();
      TrialRequest request = make_request(pending, trial, benchmark, *generator);
      request.roles = session_.settings->prepare(session_.plan, trial);
      nlohmann::json line = observe_trial(std::move(request), arguments_.observe,
                                          make_observation_directory(parent, benchmark.name),
                                          arguments_.observe_lead_ns, interruption_);
      line["started"] = started;
      line["boot_id"] = boot_id_of(session_, pending.boot);
      session_.writer.append(line);
    }
    progress_.clear();
  }

  void show_progress(const std::string& rate) {
    if (!progress_.shown()) return;
    const Trial& trial = session_.plan.trials[session_.pending[current_].index];
    const Benchmark& benchmark = session_.plan.benchmarks[trial.benchmark];
    const bool named = benchmark.name.starts_with(benchmark.generator);
    std::string text =
        fmt::format("[{}/{}] {}{}{}{}", position_, session_.total, named ? "" : benchmark.generator,
                    named ? "" : " ", benchmark.name,
                    trial.settling ? " (settling)"
                    : trial.warmup ? " (warm-up)"
                                   : "");
    if (!session_.plan.variants.empty()) text += " " + session_.plan.variants[trial.variant].suffix;
    if (!rate.empty()) text += "   " + rate;
    std::vector<std::size_t> rest;
    for (std::size_t i = current_; i < session_.pending.size(); ++i) {
      rest.push_back(session_.pending[i].index);
    }
    const double seconds = time_left_.estimate_seconds(rest);
    if (seconds >= 0) text += fmt::format("   {} left", rough_time(seconds));
    progress_.show(text);
  }

  void learn(const Trial& trial, const RecordedTrial& record) {
    const double total_ns = record.harness.value("total_ns", 0.0);
    if (record.valid()) {
      time_left_.learn(trial.benchmark, total_ns / 1e9);
      if (record.harness.contains("own_ns")) owns_ns_.push_back(record.harness["own_ns"]);
      counters_ns_.push_back(record.harness.value("counters_ns", 0.0));
    }
  }

  void report_trouble(const RecordedTrial& record) {
    progress_.clear();
    if (arguments_.quiet) return;
    fmt::print(stderr, "{}\n",
               wrap_text(fmt::format("note: [{}/{}] {}, repetition {}: {}: {}", position_,
                                     session_.total, record.benchmark, record.repetition + 1,
                                     record.status, record.reason),
                         "      "));
  }

  /// What krepro itself cost, so that nobody needs to take it on trust.
  void record_cost() {
    if (owns_ns_.empty()) return;
    nlohmann::json note = make_note_line(
        "harness",
        fmt::format("the harness took {} per trial (median) besides the generator's start-up and "
                    "load, and {} for counters and {} for the flush to disk",
                    format_duration(median(owns_ns_)), format_duration(median(counters_ns_)),
                    format_duration(median(flushes_ns_))));
    note["own_ns"] = {{"median", median(owns_ns_)}, {"max", summarize(owns_ns_).max}};
    note["counters_ns"] = {{"median", median(counters_ns_)}, {"max", summarize(counters_ns_).max}};
    note["flush_ns"] = {{"median", median(flushes_ns_)}, {"max", summarize(flushes_ns_).max}};
    session_.writer.append(note);
  }

  /// The environment once more: what changed while the trials ran may explain their differences.
  void record_environment_after() {
    if (session_.simulated_boots) return;
    const nlohmann::json after = read_environment();
    const std::vector<EnvironmentChange> drift = environment_drift(session_.environment, after);
    std::string text = drift.empty() ? "the environment is as it was before the first trial"
                                     : "the environment changed during the run:";
    for (std::size_t i = 0; i < drift.size(); ++i) {
      text += fmt::format("{} {}", i == 0 ? "" : ",", drift[i].item);
    }
    nlohmann::json note = make_note_line("environment", text);
    note["changed"] = changed_items(session_.environment, after);
    session_.writer.append(note);
    if (drift.empty() || arguments_.quiet) return;
    for (const EnvironmentChange& change : drift) {
      const auto shown = [](const nlohmann::json& value) {
        const std::string whole = value.is_string() ? value.get<std::string>() : value.dump();
        return whole.size() <= 60 ? whole : whole.substr(0, 57) + "...";
      };
      fmt::print(stderr, "{}\n",
                 wrap_text(fmt::format("note: during the run {} changed from {} to {}", change.item,
                                       shown(change.before), shown(change.after)),
                           "      "));
    }
  }

  RunSession& session_;
  const RunArguments& arguments_;
  const Interruption& interruption_;
  ProgressLine progress_;
  TimeLeft time_left_;
  CounterReader counters_;
  std::size_t position_ = 0;
  std::size_t current_ = 0;
  std::int64_t flush_ns_ = 0;
  std::vector<double> owns_ns_;
  std::vector<double> counters_ns_;
  std::vector<double> flushes_ns_;
};

ExitCode outcome(const RunFile& file) {
  bool any_valid = false;
  bool any_bad = false;
  for (const RecordedTrial* trial : file.final_trials()) {
    any_valid = any_valid || trial->valid();
    any_bad = any_bad || trial->status == "failed" || trial->status == "truncated";
  }
  if (any_bad) return ExitCode::failed;
  return any_valid ? ExitCode::ok : ExitCode::not_possible;
}

void put_settings_back(RunSession& session) {
  const bool applied = session.settings->applied();
  std::vector<std::string> lines = session.settings->end();
  for (const std::string& line : lines) {
    print_text(wrap_text("note: " + line, "      ") + "\n");
  }
  if (lines.empty() && applied) lines.emplace_back("all settings are as they were before the run");
  for (const std::string& line : lines) {
    session.writer.append(make_note_line("settings", line));
  }
}

}  // namespace

int run_command(const RunArguments& arguments) {
  const Interruption interruption;
  RunSession session =
      arguments.resume.empty() ? start_new_run(arguments) : start_resumed_run(arguments);
  print_heading(session);
  RunLoop(session, arguments, interruption).run();
  put_settings_back(session);
  // Read back: what is printed is what is on disk.
  const RunFile file = read_run_file(session.writer.path());
  print_text(fmt::format("\n{}{}\nwritten to {} ({:.0f} kB)\n", summary_text(file),
                         observations_text(file), file.path.string(),
                         std::max(1.0, static_cast<double>(session.writer.size_bytes()) / 1000)));
  if (interruption.requested()) return static_cast<int>(ExitCode::interrupted);
  if (!file.plan.variants.empty()) {
    print_text(fmt::format("next: krepro compare {} --paired --base \\\n        '{}'\n",
                           file.path.string(), file.label + file.plan.variants[0].suffix));
  } else if (!file.simulated) {
    print_text("next: run the same on the other kernel, then krepro compare FILE FILE\n");
  }
  return static_cast<int>(outcome(file));
}

}  // namespace krepro
