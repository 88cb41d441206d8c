#include "suite/bundle/bundle.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "common/base/error.h"
#include "suite/bundle/scrub.h"
#include "suite/compare/comparison.h"
#include "suite/compare/reports.h"
#include "suite/report/summary_table.h"

namespace krepro {
namespace {

using nlohmann::json;

constexpr const char* data_begin = "-----BEGIN KREPRO BUNDLE-----";
constexpr const char* data_end = "-----END KREPRO BUNDLE-----";
constexpr std::uintmax_t largest_bundle_bytes = std::uintmax_t{256} << 20U;

std::string read_text(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > largest_bundle_bytes) {
    throw usage_error(fmt::format("{}: too large", path.string()));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw system_error(fmt::format("cannot read {}", path.string()), errno);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> run_files(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::filesystem::path> in_directory;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() == ".jsonl") in_directory.push_back(entry.path());
    }
    std::sort(in_directory.begin(), in_directory.end());
    files.insert(files.end(), in_directory.begin(), in_directory.end());
  }
  if (files.empty()) throw usage_error("no run file to bundle");
  return files;
}

/// Hosts get numbers, so that they still tell blocks apart.
class HostNames {
 public:
  std::string number_of(const std::string& host) {
    const auto known = std::find(hosts_.begin(), hosts_.end(), host);
    if (known == hosts_.end()) hosts_.push_back(host);
    const auto place = std::find(hosts_.begin(), hosts_.end(), host) - hosts_.begin();
    return fmt::format("host-{}", place + 1);
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return hosts_; }

 private:
  std::vector<std::string> hosts_;
};

std::string host_of(const json& boot) {
  const auto host = boot.find("host");
  if (host == boot.end() || !host->is_object()) return {};
  const auto value = host->find("value");
  return value != host->end() && value->is_string() ? value->get<std::string>() : std::string();
}

/// The lines of a run file without what tells who and where.
std::string scrub_run(const std::string& text, const Scrubber& scrubber, HostNames& hosts) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    json value = json::parse(line);
    const std::string host = value.is_object() ? host_of(value) : "";
    // The profile goes on being what it was, byte for byte, but for names in it.
    value = scrubber.scrub(value);
    if (!host.empty()) value["host"] = {{"value", hosts.number_of(host)}, {"identity", true}};
    result += value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  }
  return result;
}

/// "krepro run quick --set a=b": how a run was started.
std::string command_of(const json& run) {
  const json settings = run.value("settings", json::object());
  const json profile = run.value("profile", json::object());
  std::string command = "krepro run " + profile.value("name", std::string("PROFILE"));
  for (const auto& [option, key] : {std::pair{"--set", "set"}, {"--only", "only"}}) {
    const json list = settings.value(key, json::array());
    for (const json& value : list) {
      if (value.is_string()) {
        command += fmt::format(" {} '{}'", option, value.get<std::string>());
      }
    }
  }
  for (const char* key : {"repetitions", "warmups", "runtime"}) {
    const auto value = settings.find(key);
    if (value == settings.end()) continue;
    command += fmt::format(" --{} {}", key,
                           value->is_string() ? value->get<std::string>() : value->dump());
  }
  if (settings.value("order", std::string("interleaved")) != "interleaved") {
    command += " --order " + settings.value("order", std::string());
  }
  if (settings.value("fit", false)) command += " --fit";
  return command + " --label " + run.value("label", std::string("LABEL"));
}

std::string summary_sentence(const Comparison& comparison) {
  const ComparedRow* largest = nullptr;
  double change = 0;
  for (const ComparedRow& row : comparison.rows) {
    for (const Cell& cell : row.cells) {
      if (cell.test.verdict != Verdict::worse || cell.test.difference->estimate >= change) continue;
      change = cell.test.difference->estimate;
      largest = &row;
    }
  }
  const std::string& base = comparison.columns[0].label;
  const std::string& other = comparison.columns[1].label;
  if (largest == nullptr) {
    return fmt::format("{} against {}: no row resolved as worse", other, base);
  }
  return fmt::format("{} is slower than {} in {} of {} rows, by up to {:.1f} % ({})", other, base,
                     comparison.summaries[0].worse, comparison.rows.size(),
                     -100 * change_of(change), largest->name);
}

std::string kernels_text(const std::vector<RunFile>& runs) {
  std::set<std::string> lines;
  for (const RunFile& run : runs) {
    const json kernel = run.run.value("kernel", json::object());
    lines.insert(fmt::format(
        "  {}: Linux {} {} (build id {:.16})", run.label, kernel.value("release", std::string("?")),
        kernel.value("version", std::string()), kernel.value("build_id", std::string("unknown"))));
  }
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::string header_text(const BundleArguments& arguments, const std::vector<RunFile>& runs,
                        const std::string& summary) {
  std::set<std::string> machines;
  std::set<std::string> commands;
  std::set<std::string> links;
  for (const RunFile& run : runs) {
    machines.insert("  " + run.run.value("machine", std::string("?")));
    commands.insert("  " + command_of(run.run));
    if (!run.plan.report.empty()) links.insert("  " + run.plan.report);
  }
  const bool regression = summary.find("slower") != std::string::npos;
  std::string text = fmt::format("Subject: {}{}\n\n{}\n\n", regression ? "[REGRESSION] " : "",
                                 summary, wrap_text(summary + ".", ""));
  if (!arguments.introduced.empty()) {
    text += fmt::format("#regzbot introduced: {}\n\n", arguments.introduced);
  }
  text += "Kernels:\n" + kernels_text(runs);
  text += fmt::format("\nMachine:\n{}\n", fmt::join(machines, "\n"));
  text += fmt::format("\nTo reproduce, on each kernel (or: krepro run --like THIS_FILE):\n{}\n",
                      fmt::join(commands, "\n"));
  if (!links.empty()) text += fmt::format("\nThe profile follows:\n{}\n", fmt::join(links, "\n"));
  return text + "\n";
}

void add_run_facts(const RunFile& run, InputPath& input) {
  for (RunFacts& facts : collect_run_facts(run)) input.runs.push_back(std::move(facts));
}

bool has_two_labels(const std::vector<RunFile>& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const RunFile& run) { return run.label != runs.front().label; });
}

std::string report_text(const BundleArguments& arguments, const std::vector<RunFile>& runs) {
  std::string summary = arguments.summary;
  std::string body;
  if (has_two_labels(runs)) {
    InputPath input{"bundle", {}};
    for (const RunFile& run : runs) add_run_facts(run, input);
    const std::string base = arguments.base.empty() ? runs.front().label : arguments.base;
    const Comparison comparison = compare_sides(make_sides({input}, base), {});
    if (summary.empty()) summary = summary_sentence(comparison);
    body = text_report(comparison);
  } else {
    if (summary.empty()) summary = "measurements of " + runs.front().label;
    for (const RunFile& run : runs) body += summary_text(run) + "\n";
  }
  return header_text(arguments, runs, summary) + body;
}

void add_host(Scrubber& scrubber, const std::string& host) {
  scrubber.add_name(host, "HOST");
  scrubber.add_name(host.substr(0, host.find('.')), "HOST");
}

/// The hosts of the URLs that the options of a run's rows name.
void add_hosts_of_options(Scrubber& scrubber, const json& run) {
  const json rows = run.value("/plan/benchmarks"_json_pointer, json::array());
  for (const json& row : rows) {
    const json options = row.value("options", json::object());
    for (const json& value : options) {
      if (!value.is_string()) continue;
      const std::string text = value;
      const std::size_t start = text.find("://");
      if (start == std::string::npos) continue;
      const std::string host =
          text.substr(start + 3, text.find_first_of(":/#?", start + 3) - (start + 3));
      // Addresses are found wherever they stand.
      const bool named = host.find_first_not_of("0123456789.") != std::string::npos;
      if (named && host != "localhost" && host != "unix") add_host(scrubber, host);
    }
  }
}

Scrubber make_scrubber(const std::vector<std::string>& texts) {
  Scrubber scrubber;
  for (const std::string& name : names_of_user()) scrubber.add_name(name, "NAME");
  for (const std::string& text : texts) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const bool tells =
          line.find("\"boot\"") != std::string::npos || line.find("\"plan\"") != std::string::npos;
      if (!tells) continue;
      const json value = json::parse(line, nullptr, false);
      if (!value.is_object()) continue;
      add_host(scrubber, host_of(value));
      add_hosts_of_options(scrubber, value);
    }
  }
  return scrubber;
}

std::string text_of(const FileSet& files) {
  std::string text = files.at("report.txt");
  for (const auto& [name, content] : files) {
    if (name.ends_with(".toml")) text += fmt::format("\n{}:\n\n{}", name, content);
  }
  return text + fmt::format(
                    "\nThe run files, for krepro run --like and krepro compare --like:\n\n"
                    "{}\n{}{}\n",
                    data_begin, to_base64(pack(files)), data_end);
}

/// A run file with nothing of its samples but what a comparison is made of.
std::string slim_run(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    json value = json::parse(line);
    if (value.value("type", std::string()) == "sample") {
      json kept = json::object();
      for (const char* key : {"generator", "metrics", "operations", "asked", "achieved"}) {
        if (value["sample"].contains(key)) kept[key] = value["sample"][key];
      }
      if (value["sample"].is_object()) value["sample"] = kept;
      value["counters"] = json::object();
      value["harness"] = json::object();
      value.erase("server");
      value.erase("log");
    }
    result += value.dump() + "\n";
  }
  return result;
}

std::string text_bundle(FileSet files) {
  std::string text = text_of(files);
  if (text.size() > largest_text_bundle_bytes) {
    for (auto& [name, content] : files) {
      if (name.ends_with(".jsonl")) content = slim_run(content);
    }
    files["report.txt"] +=
        "\nTo stay below 100 kB, histograms, series and counters of the trials are left out.\n";
    text = text_of(files);
  }
  if (text.size() > largest_text_bundle_bytes) {
    throw usage_error(fmt::format("--text: {} bytes are more than the {} that lists take",
                                  text.size(), largest_text_bundle_bytes),
                      "leave --text out: a .tar.zst can be linked to");
  }
  return text;
}

void write_new_file(const std::filesystem::path& path, const std::string& content) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) throw system_error(fmt::format("cannot create {}", path.string()), errno);
  std::size_t written = 0;
  while (written < content.size()) {
    const ssize_t count = write(descriptor, content.data() + written, content.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = errno;
      close(descriptor);
      std::filesystem::remove(path);
      throw system_error(fmt::format("cannot write {}", path.string()), error);
    }
    written += static_cast<std::size_t>(count);
  }
  close(descriptor);
}

}  // namespace

FileSet make_bundle(const BundleArguments& arguments) {
  std::vector<std::string> texts;
  const std::vector<std::filesystem::path> paths = run_files(arguments.paths);
  for (const std::filesystem::path& path : paths) texts.push_back(read_text(path));
  const Scrubber scrubber = make_scrubber(texts);
  HostNames hosts;
  FileSet files;
  std::vector<RunFile> runs;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    // Whatever is wrong with a file is said with its own name.
    require_whole(parse_run_file(texts[i], paths[i]));
    const std::string text =
        arguments.keep_identity ? texts[i] : scrub_run(texts[i], scrubber, hosts);
    const std::string name = fmt::format("run-{:02}.jsonl", i + 1);
    runs.push_back(parse_run_file(text, name));
    files[name] = text;
    const json profile = runs.back().run.value("profile", json::object());
    std::string profile_name = profile.value("name", std::string("profile"));
    std::replace(profile_name.begin(), profile_name.end(), '/', '-');
    if (profile_name.ends_with(".toml")) profile_name.resize(profile_name.size() - 5);
    files["profile-" + profile_name + ".toml"] = profile.value("text", std::string());
  }
  files["report.txt"] = report_text(arguments, runs);
  if (!arguments.keep_identity) files["report.txt"] = scrubber.scrub(files["report.txt"]);
  return files;
}

int bundle_command(const BundleArguments& arguments) {
  const FileSet files = make_bundle(arguments);
  const std::filesystem::path out =
      !arguments.out.empty()
          ? arguments.out
          : std::filesystem::path(arguments.text ? "krepro-bundle.txt" : "krepro-bundle.tar.zst");
  const std::string content = arguments.text ? text_bundle(files) : pack(files);
  write_new_file(out, content);
  fmt::print("written to {} ({} bytes)\n", out.string(), content.size());
  if (!arguments.keep_identity) {
    fmt::print(
        "host names, users, addresses and serial numbers are taken out; look through it all "
        "the same\n");
  }
  return 0;
}

Bundle read_bundle(const std::filesystem::path& path) {
  std::string content = read_text(path);
  const std::size_t begin = content.find(data_begin);
  if (begin != std::string::npos) {
    const std::size_t start = begin + std::string_view(data_begin).size();
    const std::size_t end = content.find(data_end, start);
    if (end == std::string::npos) {
      throw usage_error(fmt::format("{}: its data is cut off", path.string()));
    }
    content = from_base64(content.substr(start, end - start), path.string());
  }
  Bundle bundle;
  bundle.files = unpack(content, path.string());
  for (const auto& [name, text] : bundle.files) {
    if (name.ends_with(".jsonl")) bundle.runs.push_back(parse_run_file(text, path / name));
    if (name == "report.txt") bundle.report = text;
  }
  if (bundle.runs.empty()) {
    throw usage_error(fmt::format("{}: not a bundle of krepro: no run file in it", path.string()));
  }
  return bundle;
}

InputPath bundle_input(const Bundle& bundle, const std::filesystem::path& path) {
  InputPath input{path, {}};
  for (const RunFile& run : bundle.runs) add_run_facts(run, input);
  return input;
}

}  // namespace krepro
