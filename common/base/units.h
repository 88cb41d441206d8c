// The one place that parses and prints quantities: bytes, durations, counts, rates, shares.
// Bytes: a bare letter or one with i is 1024-based (k, K, Ki, KiB; also m, g, t, p); kB, MB, GB,
// ... are 1000-based; KB, kb, mb, ... are refused, because tools disagree about them. Counts and
// rates: k = 1000. docs/units.md has the table. One blank may stand before a unit, so that what is
// printed can be read again. Every parse function throws usage_error("\"4x\" is not a size: unknown
// unit
// \"x\"; expected ..., for instance 4k") on anything else, on a negative value (except
// parse_number), on overflow, and on a fraction that does not give a whole number of bytes,
// nanoseconds or units; none wraps or rounds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krepro {

inline constexpr std::int64_t one_second_ns = 1'000'000'000;

/// "4k", "4KiB", "1.5g" -> bytes. A plain number is bytes.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text);
/// "60s", "250ms", "1h30m", "1d", "10us", "5ns" -> nanoseconds. A plain number is an error (except
/// 0): units are required, unless `plain_unit_ns` gives the unit of a plain number (fio's
/// --runtime=60 means seconds: 1'000'000'000).
[[nodiscard]] std::int64_t parse_duration_ns(std::string_view text, std::int64_t plain_unit_ns = 0);
/// "10000", "20k", "1.5M" -> a count; k = 1000.
[[nodiscard]] std::uint64_t parse_count(std::string_view text);
/// "20k/s", "0.5/s", "6/min", "20000" -> per second. 0 is not refused here.
[[nodiscard]] double parse_rate(std::string_view text);
/// "2%", "2 %", "0.02" -> 0.02; 0 to 1.
[[nodiscard]] double parse_share(std::string_view text);
/// A decimal number, whole text, finite; may be negative or have an exponent ("-5", "1e-3").
[[nodiscard]] double parse_number(std::string_view text);

/// All format functions round to three significant digits, but never below whole numbers (so up to
/// four); small values keep their digits (1e-10 is never printed as 0); NaN and infinity, which no
/// measurement may give, become "n/a".

/// 4096 -> "4 KiB"; 1024-based.
[[nodiscard]] std::string format_bytes(double bytes);
/// 1500000 -> "1.5 ms"; picks ns, us, ms, s, min (from 2 min) and h (from 2 h).
[[nodiscard]] std::string format_duration(double nanoseconds);
/// 1234567 -> "1.23 M"; 1000-based; up to 9999 in full.
[[nodiscard]] std::string format_count(double count);
/// 4000000 -> "4,000,000".
[[nodiscard]] std::string format_grouped(std::uint64_t value);
/// A value of a metric with its unit, for people: (0.331, "s") -> "331 ms"; (87228, "1/s") ->
/// "87.2 k/s"; (1.2e6, "messages/s") -> "1.2 M messages/s". Known: "s", "ms", "us", "ns" (any of
/// them is printed in the fitting one), "bytes", "bytes/s", "%", "1" (no unit) and "1/...". Any
/// other is printed behind the number as it is.
[[nodiscard]] std::string format_value(double value, std::string_view unit);

}  // namespace krepro
