// The comparison as JSON, with every single run; see report.h.
#include <nlohmann/json.hpp>

#include "suite/fidelity/report.h"

namespace krepro::fidelity {

namespace {

template <typename Value>
nlohmann::json optional_json(const std::optional<Value>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

nlohmann::json modes_json(const std::optional<ModePair>& modes) {
  if (!modes) return nullptr;
  return {{"low_median_s", modes->low_median},
          {"high_median_s", modes->high_median},
          {"low_share", modes->low_share}};
}

nlohmann::json finding_json(const Finding& finding) {
  nlohmann::json json = {{"quantity", finding.quantity},
                         {"unit", finding.unit},
                         {"original", optional_json(finding.original)},
                         {"ours", optional_json(finding.ours)},
                         {"verdict", to_string(finding.verdict)},
                         {"reason", finding.reason},
                         {"original_modes", modes_json(finding.original_modes)},
                         {"ours_modes", modes_json(finding.ours_modes)}};
  if (finding.estimate) {
    json["blocks"] = finding.estimate->blocks;
    json["ratio"] = finding.estimate->ratio;
    if (finding.estimate->interval) {
      json["interval"] = {finding.estimate->interval->low, finding.estimate->interval->high};
    }
  }
  return json;
}

nlohmann::json spread_json(const CallSpread& spread) {
  return {{"median", spread.median}, {"low", spread.low}, {"high", spread.high}};
}

nlohmann::json runs_json(const Series& series) {
  nlohmann::json runs = nlohmann::json::array();
  for (const MeasuredRun& run : series.runs) {
    nlohmann::json json = to_json(run.figures);
    json["phase"] = run.phase;
    json["block"] = run.block;
    json["perturbed"] = run.perturbed;
    runs.push_back(std::move(json));
  }
  return runs;
}

const char* stop_name(Stop stop) {
  switch (stop) {
    case Stop::narrow:
      return "narrow enough";
    case Stop::out_of_blocks:
      return "most blocks";
    case Stop::out_of_time:
      return "most time";
    case Stop::go_on:
      break;
  }
  return "ended early";
}

nlohmann::json row_json(const RowResult& row) {
  nlohmann::json findings = nlohmann::json::array();
  for (const Finding& finding : row.findings) findings.push_back(finding_json(finding));
  nlohmann::json calls = nlohmann::json::array();
  for (const CallComparison& call : row.calls) {
    calls.push_back({{"name", call.name},
                     {"original", spread_json(call.original)},
                     {"ours", spread_json(call.ours)},
                     {"verdict", to_string(call.verdict)}});
  }
  nlohmann::json counted = nlohmann::json::object();
  for (const auto& [event, series] : row.counted) counted[event] = runs_json(series);
  return {{"name", row.name},
          {"placement", to_string(row.placement)},
          {"cpus", row.cpus},
          {"arguments", row.arguments},
          {"verdict", to_string(row.verdict)},
          {"reason", row.reason},
          {"notes", row.notes},
          {"ended", stop_name(row.timed.stop)},
          {"findings", std::move(findings)},
          {"system_calls_per_operation", std::move(calls)},
          {"timed_runs", runs_json(row.timed)},
          {"counted_runs", std::move(counted)}};
}

}  // namespace

nlohmann::json report_json(const ReportHead& head, const std::vector<RowResult>& rows) {
  nlohmann::json json_rows = nlohmann::json::array();
  for (const RowResult& row : rows) json_rows.push_back(row_json(row));
  const FidelitySettings& settings = head.settings;
  return {
      {"type", "krepro-fidelity"},
      {"schema", 1},
      {"generator", head.generator},
      {"machine", head.machine},
      {"kernel", head.kernel},
      {"original",
       {{"program", head.original_program},
        {"path", head.original_path},
        {"version", head.original_version},
        {"package", head.original_package}}},
      {"ours", {{"path", head.ours_path}, {"version", head.ours_version}}},
      {"counted", {{"system_calls", head.calls_counted_by}, {"wakeups", head.wakeups_counted_by}}},
      {"settings",
       {{"options", head.options},
        {"half_width", optional_json(settings.half_width)},
        {"max_blocks", settings.max_blocks},
        {"max_time_ns", settings.max_time_ns},
        {"seed", settings.seed},
        {"perturbation",
         settings.perturbation ? nlohmann::json(settings.perturbation->name) : nullptr},
        {"pinned_cpus", settings.pinned_cpus.to_string()},
        {"floating_cpus", settings.floating_cpus.to_string()}}},
      {"bounds",
       {{"time_ratio", {head.about.time_ratio_low, head.about.time_ratio_high}},
        {"time_ratio_floating",
         {time_bounds(head.about, Placement::floating).low,
          time_bounds(head.about, Placement::floating).high}},
        {"system_calls", head.about.syscall_tolerance},
        {"switches", head.about.switches_tolerance}}},
      {"rows", std::move(json_rows)}};
}

}  // namespace krepro::fidelity
