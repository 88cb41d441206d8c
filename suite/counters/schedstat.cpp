// Parsing of /proc/schedstat; the deltas are in schedstat_delta.cpp.
#include "suite/counters/schedstat.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "common/base/kernel_text.h"

namespace krepro {
namespace {

constexpr std::size_t cpu_columns = 9;
constexpr std::size_t classic_columns = 36;  // versions 15 and 16
constexpr std::size_t wide_columns = 45;     // version 17
constexpr std::array<const char*, 8> classic_group = {"attempts",      "balanced",     "failed",
                                                      "imbalance",     "pulled",       "pulled_hot",
                                                      "no_busy_queue", "no_busy_group"};
constexpr std::array<const char*, 11> wide_group = {
    "attempts",       "balanced",       "failed",           "imbalance_load",
    "imbalance_util", "imbalance_task", "imbalance_misfit", "pulled",
    "pulled_hot",     "no_busy_queue",  "no_busy_group"};

template <std::size_t Size>
std::vector<std::string> domain_columns(const std::array<const char*, 3>& idle_types,
                                        const std::array<const char*, Size>& group) {
  std::vector<std::string> names;
  for (const char* type : idle_types) {
    for (const char* column : group) names.push_back(fmt::format("{}_{}", type, column));
  }
  for (const char* name :
       {"active_balance_attempts", "active_balance_failed", "active_balance_pushed",
        // Balancing at exec and fork. The kernel fills none of these today.
        "exec_balance_attempts", "exec_balance_balanced", "exec_balance_pushed",
        "fork_balance_attempts", "fork_balance_balanced", "fork_balance_pushed", "wakeups_remote",
        "wakeups_moved_affine", "wakeups_moved_balance"}) {
    names.emplace_back(name);
  }
  return names;
}

/// "f,00000000": groups of 32 bits, the lowest last.
std::optional<CpuSet> parse_mask(std::string_view mask) {
  std::vector<int> cpus;
  int bit = 0;
  for (std::size_t i = mask.size(); i-- > 0;) {
    const char digit = mask[i];
    if (digit == ',') continue;
    const std::size_t value = std::string_view("0123456789abcdef").find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    for (int k = 0; k < 4; ++k) {
      if ((value >> static_cast<unsigned>(k) & 1U) != 0) cpus.push_back(bit + k);
    }
    bit += 4;
  }
  return CpuSet(std::move(cpus));
}

/// The number behind "cpu" or "domain"; nothing where the word is not of that kind.
std::optional<int> number_behind(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix)) return std::nullopt;
  const auto number = number_in(word.substr(prefix.size()));
  if (!number || *number > 1'000'000) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<std::vector<std::uint64_t>> numbers_in(const std::vector<std::string_view>& words,
                                                     std::size_t first) {
  std::vector<std::uint64_t> values;
  for (std::size_t i = first; i < words.size(); ++i) {
    const auto value = number_in(words[i]);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

class SchedstatParser {
 public:
  explicit SchedstatParser(std::string_view text) : text_(text) {}

  Schedstat parse() {
    const std::vector<std::string_view> lines = lines_of(text_);
    for (std::size_t i = 0; i < lines.size() && result_.problem.empty(); ++i) {
      add_line(lines[i], i + 1);
    }
    if (result_.problem.empty()) check_whole();
    if (result_.problem.empty()) choose_layout();
    if (result_.problem.starts_with("torn")) {
      result_.cpus.clear();
      result_.domains.clear();
    }
    return std::move(result_);
  }

 private:
  void add_line(std::string_view line, std::size_t number) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return;
    if (words[0] == "version") {
      const auto version = words.size() == 2 ? number_in(words[1]) : std::nullopt;
      if (!version) return tear(number, "no version");
      result_.version = static_cast<int>(std::min<std::uint64_t>(*version, 1'000'000));
    } else if (words[0] == "timestamp") {
      return;
    } else if (const auto cpu = number_behind(words[0], "cpu")) {
      const auto values = numbers_in(words, 1);
      if (!values) return tear(number, "not a number");
      result_.cpus.push_back({*cpu, *values});
    } else if (const auto level = number_behind(words[0], "domain")) {
      add_domain(words, *level, number);
    } else {
      tear(number, fmt::format("a line \"{:.20}\"", words[0]));
    }
  }

  void add_domain(const std::vector<std::string_view>& words, int level, std::size_t number) {
    if (result_.cpus.empty()) return tear(number, "a domain without its CPU");
    SchedstatDomain domain;
    domain.cpu = result_.cpus.back().cpu;
    domain.level = level;
    // The name stands before the mask from version 17 on, in capitals, which no mask has.
    std::size_t mask = 1;
    if (words.size() > 2 && !parse_mask(words[1])) {
      domain.name = words[1];
      mask = 2;
    }
    const auto span = words.size() > mask ? parse_mask(words[mask]) : std::nullopt;
    const auto values = numbers_in(words, mask + 1);
    if (!span || !values) return tear(number, "not a number");
    domain.span = *span;
    domain.values = *values;
    result_.domains.push_back(std::move(domain));
  }

  void tear(std::size_t line, const std::string& what) {
    result_.problem = fmt::format("torn: {} in line {}", what, line);
  }

  /// All lines of a kind have the same number of columns; fewer in the last one is its end missing.
  void check_whole() {
    if (result_.version == 0) {
      result_.problem = "torn: no version";
    } else if (result_.cpus.empty()) {
      result_.problem = "torn: no CPU";
    } else if (!text_.ends_with('\n')) {
      result_.problem = "torn: the last line has no end";
    }
    for (const SchedstatCpu& cpu : result_.cpus) {
      if (cpu.values.size() == result_.cpus[0].values.size()) continue;
      result_.problem =
          fmt::format("torn: cpu{} has {} columns, cpu{} has {}", cpu.cpu, cpu.values.size(),
                      result_.cpus[0].cpu, result_.cpus[0].values.size());
    }
    for (const SchedstatDomain& domain : result_.domains) {
      if (domain.values.size() == result_.domains[0].values.size()) continue;
      result_.problem =
          fmt::format("torn: a domain of cpu{} has {} columns, others have {}", domain.cpu,
                      domain.values.size(), result_.domains[0].values.size());
    }
  }

  void choose_layout() {
    const std::size_t columns = result_.domains.empty() ? 0 : result_.domains[0].values.size();
    const bool named = !result_.domains.empty() && !result_.domains[0].name.empty();
    const int version = result_.version;
    if (version < 15 || version > 17) {
      result_.problem = fmt::format("version {} is not known: not interpreted", version);
      return;
    }
    if (result_.cpus[0].values.size() != cpu_columns) {
      result_.problem = fmt::format("version {} with {} columns of a CPU: not interpreted", version,
                                    result_.cpus[0].values.size());
      return;
    }
    if (result_.domains.empty()) {  // One CPU, or none that balances.
      result_.layout = version == 15   ? SchedstatLayout::v15
                       : version == 16 ? SchedstatLayout::v16
                                       : SchedstatLayout::v17;
    } else if (version >= 16 && columns == wide_columns && named) {
      result_.layout = SchedstatLayout::v17;
    } else if (version <= 16 && columns == classic_columns && !named) {
      result_.layout = version == 15 ? SchedstatLayout::v15 : SchedstatLayout::v16;
    } else {
      result_.problem = fmt::format("version {} with {} columns of a {}domain: not interpreted",
                                    version, columns, named ? "named " : "");
    }
  }

  std::string_view text_;
  Schedstat result_;
};

}  // namespace

const std::vector<std::string>& schedstat_cpu_columns() {
  static const std::vector<std::string> names = {
      "yields",        "",       "schedule_calls", "schedule_to_idle", "wakeups",
      "wakeups_local", "run_ns", "run_delay_ns",   "timeslices"};
  return names;
}

const std::vector<std::string>& schedstat_domain_columns(SchedstatLayout layout) {
  static const std::vector<std::string> none;
  static const std::vector<std::string> v15 =
      domain_columns({"idle", "busy", "newidle"}, classic_group);
  static const std::vector<std::string> v16 =
      domain_columns({"busy", "idle", "newidle"}, classic_group);
  static const std::vector<std::string> v17 =
      domain_columns({"busy", "idle", "newidle"}, wide_group);
  switch (layout) {
    case SchedstatLayout::v15:
      return v15;
    case SchedstatLayout::v16:
      return v16;
    case SchedstatLayout::v17:
      return v17;
    case SchedstatLayout::unknown:
      break;
  }
  return none;
}

Schedstat parse_schedstat(std::string_view text) { return SchedstatParser(text).parse(); }

}  // namespace krepro
