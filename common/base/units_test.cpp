// Every unit that is read or printed, and what must be refused: a wrong unit makes a wrong number
// that nobody sees.
#include "common/base/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace krepro {
namespace {

constexpr std::int64_t second = 1'000'000'000;

/// The message of the usage error that `call` throws; a failure where it throws none.
template <typename Call>
std::string refusal(Call call) {
  try {
    const auto value = call();
    return "NOT REFUSED: " + std::to_string(value);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\ndoes not contain: " << part;
}

TEST(ParseBytes, LettersAloneAndLettersWithIAre1024Based) {
  for (const char* text : {"4k", "4K", "4Ki", "4KiB", "4kiB", "4 KiB", "4096", "4096B", "4.0k"}) {
    EXPECT_EQ(parse_bytes(text), 4096U) << text;
  }
  EXPECT_EQ(parse_bytes("3m"), 3ULL << 20);
  EXPECT_EQ(parse_bytes("3M"), 3ULL << 20);
  EXPECT_EQ(parse_bytes("3MiB"), 3ULL << 20);
  EXPECT_EQ(parse_bytes("50G"), 50ULL << 30);
  EXPECT_EQ(parse_bytes("1GiB"), 1ULL << 30);
  EXPECT_EQ(parse_bytes("2t"), 2ULL << 40);
  EXPECT_EQ(parse_bytes("2TiB"), 2ULL << 40);
  EXPECT_EQ(parse_bytes("2p"), 2ULL << 50);
  EXPECT_EQ(parse_bytes("1.5g"), 3ULL << 29);
  EXPECT_EQ(parse_bytes("0"), 0U);
}

TEST(ParseBytes, PrefixWithBIs1000Based) {
  EXPECT_EQ(parse_bytes("4kB"), 4000U);
  EXPECT_EQ(parse_bytes("4MB"), 4'000'000U);
  EXPECT_EQ(parse_bytes("4GB"), 4'000'000'000U);
  EXPECT_EQ(parse_bytes("4TB"), 4'000'000'000'000U);
  EXPECT_EQ(parse_bytes("4PB"), 4'000'000'000'000'000U);
}

TEST(ParseBytes, AmbiguousUnitsAreRefusedWithBothReadings) {
  expect_contains(refusal([] { return parse_bytes("4KB"); }),
                  "\"4KB\" is ambiguous: write 4KiB (1024-based) or 4kB (1000-based)");
  for (const char* text : {"4kb", "4Kb", "4mb", "4mB", "4Mb", "1gb", "1tb"}) {
    expect_contains(refusal([&] { return parse_bytes(text); }), "ambiguous");
  }
}

TEST(ParseBytes, EverythingElseIsRefused) {
  for (const char* text :
       {"",      " ",      "k",    "x",   "4x",    "4k ", " 4k", "4kk",  "4KiBs",
        "4k/s",  "+4",     "0x10", "1e3", "1,000", "nan", "inf", "4.",   ".5k",
        "4..5k", "4.5.6k", "4  k", "4i",  "4iB",   "4b",  "\n",  "4k\n", "4\t"}) {
    expect_contains(refusal([&] { return parse_bytes(text); }), "is not a size");
  }
  expect_contains(refusal([] { return parse_bytes("4x"); }), "unknown unit \"x\"");
  expect_contains(refusal([] { return parse_bytes(""); }), "empty");
  expect_contains(refusal([] { return parse_bytes("-1"); }), "negative");
  expect_contains(refusal([] { return parse_bytes("0.1k"); }), "not a whole number of bytes");
  expect_contains(refusal([] { return parse_bytes("0.5"); }), "not a whole number of bytes");
}

TEST(ParseBytes, NothingWraps) {
  EXPECT_EQ(parse_bytes("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_bytes("16383p"), 16383ULL << 50);
  for (const char* text : {"18446744073709551616", "16384p", "99999999999999999999t",
                           "18446744073709551615k", "340282366920938463463374607431768211457"}) {
    expect_contains(refusal([&] { return parse_bytes(text); }), "too large");
  }
}

TEST(ParseDuration, EveryUnit) {
  EXPECT_EQ(parse_duration_ns("5ns"), 5);
  EXPECT_EQ(parse_duration_ns("10us"), 10'000);
  EXPECT_EQ(parse_duration_ns("250ms"), 250'000'000);
  EXPECT_EQ(parse_duration_ns("60s"), 60 * second);
  EXPECT_EQ(parse_duration_ns("90m"), 5400 * second);
  EXPECT_EQ(parse_duration_ns("90min"), 5400 * second);
  EXPECT_EQ(parse_duration_ns("2h"), 7200 * second);
  EXPECT_EQ(parse_duration_ns("1d"), 86400 * second);
  EXPECT_EQ(parse_duration_ns("30d"), 30 * 86400 * second);
  EXPECT_EQ(parse_duration_ns("3sec"), 3 * second);
  EXPECT_EQ(parse_duration_ns("3msec"), 3'000'000);
  EXPECT_EQ(parse_duration_ns("3usec"), 3'000);
  EXPECT_EQ(parse_duration_ns("3nsec"), 3);
}

TEST(ParseDuration, SumsAndFractions) {
  EXPECT_EQ(parse_duration_ns("1h30m"), 5400 * second);
  EXPECT_EQ(parse_duration_ns("1h 30m"), 5400 * second);
  EXPECT_EQ(parse_duration_ns("1d2h3m4s5ms6us7ns"), 93784'005'006'007);
  EXPECT_EQ(parse_duration_ns("1.5s"), 1'500'000'000);
  EXPECT_EQ(parse_duration_ns("0.1us"), 100);
  EXPECT_EQ(parse_duration_ns("0.000000001s"), 1);
  EXPECT_EQ(parse_duration_ns("1.50000000000000000000000s"), 1'500'000'000);
}

TEST(ParseDuration, PlainNumbersNeedAUnitUnlessTheOptionHasOne) {
  EXPECT_EQ(parse_duration_ns("0"), 0);
  EXPECT_EQ(parse_duration_ns("0.0"), 0);
  EXPECT_EQ(parse_duration_ns("60", second), 60 * second);
  EXPECT_EQ(parse_duration_ns("1.5", second), 1'500'000'000);
  EXPECT_EQ(parse_duration_ns("60ms", second), 60'000'000);
  expect_contains(refusal([] { return parse_duration_ns("60"); }), "unit is missing");
  expect_contains(refusal([] { return parse_duration_ns("1h30"); }), "unit is missing");
  expect_contains(refusal([] { return parse_duration_ns("1h30", second); }), "unit is missing");
}

TEST(ParseDuration, EverythingElseIsRefused) {
  for (const char* text : {"",       " ",     "s",    "-1",   "-1s", "1e30", "1e30s",  "1e3s",
                           "1S",     "1M",    "1y",   "nan",  "inf", "1s ",  " 1s",    "1s1",
                           "1s-1ms", "30m1h", "1s1s", "1,5s", "+1s", "1.s",  "1h30mx", "1m\n"}) {
    expect_contains(refusal([&] { return parse_duration_ns(text); }), "is not a duration");
  }
  expect_contains(refusal([] { return parse_duration_ns("-1"); }), "negative");
  expect_contains(refusal([] { return parse_duration_ns("30m1h"); }), "larger units come first");
  expect_contains(refusal([] { return parse_duration_ns("0.1ns"); }),
                  "not a whole number of nanoseconds");
}

TEST(ParseDuration, NothingWraps) {
  EXPECT_EQ(parse_duration_ns("9223372036854775807ns"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_duration_ns("106751d"), 106751LL * 86400 * second);
  for (const char* text : {"9223372036854775808ns", "106752d", "18446744073709551617ns",
                           "106751d23h59m", "1000000000000000000000000000000s"}) {
    expect_contains(refusal([&] { return parse_duration_ns(text); }), "too large");
  }
  expect_contains(refusal([] { return parse_duration_ns("9223372037", second); }), "too large");
}

TEST(ParseCount, PrefixesAre1000Based) {
  EXPECT_EQ(parse_count("10000"), 10000U);
  EXPECT_EQ(parse_count("20k"), 20'000U);
  EXPECT_EQ(parse_count("20K"), 20'000U);
  EXPECT_EQ(parse_count("1.5M"), 1'500'000U);
  EXPECT_EQ(parse_count("1.5 M"), 1'500'000U);
  EXPECT_EQ(parse_count("2m"), 2'000'000U);
  EXPECT_EQ(parse_count("3G"), 3'000'000'000U);
  EXPECT_EQ(parse_count("3T"), 3'000'000'000'000U);
  EXPECT_EQ(parse_count("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
}

TEST(ParseCount, EverythingElseIsRefused) {
  for (const char* text :
       {"", "k", "-1", "-0", "1.5", "0.0001k", "4ki", "4KiB", "1e3", "1e30", "4/s", "nan", "inf",
        "4 ", "18446744073709551616", "18446744073709552k", "4,000"}) {
    expect_contains(refusal([&] { return parse_count(text); }), "is not a count");
  }
}

TEST(ParseRate, PerSecondMinuteAndHour) {
  EXPECT_EQ(parse_rate("20000"), 20000);
  EXPECT_EQ(parse_rate("20k/s"), 20000);
  EXPECT_EQ(parse_rate("20k"), 20000);
  EXPECT_EQ(parse_rate("1.5M/s"), 1.5e6);
  EXPECT_EQ(parse_rate("87.2 k/s"), 87200);
  EXPECT_EQ(parse_rate("0.1/s"), 0.1);
  EXPECT_EQ(parse_rate("0.5/s"), 0.5);
  EXPECT_EQ(parse_rate("6/min"), 0.1);
  EXPECT_EQ(parse_rate("6/m"), 0.1);
  EXPECT_EQ(parse_rate("360/h"), 0.1);
  EXPECT_EQ(parse_rate("2/ms"), 2000);
  EXPECT_EQ(parse_rate("10000000/s"), 1e7);
  EXPECT_EQ(parse_rate("0"), 0);
}

TEST(ParseRate, EverythingElseIsRefused) {
  for (const char* text : {"", "/s", "k/s", "-1/s", "-1", "1/", "1/x", "1//s", "1 /s/s", "1ki/s",
                           "1e3/s", "nan", "inf", "1/s ", "1 per s", "20kk/s"}) {
    expect_contains(refusal([&] { return parse_rate(text); }), "is not a rate");
  }
  expect_contains(refusal([] { return parse_rate(std::string(400, '9') + "/s"); }), "out of range");
}

TEST(ParseShare, PercentAndFraction) {
  EXPECT_EQ(parse_share("2%"), 0.02);
  EXPECT_EQ(parse_share("2 %"), 0.02);
  EXPECT_EQ(parse_share("0.02"), 0.02);
  EXPECT_EQ(parse_share("0"), 0);
  EXPECT_EQ(parse_share("100%"), 1);
  EXPECT_EQ(parse_share("1"), 1);
  for (const char* text :
       {"", "%", "-1%", "-0.1", "101%", "1.01", "2", "nan", "nan%", "inf", "2%%", "2% ", "x"}) {
    expect_contains(refusal([&] { return parse_share(text); }), "is not a share");
  }
}

TEST(ParseNumber, WholeTextAndFinite) {
  EXPECT_EQ(parse_number("1.5"), 1.5);
  EXPECT_EQ(parse_number("-5"), -5);
  EXPECT_EQ(parse_number("1e-3"), 1e-3);
  for (const char* text :
       {"", "-", "nan", "inf", "-inf", "1e999", "1.5x", " 1", "1 ", "0x10", "1,5"}) {
    expect_contains(refusal([&] { return parse_number(text); }), "is not a number");
  }
}

TEST(FormatBytes, PicksTheUnitByTheRoundedValue) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1), "1 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1023.7), "1 KiB");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(4096), "4 KiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(1048575), "1 MiB");
  EXPECT_EQ(format_bytes(1.7 * 0x1p40), "1.7 TiB");
  EXPECT_EQ(format_bytes(0x1p60), "1024 PiB");
  EXPECT_EQ(format_bytes(0.25), "0.25 B");
  EXPECT_EQ(format_bytes(-4096), "-4 KiB");
}

TEST(FormatDuration, PicksTheUnit) {
  EXPECT_EQ(format_duration(0), "0 s");
  EXPECT_EQ(format_duration(1), "1 ns");
  EXPECT_EQ(format_duration(999), "999 ns");
  EXPECT_EQ(format_duration(999.6), "1 us");
  EXPECT_EQ(format_duration(1'500'000), "1.5 ms");
  EXPECT_EQ(format_duration(331e6), "331 ms");
  EXPECT_EQ(format_duration(12.34e6), "12.3 ms");
  EXPECT_EQ(format_duration(90e9), "90 s");
  EXPECT_EQ(format_duration(150e9), "2.5 min");
  EXPECT_EQ(format_duration(5400e9), "90 min");
  EXPECT_EQ(format_duration(9000e9), "2.5 h");
  EXPECT_EQ(format_duration(-1500), "-1.5 us");
}

TEST(FormatCount, ThreeDigitsFromTenThousandOn) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(7), "7");
  EXPECT_EQ(format_count(1234), "1234");
  EXPECT_EQ(format_count(9999.4), "9999");
  EXPECT_EQ(format_count(9999.6), "10 k");
  EXPECT_EQ(format_count(87228), "87.2 k");
  EXPECT_EQ(format_count(999'999), "1 M");
  EXPECT_EQ(format_count(1'234'567), "1.23 M");
  EXPECT_EQ(format_count(-1'234'567), "-1.23 M");
  EXPECT_EQ(format_count(0.0123), "0.0123");
}

TEST(FormatGrouped, Thousands) {
  EXPECT_EQ(format_grouped(0), "0");
  EXPECT_EQ(format_grouped(999), "999");
  EXPECT_EQ(format_grouped(1000), "1,000");
  EXPECT_EQ(format_grouped(4'000'000), "4,000,000");
  EXPECT_EQ(format_grouped(std::numeric_limits<std::uint64_t>::max()),
            "18,446,744,073,709,551,615");
}

TEST(FormatValue, UnitsOfMetrics) {
  EXPECT_EQ(format_value(0.331, "s"), "331 ms");
  EXPECT_EQ(format_value(1500, "ns"), "1.5 us");
  EXPECT_EQ(format_value(1500, "us"), "1.5 ms");
  EXPECT_EQ(format_value(1500, "ms"), "1.5 s");
  EXPECT_EQ(format_value(87228, "1/s"), "87.2 k/s");
  EXPECT_EQ(format_value(0.1, "1/s"), "0.1/s");
  EXPECT_EQ(format_value(512000, "bytes/s"), "500 KiB/s");
  EXPECT_EQ(format_value(4096, "bytes"), "4 KiB");
  EXPECT_EQ(format_value(12.34, "%"), "12.3 %");
  EXPECT_EQ(format_value(-0.5, "%"), "-0.5 %");
  EXPECT_EQ(format_value(42, "1"), "42");
  EXPECT_EQ(format_value(42, ""), "42");
  EXPECT_EQ(format_value(1.2e6, "messages/s"), "1.2 M messages/s");
  EXPECT_EQ(format_value(12, "frobs"), "12 frobs");
}

TEST(FormatValue, SmallValuesAreNeverPrintedAsZero) {
  EXPECT_EQ(format_value(100e-9, "s"), "100 ns");
  EXPECT_EQ(format_value(0.0001, "ms"), "100 ns");
  for (const char* unit : {"s", "ms", "ns", "bytes", "bytes/s", "1/s", "1", "%", "messages/s"}) {
    for (int exponent = -290; exponent <= 290; ++exponent) {
      const std::string text = format_value(1.234 * std::pow(10, exponent), unit);
      EXPECT_GT(std::stod(text), 0) << unit << " " << exponent << ": " << text;
      EXPECT_LE(text.size(), 24U) << text;
    }
  }
}

TEST(FormatValue, NoValueIsNotANumberOnPaper) {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(format_value(value, "s"), "n/a");
    EXPECT_EQ(format_value(value, "bytes/s"), "n/a");
    EXPECT_EQ(format_duration(value), "n/a");
    EXPECT_EQ(format_bytes(value), "n/a");
    EXPECT_EQ(format_count(value), "n/a");
  }
}

TEST(RoundTrip, WhatIsPrintedReadsBackAsTheSameNumber) {
  for (const std::uint64_t bytes : {1ULL, 512ULL, 4096ULL, 1536ULL, 3ULL << 20, 5ULL << 40}) {
    EXPECT_EQ(parse_bytes(format_bytes(static_cast<double>(bytes))), bytes);
  }
  for (const std::int64_t ns : std::vector<std::int64_t>{
           0, 1, 1500, 250'000'000, 60 * second, 90 * second, 5400 * second, 86400 * second}) {
    EXPECT_EQ(parse_duration_ns(format_duration(static_cast<double>(ns))), ns);
  }
  for (const std::uint64_t count :
       {0ULL, 7ULL, 9999ULL, 20'000ULL, 1'500'000ULL, 3'000'000'000ULL}) {
    EXPECT_EQ(parse_count(format_count(static_cast<double>(count))), count);
  }
  for (const double rate : {0.1, 0.5, 12.0, 87200.0, 1e7}) {
    EXPECT_DOUBLE_EQ(parse_rate(format_value(rate, "1/s")), rate);
  }
}

}  // namespace
}  // namespace krepro
