#include "suite/compare/compare_command.h"

#include <fmt/core.h>

#include <array>
#include <fstream>
#include <utility>

#include "common/base/error.h"
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

int run_and_print_self_test(std::size_t tables) {
  const SelfTestReport report = run_self_test(tables, 1);
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
  if (arguments.self_test) return run_and_print_self_test(*arguments.self_test);
  if (arguments.paths.size() == 1 && arguments.paths[0].extension() == ".csv") {
    const PublishedTable table = read_published_table(arguments.paths[0]);
    write_report(render(as_comparison(table), arguments.format), arguments.out);
    return 0;
  }
  std::vector<InputPath> inputs;
  for (const std::filesystem::path& path : arguments.paths) inputs.push_back(read_input(path));
  const std::vector<Side> sides = make_sides(std::move(inputs), arguments.base);
  Comparison comparison = compare_sides(sides, arguments.options);
  if (!arguments.against.empty()) {
    set_against(read_published_table(arguments.against),
                {arguments.against_column, arguments.agreement}, sides, comparison);
  }
  write_report(render(comparison, arguments.format), arguments.out);
  return exit_status(comparison);
}

}  // namespace krepro
