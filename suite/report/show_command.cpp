// Prints what a run file holds.
#include "suite/report/show_command.h"

#include <fmt/core.h>

#include <set>

#include "common/base/error.h"
#include "common/base/units.h"
#include "suite/environment/environment.h"
#include "suite/report/output.h"
#include "suite/report/signature_text.h"
#include "suite/report/summary_table.h"

namespace krepro {
namespace {

std::string text_of(const nlohmann::json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() && found->is_string()
             ? found->get<std::string>()
             : std::string();
}

std::string plural(std::size_t count, const std::string& word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

}  // namespace

std::string run_heading(const RunFile& file) {
  const nlohmann::json kernel = file.run.value("kernel", nlohmann::json::object());
  const std::string release = "Linux " + text_of(kernel, "release");
  const std::string label =
      file.label == text_of(kernel, "release") ? release : file.label + " (" + release + ")";
  std::string text =
      wrap_text(fmt::format("{}: {}, {}", file.path.string(), label, text_of(file.run, "machine")),
                "  ") +
      "\n";
  text += wrap_text(fmt::format("{}: {}, {}, {}, krepro {}, {}", file.plan.profile_name,
                                plural(file.plan.benchmarks.size(), "benchmark"),
                                plural(file.plan.trials.size(), "trial"),
                                plural(file.boots.size(), "boot"), text_of(file.run, "krepro"),
                                text_of(file.run, "started")),
                    "  ") +
          "\n";
  if (!file.plan.report.empty()) text += "reproduces: " + file.plan.report + "\n";
  std::set<std::string> said;
  for (const nlohmann::json& note : file.notes) {
    const std::string words = text_of(note, "text");
    if (words.empty() || !said.insert(words).second) continue;
    text += wrap_text("note: " + words, "      ") + "\n";
  }
  return text;
}

std::string observations_text(const RunFile& file) {
  std::string text;
  for (const nlohmann::json& each : file.observations) {
    const nlohmann::json window = each.value("window", nlohmann::json::object());
    const std::int64_t length_ns =
        window.value("sample_ns", std::int64_t{0}) - window.value("go_ns", std::int64_t{0});
    const std::string status = text_of(each, "status");
    text +=
        wrap_text(fmt::format("  {}: {}{}: {}", text_of(each, "benchmark"),
                              status == "valid" ? "a window of " : status,
                              status == "valid" ? format_duration(static_cast<double>(length_ns))
                                                : ": " + text_of(each, "reason"),
                              text_of(each, "directory")),
                  "    ") +
        "\n";
  }
  return text.empty() ? text : "\nobserved, in no mean:\n" + text;
}

int show_command(const ShowArguments& arguments) {
  bool first = true;
  for (const std::filesystem::path& path : arguments.files) {
    const RunFile file = read_run_file(path);
    print_text(fmt::format("{}{}\n{}{}", first ? "" : "\n", run_heading(file),
                           arguments.signature ? signature_text(file) : summary_text(file),
                           observations_text(file)));
    first = false;
  }
  return static_cast<int>(ExitCode::ok);
}

}  // namespace krepro
