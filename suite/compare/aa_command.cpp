#include "suite/compare/aa_command.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/base/error.h"
#include "suite/compare/aa.h"
#include "suite/compare/sides.h"
#include "suite/record/wall_clock.h"

namespace krepro {
namespace {

constexpr std::size_t splits = 500;

bool is_input(const std::string& what) {
  std::error_code error;
  return std::filesystem::path(what).extension() == ".jsonl" ||
         std::filesystem::is_directory(what, error);
}

/// krepro-results/aa-20261130T124603Z.jsonl
std::filesystem::path new_result_path() {
  std::string time = utc_now();
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  const std::filesystem::path directory = default_results_directory;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  return directory / ("aa-" + time + ".jsonl");
}

void print_analysis(Side side) {
  for (const RunFacts& run : side.runs) {
    if (run.label == side.label) continue;
    throw usage_error(
        fmt::format("aa is about one kernel; the files hold {} and {}", side.label, run.label));
  }
  const Table table = make_table({side, side}, {side.label, side.label}, {});
  std::vector<SideRow> rows;
  for (const TableRow& row : table.rows) rows.push_back(row.sides[0]);
  fmt::print("{}", aa_report(compare_with_itself(rows, splits, 1), side.label));
}

}  // namespace

int aa_command(const AaArguments& arguments) {
  if (arguments.what.empty()) throw usage_error("aa: which profile, or which run files?");
  Side side;
  int status = 0;
  if (std::all_of(arguments.what.begin(), arguments.what.end(), is_input)) {
    for (const std::string& what : arguments.what) {
      InputPath input = read_input(what);
      side.runs.insert(side.runs.end(), input.runs.begin(), input.runs.end());
    }
  } else {
    if (arguments.what.size() > 1) throw usage_error("aa: one profile at a time");
    RunArguments run = arguments.run;
    run.profile = arguments.what.front();
    if (run.out.empty()) run.out = new_result_path();
    status = run_command(run);
    if (status != 0 && status != 1) return status;
    side.runs = read_input(run.out).runs;
    fmt::print("\n");
  }
  side.label = side.runs.front().label;
  print_analysis(std::move(side));
  return status;
}

}  // namespace krepro
