// The table of options; no original tool stands behind it, so all of them are ours.
#include "generators/null/null_options.h"

#include <fmt/format.h>

#include "generators/null/faults.h"

namespace krepro::null {

namespace {

Option option(std::string name, OptionType type, std::string default_text, std::string help) {
  Option made = make_option(std::move(name), {}, type, std::move(default_text), std::move(help));
  made.origin = Origin::ours;
  return made;
}

Option one_of(std::string name, std::vector<std::string> choices, std::string help) {
  Option made = option(std::move(name), OptionType::choice, choices.front(), std::move(help));
  made.choices = std::move(choices);
  return made;
}

std::vector<Option> load_options() {
  using enum OptionType;
  constexpr double day_ns = 86400e9;
  return {
      meaning(ranged(option("runtime", duration, "1s", "length of the trial"), 1e6, day_ns),
              Meaning::runtime),
      ranged(option("operations", integer, "0",
                    "end after so many operations of each worker; 0: at the runtime"),
             0, 1e12),
      meaning(ranged(option("workers", integer, "1", "workers"), 1, 10000), Meaning::threads),
      option("process", flag, "", "workers are processes, not threads"),
      one_of("time", {"real", "virtual"},
             "real: operations take their latency; virtual: figures are computed at once"),
      ranged(option("latency", duration, "0", "mean latency of an operation"), 0, 3600e9),
      one_of("distribution", {"fixed", "uniform", "exponential", "normal", "bimodal"},
             "shape of the latencies"),
      ranged(option("deviation", share, "0.1",
                    "uniform, normal: standard deviation as a share of the mean"),
             0, 10),
      ranged(option("modes-apart", share, "0.5",
                    "bimodal: distance of the modes as a share of the mean"),
             0, 2),
      one_of("wait", {"spin", "sleep"}, "real time: how an operation spends its latency"),
      one_of("arrivals", {"closed", "constant", "poisson"},
             "when operations start; constant and poisson need a rate"),
      meaning(ranged(option("rate", rate, "", "operations a second over all workers"), 1e-3, 1e9),
              Meaning::rate),
  };
}

std::vector<Option> difference_options() {
  using enum OptionType;
  return {
      ranged(option("slow", number, "1", "factor on all latencies"), 1e-3, 1e6),
      ranged(option("noise", share, "0",
                    "trials differ: standard deviation of the log of their factor"),
             0, 10),
      ranged(option("drift", share, "0",
                    "each trial's latencies are longer by this share than the one's before"),
             -0.5, 10),
      ranged(option("boot-spread", share, "0",
                    "boots differ: standard deviation of the log of their factor"),
             0, 10),
      meaning(option("boot", integer, "0", "identity of the boot; its factor follows from it"),
              Meaning::boot),
      meaning(ranged(option("trial", integer, "0", "number of the trial in its run"), 0, 1e9),
              Meaning::trial),
      option("fault", list, "", fmt::format("misbehave: {}", fmt::join(Faults::names(), ", "))),
      ranged(option("fault-share", share, "1", "share of the trials that misbehave, by the seed"),
             0, 1),
      ranged(option("fault-trial", integer, "-1", "only this trial misbehaves; -1: any"), -1, 1e9),
  };
}

constexpr const char* details =
    "It does no I/O and puts no load. It stands in for a generator where the runner, the\n"
    "statistics or a report are tested, and it measures what the frame costs: with its defaults\n"
    "(`--time=real --latency=0`) the time per operation is the frame's own cost, one clock\n"
    "reading and one recorded latency.\n"
    "\n"
    "With `--time=virtual` nothing waits: latencies are drawn, recorded and summed to the trial's\n"
    "duration, so that the same seed gives the same sample to the digit. `--noise`, `--drift` and\n"
    "`--boot-spread` make trials and boots differ in a known way; `--fault` makes the generator\n"
    "fail, hang, lie or print garbage.\n";

}  // namespace

Description make_description() {
  std::vector<Option> options = load_options();
  for (Option& each : difference_options()) options.push_back(std::move(each));
  return Description{
      .name = "null",
      .summary =
          "No load: a known latency distribution and rate, to test the harness and measure its "
          "cost.",
      .details = details,
      .metrics = {{"operations/s", "1/s", true, true, "operations over the trial's duration"},
                  {"frame", "ns", false, false,
                   "real time: cost per operation beyond the latency asked for"}},
      .options = OptionTable(std::move(options)),
      .roles = {"load"},
      .example = {{"time", "virtual"}, {"latency", "10us"}, {"distribution", "exponential"}},
      .long_example = {{"time", "real"}, {"runtime", "60s"}},
      .original = std::nullopt,
      .positional = {}};
}

}  // namespace krepro::null
