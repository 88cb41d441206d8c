// Reading of run files: untrusted input (they are mailed around), so every field is checked.
#include "suite/record/run_file_reader.h"

#include <fmt/core.h>

#include <fstream>
#include <string_view>

#include "common/base/error.h"

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
  } else if (name == "observation") {
    file.observations.push_back(line);
  } else if (name == "note") {
    file.notes.push_back(line);
  }
  // Further types are of later versions, which may add lines but not change these.
}

/// Takes a file line by line.
class RunFileParser {
 public:
  RunFileParser(const std::filesystem::path& path, const TrialReducer& reduce) : reduce_(reduce) {
    file_.path = path;
  }

  /// `last`: nothing follows; only then may the line be torn. Returns whether to go on.
  bool add(std::string_view line, bool last) {
    ++number_;
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded()) {
      if (!last || number_ == 1) throw line_error(file_.path, number_, "not JSON");
      file_.torn = true;
      return false;
    }
    try {
      const std::size_t trials = file_.trials.size();
      read_line(file_, json);
      if (reduce_ && file_.trials.size() > trials) reduce_(file_, file_.trials.back());
    } catch (const Error& error) {
      throw Error(error.code(),
                  fmt::format("{}:{}: {}", file_.path.string(), number_, error.what()),
                  error.remedy());
    }
    return true;
  }

  RunFile finish() {
    if (file_.run.is_null()) {
      throw line_error(file_.path, 1, "not a run file of krepro: it is empty");
    }
    return std::move(file_);
  }

 private:
  const TrialReducer& reduce_;
  RunFile file_;
  std::size_t number_ = 0;
};

}  // namespace

RunFile parse_run_file(const std::string& text, const std::filesystem::path& path) {
  const TrialReducer keep_all;
  RunFileParser parser(path, keep_all);
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t newline = text.find('\n', start);
    const std::size_t end = newline == std::string::npos ? text.size() : newline;
    const std::string_view line(text.data() + start, end - start);
    start = end + 1;
    if (!parser.add(line, start >= text.size())) break;
  }
  return parser.finish();
}

void require_whole(const RunFile& file) {
  if (!file.torn) return;
  const std::string path = file.path.string();
  throw usage_error(path + ": the last line is torn: the run was cut short",
                    fmt::format("finish it with krepro run PROFILE --resume {0}, or leave that "
                                "line out: sed -i '$d' {0}",
                                path));
}

RunFile read_run_file(const std::filesystem::path& path) {
  return read_run_file(path, TrialReducer());
}

RunFile read_run_file(const std::filesystem::path& path, const TrialReducer& reduce) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw usage_error(fmt::format("{} is a directory, not a run file", path.string()));
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw system_error(fmt::format("cannot read {}", path.string()), errno);
  RunFileParser parser(path, reduce);
  std::string line;
  while (std::getline(stream, line)) {
    if (!parser.add(line, stream.peek() == std::ifstream::traits_type::eof())) break;
  }
  if (stream.bad()) throw system_error(fmt::format("cannot read {}", path.string()), errno);
  return parser.finish();
}

}  // namespace krepro
