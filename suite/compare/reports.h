// The formats of a comparison. Each is a pure function of it; text and markdown are ASCII, and text
// is at most 78 columns wide, so that it survives being quoted in mail.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "suite/compare/comparison.h"

namespace krepro {

[[nodiscard]] std::string text_report(const Comparison& comparison);
[[nodiscard]] std::string markdown_report(const Comparison& comparison);
/// One line per row and column, with a header line; RFC 4180.
[[nodiscard]] std::string csv_report(const Comparison& comparison);
/// docs/schema/comparison.schema.json
[[nodiscard]] nlohmann::json json_report(const Comparison& comparison);
/// One file that needs nothing else: no network, no script.
[[nodiscard]] std::string html_report(const Comparison& comparison);

}  // namespace krepro
