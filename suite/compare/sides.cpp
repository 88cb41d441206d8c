#include "suite/compare/sides.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "common/base/error.h"
#include "suite/imports/foreign_results.h"

namespace krepro {
namespace {

std::vector<std::filesystem::path> files_of(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && !name.starts_with(".")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

InputPath read_directory(const std::filesystem::path& directory) {
  InputPath input{directory, {}};
  // Logs and tables beside run files are no results.
  for (const std::filesystem::path& file : files_of(directory)) {
    if (file.extension() != ".jsonl") continue;
    for (RunFacts& run : collect_run_facts(file)) input.runs.push_back(std::move(run));
  }
  if (!input.runs.empty()) return input;
  std::string label = directory.filename().string();
  if (label.empty()) label = directory.parent_path().filename().string();
  input.runs.push_back(import_directory(directory, label));
  return input;
}

std::set<std::string> labels_of(const std::vector<RunFacts>& runs) {
  std::set<std::string> labels;
  for (const RunFacts& run : runs) labels.insert(run.label);
  return labels;
}

/// Paths that all hold one and the same label are told apart by their names.
void name_by_path(std::vector<InputPath>& inputs) {
  std::set<std::string> labels;
  for (const InputPath& input : inputs) labels.merge(labels_of(input.runs));
  if (inputs.size() < 2 || labels.size() != 1) return;
  for (InputPath& input : inputs) {
    std::string name = input.path.stem().string();
    if (name.empty()) name = input.path.parent_path().filename().string();
    for (RunFacts& run : input.runs) run.label = name;
  }
}

void check_one_kernel(const Side& side) {
  const RunFacts* first = nullptr;
  for (const RunFacts& run : side.runs) {
    if (run.build_id.empty()) continue;
    if (first == nullptr) first = &run;
    if (run.build_id == first->build_id) continue;
    throw usage_error(
        fmt::format("label \"{}\" has two kernels: build id {:.12} in {}, {:.12} in {}", side.label,
                    first->build_id, first->path.string(), run.build_id, run.path.string()),
        "one label is one kernel: run with another --label, or keep the files apart");
  }
}

std::string choose_base(const std::vector<InputPath>& inputs, const std::string& asked,
                        const std::vector<std::string>& labels) {
  if (!asked.empty()) {
    if (std::find(labels.begin(), labels.end(), asked) != labels.end()) return asked;
    throw usage_error(
        fmt::format("no run has the label \"{}\"; the files hold: {}", asked,
                    fmt::join(labels, ", ")),
        nearest(asked, labels).empty() ? "" : "did you mean \"" + nearest(asked, labels) + "\"?");
  }
  const std::set<std::string> first = labels_of(inputs.front().runs);
  if (first.size() == 1) return *first.begin();
  throw usage_error(fmt::format("{} holds several labels: {}", inputs.front().path.string(),
                                fmt::join(first, ", ")),
                    "name the base with --base LABEL");
}

}  // namespace

InputPath read_input(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw usage_error(fmt::format("{}: no such file or directory", path.string()));
  }
  if (std::filesystem::is_directory(status)) return read_directory(path);
  return {path, collect_run_facts(path)};
}

std::vector<Side> make_sides(std::vector<InputPath> inputs, const std::string& base_label) {
  if (inputs.empty()) throw usage_error("nothing to compare");
  name_by_path(inputs);
  std::vector<std::string> labels;  // In the order of the command line.
  for (const InputPath& input : inputs) {
    for (const RunFacts& run : input.runs) {
      if (std::find(labels.begin(), labels.end(), run.label) == labels.end()) {
        labels.push_back(run.label);
      }
    }
  }
  const std::string base = choose_base(inputs, base_label, labels);
  if (labels.size() < 2) {
    throw usage_error(fmt::format("only one label: \"{}\"; a comparison needs two", base),
                      "run the other kernel with another --label, or give its run file too");
  }
  std::stable_partition(labels.begin(), labels.end(),
                        [&](const std::string& label) { return label == base; });
  std::vector<Side> sides;
  for (const std::string& label : labels) {
    Side side{label, {}};
    for (InputPath& input : inputs) {
      for (RunFacts& run : input.runs) {
        if (run.label == label) side.runs.push_back(std::move(run));
      }
    }
    check_one_kernel(side);
    // Files of one boot are paired in this order (--paired).
    std::stable_sort(
        side.runs.begin(), side.runs.end(),
        [](const RunFacts& left, const RunFacts& right) { return left.started < right.started; });
    sides.push_back(std::move(side));
  }
  return sides;
}

}  // namespace krepro
