// One function per place where a fault can strike.
#include "generators/null/faults.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <limits>

#include "common/base/error.h"
#include "common/base/random.h"

namespace krepro::null {

namespace {

constexpr std::uint64_t fault_stream = 1ULL << 42U;

}  // namespace

std::vector<std::string> Faults::names() {
  return {"error",     "crash",    "exit",         "hang-setup",     "hang-run",
          "hang-stop", "garbage",  "torn-line",    "lie-nan",        "lie-no-primary",
          "lie-unit",  "lie-zero", "lie-negative", "ignore-signals", "not-possible"};
}

Faults::Faults(const Options& options, std::uint64_t seed) {
  const std::vector<std::string> known = names();
  for (const std::string& fault : options.list("fault")) {
    if (std::find(known.begin(), known.end(), fault) == known.end()) {
      throw usage_error(
          fmt::format("fault: \"{}\" is not one of {}", fault, fmt::join(known, ", ")));
    }
  }
  const std::int64_t only_trial = options.integer("fault-trial");
  RandomStream random(seed, fault_stream);
  const bool by_trial = only_trial < 0 || only_trial == options.integer("trial");
  if (by_trial && random.uniform() < options.number("fault-share")) active_ = options.list("fault");
}

bool Faults::has(const char* fault) const {
  return std::find(active_.begin(), active_.end(), fault) != active_.end();
}

void Faults::ignore_signals() const {
  if (!has("ignore-signals")) return;
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);
}

void Faults::hang_if(const char* fault) const {
  while (has(fault)) pause();
}

void Faults::print_garbage() const {
  // The frame keeps the protocol on a descriptor of its own and points standard output at stderr;
  // the first descriptor above the standard ones is the protocol's.
  constexpr int protocol = 3;
  if (has("garbage")) dprintf(protocol, "\x01\x02 not a protocol line {\n");
  if (has("torn-line")) {
    dprintf(protocol, "{\"event\":\"sample\",\"sample\":{\"opera");
    _exit(0);
  }
}

void Faults::falsify(Sample& sample) const {
  Metric& primary = sample.metrics["operations/s"];
  if (has("error")) sample.errors["made-up"] = 3;
  if (has("lie-nan")) primary.value = std::numeric_limits<double>::quiet_NaN();
  if (has("lie-negative")) primary.value = -1;
  if (has("lie-unit")) primary.unit = "furlongs";
  if (has("lie-zero")) primary.value = 0;
  if (has("lie-no-primary")) sample.metrics.erase("operations/s");
}

}  // namespace krepro::null
