// The one place that parses and prints quantities: bytes, durations, counts, rates, shares.
// Bytes: k, K, KiB = 1024 (also m, g, t); kB, MB, ... = 1000. Counts and rates: k = 1000.
// docs/units.md has the table. Every parse function throws usage_error("\"4x\" is not a size:
// expected ..., for instance 4k") on anything else, on a negative value and on overflow; none
// wraps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krepro {

/// "4k", "4KiB", "1.5g" -> bytes. A plain number is bytes.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text);
/// "60s", "250ms", "1h30m", "1d", "10us", "5ns" -> nanoseconds. A plain number is an error (except
/// 0): units are required, unless `plain_unit_ns` gives the unit of a plain number (fio's
/// --runtime=60 means seconds: 1'000'000'000).
[[nodiscard]] std::int64_t parse_duration_ns(std::string_view text, std::int64_t plain_unit_ns = 0);
/// "10000", "20k", "1.5M" -> a count; k = 1000. Fractions that do not give a whole number are an
/// error.
[[nodiscard]] std::uint64_t parse_count(std::string_view text);
/// "20k/s", "0.5/s", "6/min", "20000" -> per second.
[[nodiscard]] double parse_rate(std::string_view text);
/// "2%", "2 %", "0.02" -> 0.02.
[[nodiscard]] double parse_share(std::string_view text);
/// A decimal number, whole text, finite.
[[nodiscard]] double parse_number(std::string_view text);

/// 4096 -> "4 KiB"; 1024-based, at most four significant digits.
[[nodiscard]] std::string format_bytes(double bytes);
/// 1500000 -> "1.5 ms"; picks ns, us, ms, s, min, h.
[[nodiscard]] std::string format_duration(double nanoseconds);
/// 1234567 -> "1.23 M"; 1000-based, three or four significant digits.
[[nodiscard]] std::string format_count(double count);
/// 4000000 -> "4,000,000".
[[nodiscard]] std::string format_grouped(std::uint64_t value);
/// A value of a metric with its unit, for people: ("s", 0.331) -> "331 ms"; ("1/s", 87228) -> "87.2
/// k/s".
[[nodiscard]] std::string format_value(double value, std::string_view unit);

}  // namespace krepro
