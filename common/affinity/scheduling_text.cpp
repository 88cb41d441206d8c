// The text form of scheduling attributes, for options and profiles: see scheduling.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

#include "common/affinity/scheduling.h"
#include "common/base/error.h"
#include "common/base/units.h"

namespace krepro {
namespace {

constexpr std::array<const char*, 7> class_names = {"other", "batch",    "idle", "fifo",
                                                    "rr",    "deadline", "ext"};
// The kernel clamps slices to this range in silence.
constexpr std::int64_t slice_min_ns = 100'000;
constexpr std::int64_t slice_max_ns = 100'000'000;

Error bad_scheduling(std::string_view text, const std::string& why) {
  return usage_error(fmt::format("\"{}\" is not a scheduling: {}", text, why),
                     "expected for instance other, batch,nice:5, idle, fifo:10, rr:10, "
                     "deadline:2ms/10ms/10ms, ext, other,slice:3ms,uclamp:128-512,cookie");
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
}

/// Reads one text, so that every message can show the whole of it.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Scheduling parse() {
    const std::vector<std::string_view> parts = split(text_, ',');
    parse_class(parts[0]);
    for (std::size_t part = 1; part < parts.size(); ++part) {
      parse_part(parts[part]);
    }
    return scheduling_;
  }

 private:
  int number(std::string_view digits, int low, int high, const char* what) const {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() ||
        value < low || value > high) {
      throw bad_scheduling(text_, fmt::format("{} must be {} to {}", what, low, high));
    }
    return value;
  }

  std::int64_t duration(std::string_view part, const char* what) const {
    try {
      return parse_duration_ns(part);
    } catch (const Error& error) {
      throw bad_scheduling(text_, fmt::format("{}: {}", what, error.what()));
    }
  }

  void parse_class(std::string_view part) {
    const std::size_t colon = part.find(':');
    std::string name(part.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name.starts_with("sched_")) {
      name.erase(0, 6);
    }
    name = name == "normal" ? "other" : name;
    const auto found = std::find(class_names.begin(), class_names.end(), name);
    if (found == class_names.end()) {
      const std::string near = nearest(name, {class_names.begin(), class_names.end()});
      throw bad_scheduling(
          text_, near.empty()
                     ? fmt::format("there is no class \"{}\"", name)
                     : fmt::format("there is no class \"{}\", did you mean \"{}\"", name, near));
    }
    scheduling_.policy = static_cast<SchedulingClass>(found - class_names.begin());
    const bool has_argument = colon != std::string_view::npos;
    const std::string_view argument = has_argument ? part.substr(colon + 1) : std::string_view();
    if (scheduling_.policy == SchedulingClass::fifo || scheduling_.policy == SchedulingClass::rr) {
      scheduling_.priority = number(argument, 1, 99, "the priority");
    } else if (scheduling_.policy == SchedulingClass::deadline) {
      parse_deadline(argument);
    } else if (has_argument) {
      throw bad_scheduling(text_, fmt::format("{} takes no number", name));
    }
  }

  void parse_deadline(std::string_view argument) {
    const std::vector<std::string_view> parts = split(argument, '/');
    if (parts.size() < 2 || parts.size() > 3) {
      throw bad_scheduling(text_, "deadline needs runtime/deadline/period");
    }
    scheduling_.deadline_runtime_ns = duration(parts[0], "runtime");
    scheduling_.deadline_deadline_ns = duration(parts[1], "deadline");
    scheduling_.deadline_period_ns = duration(parts.back(), "period");
    // Below 1024 ns the kernel refuses: it counts in units of that size.
    if (scheduling_.deadline_runtime_ns < 1024 ||
        scheduling_.deadline_runtime_ns > scheduling_.deadline_deadline_ns ||
        scheduling_.deadline_deadline_ns > scheduling_.deadline_period_ns) {
      throw bad_scheduling(text_, "1024 ns <= runtime <= deadline <= period must hold");
    }
  }

  void parse_part(std::string_view part) {
    const std::size_t colon = part.find(':');
    const std::string_view name = part.substr(0, colon);
    const std::string_view value =
        colon == std::string_view::npos ? std::string_view() : part.substr(colon + 1);
    if (std::find(seen_.begin(), seen_.end(), name) != seen_.end()) {
      throw bad_scheduling(text_, fmt::format("\"{}\" stands twice", name));
    }
    seen_.push_back(name);
    if (name == "nice") {
      parse_nice(value);
    } else if (name == "slice") {
      parse_slice(value);
    } else if (name == "uclamp") {
      parse_clamps(value);
    } else if (name == "cookie" && colon == std::string_view::npos) {
      scheduling_.core_cookie = true;
    } else {
      throw bad_scheduling(text_, fmt::format("there is no part \"{}\"", part));
    }
  }

  void parse_nice(std::string_view value) {
    if (scheduling_.policy != SchedulingClass::other &&
        scheduling_.policy != SchedulingClass::batch &&
        scheduling_.policy != SchedulingClass::ext) {
      throw bad_scheduling(text_, "nice belongs to other, batch and ext");
    }
    scheduling_.nice = number(value, -20, 19, "nice");
  }

  void parse_slice(std::string_view value) {
    if (scheduling_.policy != SchedulingClass::other &&
        scheduling_.policy != SchedulingClass::batch) {
      throw bad_scheduling(text_, "slice belongs to other and batch");
    }
    scheduling_.slice_ns = duration(value, "slice");
    if (scheduling_.slice_ns < slice_min_ns || scheduling_.slice_ns > slice_max_ns) {
      throw bad_scheduling(text_, "slice must be 100us to 100ms");
    }
  }

  void parse_clamps(std::string_view value) {
    const std::vector<std::string_view> bounds = split(value, '-');
    if (bounds.size() != 2 || (bounds[0].empty() && bounds[1].empty())) {
      throw bad_scheduling(text_, "uclamp needs MIN-MAX, of which one may be left out");
    }
    if (!bounds[0].empty()) {
      scheduling_.uclamp_min = static_cast<std::uint32_t>(number(bounds[0], 0, 1024, "uclamp"));
    }
    if (!bounds[1].empty()) {
      scheduling_.uclamp_max = static_cast<std::uint32_t>(number(bounds[1], 0, 1024, "uclamp"));
    }
    if (scheduling_.uclamp_min.value_or(0) > scheduling_.uclamp_max.value_or(1024)) {
      throw bad_scheduling(text_, "uclamp's first bound is above its second");
    }
  }

  std::string_view text_;
  Scheduling scheduling_;
  std::vector<std::string_view> seen_;
};

/// Exact, in the largest unit that gives a whole number.
std::string exact_duration(std::int64_t duration_ns) {
  for (const auto& [unit_ns, unit] : {std::pair<std::int64_t, const char*>{1'000'000'000, "s"},
                                      {1'000'000, "ms"},
                                      {1'000, "us"}}) {
    if (duration_ns % unit_ns == 0) {
      return fmt::format("{}{}", duration_ns / unit_ns, unit);
    }
  }
  return fmt::format("{}ns", duration_ns);
}

std::string bound(const std::optional<std::uint32_t>& value) {
  return value ? std::to_string(*value) : std::string();
}

}  // namespace

Scheduling parse_scheduling(std::string_view text) { return Parser(text).parse(); }

std::string to_string(const Scheduling& scheduling) {
  std::string text = class_names[static_cast<std::size_t>(scheduling.policy)];
  if (scheduling.policy == SchedulingClass::fifo || scheduling.policy == SchedulingClass::rr) {
    text += fmt::format(":{}", scheduling.priority);
  }
  if (scheduling.policy == SchedulingClass::deadline) {
    text += fmt::format(":{}/{}/{}", exact_duration(scheduling.deadline_runtime_ns),
                        exact_duration(scheduling.deadline_deadline_ns),
                        exact_duration(scheduling.deadline_period_ns));
  }
  if (scheduling.nice != 0) {
    text += fmt::format(",nice:{}", scheduling.nice);
  }
  if (scheduling.slice_ns != 0) {
    text += ",slice:" + exact_duration(scheduling.slice_ns);
  }
  if (scheduling.uclamp_min || scheduling.uclamp_max) {
    text +=
        fmt::format(",uclamp:{}-{}", bound(scheduling.uclamp_min), bound(scheduling.uclamp_max));
  }
  if (scheduling.core_cookie) {
    text += ",cookie";
  }
  return text;
}

}  // namespace krepro
