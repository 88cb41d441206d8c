// Parsing is exact: decimal digits are multiplied in 128 bit integers, so that nothing wraps and no
// fraction is lost in silence. Printing rounds to three or four digits and is for people only;
// files carry the plain numbers.
#include "common/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <system_error>

#include "common/base/error.h"

namespace krepro {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t max_u64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t max_i64 = std::numeric_limits<std::int64_t>::max();

/// What a parse function was looking for, for its error messages.
struct Quantity {
  std::string_view noun;      ///< "a size"
  std::string_view expected;  ///< "a number and a unit, for instance 4k"
  std::string_view smallest;  ///< What the result counts: "bytes"
};

constexpr Quantity size_quantity{
    "a size", "a number and B, k, m, g, t, KiB, MiB, kB or MB, for instance 4k or 1.5GiB", "bytes"};
constexpr Quantity duration_quantity{
    "a duration", "a number and ns, us, ms, s, m, h or d, for instance 250ms or 1h30m",
    "nanoseconds"};
constexpr Quantity count_quantity{
    "a count", "a number, or one with k, M or G (1000-based), for instance 20k", "units"};
constexpr Quantity rate_quantity{
    "a rate", "a number, k, M or G (1000-based) and /s, /min or /h, for instance 20k/s", ""};
constexpr Quantity share_quantity{"a share", "0 to 100 % or 0 to 1, for instance 2% or 0.02", ""};
constexpr Quantity number_quantity{"a number", "decimal digits, for instance 1.5", ""};

[[noreturn]] void fail(std::string_view text, const Quantity& quantity, std::string_view why = {}) {
  throw usage_error(fmt::format("\"{}\" is not {}: {}{}expected {}", text, quantity.noun, why,
                                why.empty() ? "" : "; ", quantity.expected));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Moves the longest start of `text` whose characters all satisfy `predicate` out of it.
template <typename Predicate>
std::string_view take(std::string_view& text, Predicate predicate) {
  std::size_t length = 0;
  while (length < text.size() && predicate(text[length])) ++length;
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(length);
  return taken;
}

/// A number as it is written: digits, and digits behind the point.
struct Decimal {
  std::string_view all;
  std::string_view whole;
  std::string_view fraction;
};

/// Moves a number, and at most one blank behind it, from the start of `rest`. No sign, no exponent.
Decimal take_decimal(std::string_view text, std::string_view& rest, const Quantity& quantity) {
  if (text.empty()) fail(text, quantity, "it is empty");
  if (rest.starts_with('-')) fail(text, quantity, "it must not be negative");
  const std::string_view start = rest;
  Decimal decimal;
  decimal.whole = take(rest, is_digit);
  if (decimal.whole.empty()) fail(text, quantity);
  if (rest.size() >= 2 && rest[0] == '.' && is_digit(rest[1])) {
    rest.remove_prefix(1);
    decimal.fraction = take(rest, is_digit);
  }
  decimal.all = start.substr(0, start.size() - rest.size());
  if (rest.size() >= 2 && rest[0] == ' ') rest.remove_prefix(1);
  return decimal;
}

/// decimal * unit, which must be a whole number of at most `limit`.
Wide scaled(std::string_view text, const Decimal& decimal, std::uint64_t unit, std::uint64_t limit,
            const Quantity& quantity) {
  const auto check_limit = [&](Wide value) {
    if (value > limit) {
      fail(text, quantity,
           fmt::format("it is too large (at most {} {})", limit, quantity.smallest));
    }
  };
  Wide whole = 0;
  for (const char digit : decimal.whole) {
    whole = whole * 10 + static_cast<Wide>(digit - '0');
    check_limit(whole);  // In the loop: a long row of digits would wrap even 128 bit.
  }
  Wide value = whole * unit;  // Both factors have at most 64 bits.

  std::string_view fraction = decimal.fraction;
  fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
  constexpr std::size_t max_digits = 18;  // What still fits into 64 bits.
  Wide numerator = 0;
  Wide denominator = 1;
  for (const char digit : fraction.substr(0, max_digits)) {
    numerator = numerator * 10 + static_cast<Wide>(digit - '0');
    denominator *= 10;
  }
  numerator *= unit;
  if (fraction.size() > max_digits || numerator % denominator != 0) {
    fail(text, quantity, fmt::format("it is not a whole number of {}", quantity.smallest));
  }
  value += numerator / denominator;
  check_limit(value);
  return value;
}

std::uint64_t power(std::uint64_t base, std::size_t exponent) {
  std::uint64_t result = 1;
  for (std::size_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

/// 1 for k, 2 for m, ...; 0 for anything else.
std::size_t prefix_power(char letter) {
  return std::string_view("kmgtp").find(lower(letter)) + 1;  // npos + 1 is 0.
}

/// Bytes in one of `unit`.
std::uint64_t byte_unit(std::string_view text, std::string_view unit) {
  if (unit.empty() || unit == "B") return 1;
  const std::size_t exponent = prefix_power(unit[0]);
  std::string rest(unit.substr(1));
  if (exponent != 0 && (rest == "B" || rest == "b")) {
    constexpr std::string_view si_prefixes = "kMGTP";
    if (rest == "B" && unit[0] == si_prefixes[exponent - 1]) return power(1000, exponent);
    // Tools disagree about these (fio: 1024), and a wrong guess would give a wrong number.
    const std::string_view number = text.substr(0, text.find_first_not_of("0123456789."));
    const char si = si_prefixes[exponent - 1];
    throw usage_error(
        fmt::format("\"{}\" is ambiguous: write {}{}iB (1024-based) or {}{}B (1000-based)", text,
                    number, si == 'k' ? 'K' : si, number, si));
  }
  std::transform(rest.begin(), rest.end(), rest.begin(), lower);
  if (exponent == 0 || !(rest.empty() || rest == "i" || rest == "ib")) {
    fail(text, size_quantity, fmt::format("unknown unit \"{}\"", unit));
  }
  return power(1024, exponent);
}

/// Nanoseconds in one of `unit`, or nothing. Long forms are there because other tools accept them.
std::optional<std::int64_t> duration_unit_ns(std::string_view unit) {
  struct Unit {
    std::string_view name;
    std::int64_t nanoseconds;
  };
  static constexpr Unit units[] = {
      {"ns", 1},
      {"nsec", 1},
      {"us", 1'000},
      {"usec", 1'000},
      {"ms", 1'000'000},
      {"msec", 1'000'000},
      {"s", 1'000'000'000},
      {"sec", 1'000'000'000},
      {"m", 60'000'000'000},
      {"min", 60'000'000'000},
      {"h", 3'600'000'000'000},
      {"d", 86'400'000'000'000},
  };
  for (const Unit& known : units) {
    if (known.name == unit) return known.nanoseconds;
  }
  return std::nullopt;
}

/// Factor of a prefix of counts and rates, 1000-based; an empty one is 1.
std::uint64_t count_prefix(std::string_view text, std::string_view prefix,
                           const Quantity& quantity) {
  if (prefix.empty()) return 1;
  const std::size_t exponent = prefix_power(prefix[0]);
  if (exponent == 0 || prefix.size() != 1) {
    fail(text, quantity, fmt::format("unknown unit \"{}\"", prefix));
  }
  return power(1000, exponent);
}

double to_double(std::string_view text, std::string_view number, const Quantity& quantity) {
  double value = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc::result_out_of_range) fail(text, quantity, "it is out of range");
  if (error != std::errc() || stop != number.data() + number.size() || !std::isfinite(value)) {
    fail(text, quantity);
  }
  return value;
}

/// A unit to print in: `value` is printed in it from `threshold` on.
struct PrintUnit {
  double scale;
  double threshold;
  std::string_view name;
};

constexpr PrintUnit byte_units[] = {
    {1, 0, "B"},
    {0x1p10, 0x1p10, "KiB"},
    {0x1p20, 0x1p20, "MiB"},
    {0x1p30, 0x1p30, "GiB"},
    {0x1p40, 0x1p40, "TiB"},
    {0x1p50, 0x1p50, "PiB"},
};
/// Two minutes and two hours, because 90 s and 90 min are easier to read than 1.5 of the next.
constexpr PrintUnit duration_units[] = {
    {1, 0, "ns"},    {1e3, 1e3, "us"},     {1e6, 1e6, "ms"},
    {1e9, 1e9, "s"}, {60e9, 120e9, "min"}, {3600e9, 7200e9, "h"},
};
/// Four digits are printed in full: 1234 rather than 1.23 k.
constexpr PrintUnit count_units[] = {
    {1, 0, ""}, {1e3, 1e4, "k"}, {1e6, 1e6, "M"}, {1e9, 1e9, "G"}, {1e12, 1e12, "T"},
};

/// A percentage has no multiples.
constexpr PrintUnit percent_unit[] = {{1, 0, "%"}};

/// Three significant digits, but never less than whole numbers.
double rounded(double value) {
  if (value >= 100) return std::round(value);
  return std::strtod(fmt::format("{:.2e}", value).c_str(), nullptr);
}

/// A rounded value without trailing zeros. However small, it does not become 0.
std::string digits_of(double value) {
  if (value != 0 && (value < 1e-6 || value >= 1e7)) return fmt::format("{:.3g}", value);
  // 8 decimals hold three digits of 1e-6.
  std::string text = fmt::format("{:.8f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

struct Printed {
  std::string number;
  std::string_view unit;
};

/// Picks the unit by the rounded value, so that 999.9 us becomes 1 ms, not 1000 us.
Printed print(double value, std::span<const PrintUnit> units) {
  if (!std::isfinite(value)) return {"n/a", ""};
  const double magnitude = std::fabs(value);
  std::size_t chosen = 0;
  while (chosen + 1 < units.size() &&
         rounded(magnitude / units[chosen].scale) * units[chosen].scale >=
             units[chosen + 1].threshold) {
    ++chosen;
  }
  const std::string digits = digits_of(rounded(magnitude / units[chosen].scale));
  return {value < 0 ? "-" + digits : digits, units[chosen].name};
}

std::string join(const Printed& printed) {
  if (printed.unit.empty()) return printed.number;
  return fmt::format("{} {}", printed.number, printed.unit);
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
  std::string_view rest = text;
  const Decimal decimal = take_decimal(text, rest, size_quantity);
  return static_cast<std::uint64_t>(
      scaled(text, decimal, byte_unit(text, rest), max_u64, size_quantity));
}

std::int64_t parse_duration_ns(std::string_view text, std::int64_t plain_unit_ns) {
  std::string_view rest = text;
  Wide total = 0;
  std::int64_t last_unit = std::numeric_limits<std::int64_t>::max();
  do {
    const bool first = rest.size() == text.size();
    const Decimal decimal = take_decimal(text, rest, duration_quantity);
    std::string_view name = take(rest, is_letter);
    std::optional<std::int64_t> unit = duration_unit_ns(name);
    if (first && name.empty() && rest.empty()) {
      const bool zero = decimal.all.find_first_not_of("0.") == std::string_view::npos;
      if (plain_unit_ns == 0 && !zero) fail(text, duration_quantity, "the unit is missing");
      unit = std::max<std::int64_t>(plain_unit_ns, 1);
    }
    if (!unit) {
      fail(text, duration_quantity,
           name.empty() ? "a unit is missing" : fmt::format("unknown unit \"{}\"", name));
    }
    // 1m30 or 30m1h are slips of the pen more often than meant.
    if (*unit >= last_unit) fail(text, duration_quantity, "larger units come first, each once");
    last_unit = *unit;
    total += scaled(text, decimal, static_cast<std::uint64_t>(*unit), max_i64, duration_quantity);
    if (total > max_i64) fail(text, duration_quantity, "it is too large (at most 292 years)");
    if (rest.size() >= 2 && rest[0] == ' ') rest.remove_prefix(1);
  } while (!rest.empty());
  return static_cast<std::int64_t>(total);
}

std::uint64_t parse_count(std::string_view text) {
  std::string_view rest = text;
  const Decimal decimal = take_decimal(text, rest, count_quantity);
  return static_cast<std::uint64_t>(
      scaled(text, decimal, count_prefix(text, rest, count_quantity), max_u64, count_quantity));
}

double parse_rate(std::string_view text) {
  std::string_view rest = text;
  const Decimal decimal = take_decimal(text, rest, rate_quantity);
  const std::string_view prefix = take(rest, is_letter);
  double value = to_double(text, decimal.all, rate_quantity) *
                 static_cast<double>(count_prefix(text, prefix, rate_quantity));
  if (!rest.empty()) {
    const std::optional<std::int64_t> period =
        rest[0] == '/' ? duration_unit_ns(rest.substr(1)) : std::nullopt;
    if (!period) fail(text, rate_quantity, fmt::format("unknown unit \"{}\"", rest));
    value = value * 1e9 / static_cast<double>(*period);
  }
  if (!std::isfinite(value)) fail(text, rate_quantity, "it is out of range");
  return value;
}

double parse_share(std::string_view text) {
  std::string_view number = text;
  double divisor = 1;
  if (number.ends_with('%')) {
    divisor = 100;
    number.remove_suffix(1);
    if (number.ends_with(' ')) number.remove_suffix(1);
  }
  if (number.starts_with('-')) fail(text, share_quantity, "it must not be negative");
  const double share = to_double(text, number, share_quantity) / divisor;
  if (share > 1) fail(text, share_quantity, "it is more than the whole");
  return share;
}

double parse_number(std::string_view text) { return to_double(text, text, number_quantity); }

std::string format_bytes(double bytes) { return join(print(bytes, byte_units)); }

std::string format_duration(double nanoseconds) {
  if (nanoseconds == 0) return "0 s";
  return join(print(nanoseconds, duration_units));
}

std::string format_count(double count) { return join(print(count, count_units)); }

std::string format_grouped(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string format_value(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "n/a";
  if (unit.empty() || unit == "1") return format_count(value);
  if (unit == "bytes") return format_bytes(value);
  if (unit == "bytes/s") return format_bytes(value) + "/s";
  if (unit == "%") return join(print(value, percent_unit));
  if (unit == "s" || unit == "ms" || unit == "us" || unit == "ns") {
    return format_duration(value * static_cast<double>(*duration_unit_ns(unit)));
  }
  if (unit.starts_with("1/")) return format_count(value) + std::string(unit.substr(1));
  return fmt::format("{} {}", format_count(value), unit);
}

}  // namespace krepro
