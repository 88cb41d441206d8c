// Reading of run files: untrusted input (they are mailed around), so every field is checked.
#include <fmt/core.h>

#include <fstream>
#include <sstream>
#include <string_view>

#include "common/base/error.h"
#include "suite/record/run_file.h"

namespace krepro {
namespace {

Error line_error(const std::filesystem::path& path, std::size_t number, const std::string& what) {
  return usage_error(fmt::format("{}:{}: {}", path.string(), number, what));
}

void read_run_line(RunFile& file, const nlohmann::json& line) {
  const auto schema = line.find("schema");
  if (schema == line.end() || !schema->is_number_integer()) {
    throw usage_error("not a run file of krepro: no schema version");
  }
  if (schema->get<std::int64_t>() != run_file_schema_version) {
    throw usage_error(fmt::format("schema version {}, this krepro reads {}", schema->dump(),
                                  run_file_schema_version),
                      "use the krepro that wrote it, or a newer one");
  }
  const auto label = line.find("label");
  if (label == line.end() || !label->is_string()) throw usage_error("the run line has no label");
  file.label = label->get<std::string>();
  const auto simulated = line.find("simulated");
  file.simulated = simulated != line.end() && simulated->is_boolean() && simulated->get<bool>();
  const auto plan = line.find("plan");
  if (plan == line.end()) throw usage_error("the run line has no plan");
  file.plan = plan_from_json(*plan);
  file.run = line;
}

void read_line(RunFile& file, const nlohmann::json& line) {
  const auto type = line.is_object() ? line.find("type") : line.end();
  if (!line.is_object() || type == line.end() || !type->is_string()) {
    throw usage_error("not a line of a run file: it has no type");
  }
  const std::string& name = type->get_ref<const std::string&>();
  const bool first = file.run.is_null();
  if (first != (name == "run")) {
    throw usage_error(first ? "not a run file of krepro: the first line is not the run line"
                            : "a second run line");
  }
  if (name == "run") {
    read_run_line(file, line);
  } else if (name == "boot") {
    if (!line.contains("boot_id") || !line["boot_id"].is_string()) {
      throw usage_error("the boot line has no boot_id");
    }
    file.boots.push_back(line);
  } else if (name == "sample") {
    file.trials.push_back(recorded_trial_from_json(line));
  } else if (name == "note") {
    file.notes.push_back(line);
  }
  // Further types are of later versions, which may add lines but not change these.
}

}  // namespace

RunFile parse_run_file(const std::string& text, const std::filesystem::path& path) {
  RunFile file;
  file.path = path;
  std::size_t number = 0;
  std::size_t start = 0;
  while (start < text.size()) {
    ++number;
    const std::size_t newline = text.find('\n', start);
    const std::size_t end = newline == std::string::npos ? text.size() : newline;
    const std::string_view line(text.data() + start, end - start);
    const bool last = end + 1 >= text.size();
    start = end + 1;
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded()) {
      if (!last || number == 1) throw line_error(path, number, "not JSON");
      file.torn = true;
      break;
    }
    try {
      read_line(file, json);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}:{}: {}", path.string(), number, error.what()),
                  error.remedy());
    }
  }
  if (file.run.is_null()) throw line_error(path, 1, "not a run file of krepro: it is empty");
  return file;
}

RunFile read_run_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw usage_error(fmt::format("{} is a directory, not a run file", path.string()));
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw system_error(fmt::format("cannot read {}", path.string()), errno);
  std::ostringstream text;
  text << stream.rdbuf();
  if (stream.bad()) throw system_error(fmt::format("cannot read {}", path.string()), errno);
  return parse_run_file(text.str(), path);
}

}  // namespace krepro
