#include "suite/compare/compare_command.h"

#include <fmt/core.h>

#include <array>
#include <fstream>
#include <utility>

#include "common/base/error.h"
#include "suite/bundle/bundle.h"
#include "suite/catalog/catalog.h"
#include "suite/compare/error_rates.h"
#include "suite/compare/reference.h"
#include "suite/compare/reports.h"

namespace krepro {
namespace {

constexpr std::array<std::pair<const char*, ReportFormat>, 5> formats = {
    {{"text", ReportFormat::text},
     {"markdown", ReportFormat::markdown},
     {"csv", ReportFormat::csv},
     {"json", ReportFormat::json},
     {"html", ReportFormat::html}}};

std::string render(const Comparison& comparison, ReportFormat format) {
  switch (format) {
    case ReportFormat::text:
      return text_report(comparison);
    case ReportFormat::markdown:
      return markdown_report(comparison);
    case ReportFormat::csv:
      return csv_report(comparison);
    case ReportFormat::json:
      // Names come from files of others, which need not be UTF-8.
      return json_report(comparison).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) +
             "\n";
    case ReportFormat::html:
      return html_report(comparison);
  }
  return {};
}

void write_report(const std::string& report, const std::filesystem::path& out) {
  if (out.empty()) {
    fmt::print("{}", report);
    return;
  }
  errno = 0;
  std::ofstream stream(out, std::ios::binary | std::ios::trunc);
  stream << report;
  stream.close();
  if (!stream) throw system_error(fmt::format("cannot write {}", out.string()), errno);
}

/// --like: what the sender of a bundle measured, beside what was measured here.
void set_reporter_beside(const CompareArguments& arguments, const std::vector<Side>& sides,
                         Comparison& comparison) {
  const Bundle bundle = read_bundle(arguments.like);
  const std::string base = bundle.runs.front().label;
  const std::vector<Side> theirs = make_sides({bundle_input(bundle, arguments.like)}, base);
  CompareOptions options = arguments.options;
  options.only.clear();
  const Comparison reported = compare_sides(theirs, options);
  PublishedTable table = as_published_table(reported);
  table.path = arguments.like;
  table.facts["source"] = fmt::format("{}: {} on {}", arguments.like.filename().string(), base,
                                      reported.columns[0].machine);
  set_against(table, {arguments.against_column, arguments.agreement}, sides, comparison);
}

/// A path, or the name of a table shipped beside the profiles.
std::filesystem::path find_table(const std::filesystem::path& path) {
  if (std::filesystem::exists(path)) return path;
  const std::filesystem::path shipped = find_profiles_directory() / path;
  return std::filesystem::exists(shipped) ? shipped : path;
}

int run_and_print_self_test(std::size_t tables, std::uint64_t seed) {
  const SelfTestReport report = run_self_test(tables, seed);
  fmt::print("{}", report.text);
  return report.all_hold ? 0 : 1;
}

}  // namespace

ReportFormat parse_report_format(const std::string& text) {
  std::vector<std::string> names;
  for (const auto& [name, format] : formats) {
    if (text == name) return format;
    names.emplace_back(name);
  }
  const std::string near = nearest(text, names);
  throw usage_error(fmt::format("\"{}\" is not a format: text, markdown, csv, json or html", text),
                    near.empty() ? "" : fmt::format("did you mean {}?", near));
}

Rule parse_rule(const std::string& text) {
  if (text == "moderated") return Rule::moderated;
  if (text == "overlap") return Rule::overlap;
  throw usage_error(fmt::format("\"{}\" is not a rule: moderated or overlap", text));
}

int compare_command(const CompareArguments& arguments) {
  if (arguments.self_test) {
    return run_and_print_self_test(*arguments.self_test, arguments.self_test_seed);
  }
  if (arguments.paths.size() == 1 && arguments.paths[0].extension() == ".csv") {
    const PublishedTable table = read_published_table(find_table(arguments.paths[0]));
    write_report(render(as_comparison(table), arguments.format), arguments.out);
    return 0;
  }
  std::vector<InputPath> inputs;
  for (const std::filesystem::path& path : arguments.paths) inputs.push_back(read_input(path));
  const std::vector<Side> sides = make_sides(std::move(inputs), arguments.base);
  if (!arguments.against.empty() && !arguments.like.empty()) {
    throw usage_error("compare: --against and --like are two references; give one");
  }
  Comparison comparison = compare_sides(sides, arguments.options);
  if (!arguments.against.empty()) {
    set_against(read_published_table(find_table(arguments.against)),
                {arguments.against_column, arguments.agreement}, sides, comparison);
  }
  if (!arguments.like.empty()) set_reporter_beside(arguments, sides, comparison);
  write_report(render(comparison, arguments.format), arguments.out);
  return exit_status(comparison);
}

}  // namespace krepro
