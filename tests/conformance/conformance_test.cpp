// What every generator must do, whatever it loads. A generator is tested here because it is built;
// nothing lists it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "common/base/host_files.h"
#include "common/process/process_tree.h"
#include "common/timing/clock.h"
#include "tests/conformance/generator_run.h"

namespace krepro::conformance {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t second_ns = 1'000'000'000;

class Conformance : public testing::TestWithParam<Program> {};

std::filesystem::path temporary_directory() {
  std::string name =
      (std::filesystem::temp_directory_path() / "krepro-conformance-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  return name;
}

nlohmann::json parsed_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in);
}

bool exists(pid_t pid) { return kill(pid, 0) == 0; }

/// Waits at most 10 s for a process that is not our child to be gone.
bool is_gone_soon(pid_t pid) {
  for (int i = 0; i < 1000 && exists(pid); ++i) usleep(10'000);
  return !exists(pid);
}

TEST_P(Conformance, DescribesItself) {
  const nlohmann::json description = GetParam().describe();
  EXPECT_EQ(description.at("name"), GetParam().name);
  EXPECT_FALSE(description.at("summary").get<std::string>().empty());
  EXPECT_FALSE(description.at("details").get<std::string>().empty());
  EXPECT_FALSE(description.at("source_hash").get<std::string>().empty());
  int primary = 0;
  for (const auto& metric : description.at("metrics")) {
    EXPECT_THAT((std::set<std::string>{"higher", "lower"}), testing::Contains(metric.at("better")));
    primary += metric.at("primary").get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(primary, 1) << "exactly one metric is primary";
  std::set<std::string> names;
  for (const auto& option : description.at("options")) {
    EXPECT_TRUE(names.insert(option.at("name").get<std::string>()).second) << option;
    EXPECT_FALSE(option.at("help").get<std::string>().empty()) << option;
    for (const auto& alias : option.at("aliases")) {
      EXPECT_TRUE(names.insert(alias.get<std::string>()).second) << option;
    }
  }
}

TEST_P(Conformance, HelpNamesEveryOptionAndFitsTheScreen) {
  const CommandOutput output = run(GetParam(), {"--help"});
  EXPECT_EQ(output.end.exit_code(), 0);
  std::istringstream lines(output.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 78U) << line;
  const nlohmann::json description = GetParam().describe();
  for (const auto& option : description.at("options")) {
    EXPECT_THAT(output.out, HasSubstr(option.at("name").get<std::string>()));
  }
}

TEST_P(Conformance, AnUnknownFlagIsWrongUsage) {
  const CommandOutput output = run(GetParam(), {"--no-such-flag"});
  EXPECT_EQ(output.end.exit_code(), 2);
  EXPECT_THAT(output.err, HasSubstr("--no-such-flag"));
  EXPECT_EQ(output.out, "");
}

TEST_P(Conformance, AnUnknownOptionOfConfigureIsWrongUsage) {
  Conversation talk(GetParam(), "load");
  talk.say({{"cmd", "configure"}, {"options", {{"no-such-option", 1}}}});
  const nlohmann::json error = talk.hear("error");
  EXPECT_EQ(error.value("kind", ""), "usage");
  EXPECT_THAT(error.value("message", ""), HasSubstr("no-such-option"));
  EXPECT_EQ(talk.child().wait(10 * second_ns)->exit_code(), 2);
}

TEST_P(Conformance, GarbageOnTheControlPipeIsWrongUsage) {
  Conversation talk(GetParam(), "load");
  talk.say_text("\x01 what?\n");
  EXPECT_EQ(talk.hear("error").value("kind", ""), "usage");
  EXPECT_EQ(talk.child().wait(10 * second_ns)->exit_code(), 2);
}

TEST_P(Conformance, TheExampleGivesAValidSample) {
  std::vector<std::string> arguments = GetParam().example_arguments(false);
  arguments.insert(arguments.end(), {"--json", "-", "--seed", "7"});
  const CommandOutput output = run(GetParam(), arguments);
  if (output.end.exit_code() == 3) GTEST_SKIP() << output.err;
  ASSERT_EQ(output.end.exit_code(), 0) << output.err;
  const nlohmann::json sample = nlohmann::json::parse(output.out);
  EXPECT_EQ(sample.at("generator"), GetParam().name);
  EXPECT_TRUE(sample.at("valid").get<bool>());
  EXPECT_GT(sample.at("operations").get<std::uint64_t>(), 0U);
  EXPECT_GT(sample.at("duration_ns").get<std::int64_t>(), 0);
  EXPECT_EQ(sample.at("seed"), 7);
  EXPECT_FALSE(sample.at("threads").empty());
  const nlohmann::json described = GetParam().describe();
  for (const auto& metric : described.at("metrics")) {
    if (!metric.at("primary").get<bool>()) continue;
    const auto& measured = sample.at("metrics").at(metric.at("name").get<std::string>());
    EXPECT_EQ(measured.at("unit"), metric.at("unit"));
    EXPECT_EQ(measured.at("better"), metric.at("better"));
    EXPECT_GT(measured.at("value").get<double>(), 0);
  }
}

TEST_P(Conformance, TheSameSeedGivesTheSameOperations) {
  std::vector<std::uint64_t> sequences;
  for (int i = 0; i < 2; ++i) {
    std::vector<std::string> arguments = GetParam().example_arguments(false);
    arguments.insert(arguments.end(), {"--json", "-", "--seed", "42"});
    const CommandOutput output = run(GetParam(), arguments);
    if (output.end.exit_code() == 3) GTEST_SKIP() << output.err;
    ASSERT_EQ(output.end.exit_code(), 0) << output.err;
    sequences.push_back(
        nlohmann::json::parse(output.out).at("extra").at("sequence").get<std::uint64_t>());
  }
  EXPECT_EQ(sequences[0], sequences[1]);
}

TEST_P(Conformance, ControlAndCommandLineRunTheSameTrial) {
  Conversation talk(GetParam(), "load");
  nlohmann::json options = GetParam().example_options(false);
  for (auto& value : options) {
    if (value.is_string() && value.get<std::string>().empty()) value = true;
  }
  options["seed"] = 7;
  talk.say({{"cmd", "ping"}});
  EXPECT_TRUE(talk.hear("pong").is_object());
  talk.say({{"cmd", "configure"}, {"options", options}});
  const nlohmann::json ready = talk.hear("ready");
  if (ready.is_null()) {
    const std::optional<ChildEnd> end = talk.child().wait(10 * second_ns);
    if (end && end->exited() && end->exit_code() == 3) GTEST_SKIP() << "not possible here";
  }
  ASSERT_TRUE(ready.is_object());
  talk.say({{"cmd", "go"}, {"delay_ns", 0}});
  const nlohmann::json sample = talk.hear("sample").at("sample");
  EXPECT_TRUE(sample.at("valid").get<bool>()) << sample.at("error");
  EXPECT_EQ(sample.at("seed"), 7);
  EXPECT_EQ(talk.child().wait(10 * second_ns)->exit_code(), 0);
}

/// Starts the lasting example by hand, sends `signal_number` to it, and returns its sample and exit
/// status.
std::pair<nlohmann::json, int> interrupted_by(const Program& program, int signal_number) {
  const std::filesystem::path directory = temporary_directory();
  SpawnRequest request;
  request.argv = {program.path()};
  for (const std::string& argument : program.example_arguments(true))
    request.argv.push_back(argument);
  request.argv.insert(request.argv.end(), {"--json", (directory / "sample.json").string()});
  request.pipe_stdout = false;
  request.pipe_stderr = true;
  Child child = Child::spawn(request);
  usleep(700'000);
  kill(child.pid(), signal_number);
  const std::optional<ChildEnd> end = child.wait(15 * second_ns);
  nlohmann::json sample;
  if (std::filesystem::exists(directory / "sample.json"))
    sample = parsed_file(directory / "sample.json");
  std::filesystem::remove_all(directory);
  if (!end) return {sample, -1};
  EXPECT_EQ(end->leftover_processes, 0) << "it left processes behind";
  return {sample, end->exited() ? end->exit_code() : -end->signal()};
}

TEST_P(Conformance, SigintGivesATruncatedSample) {
  const auto [sample, status] = interrupted_by(GetParam(), SIGINT);
  if (status == 3) GTEST_SKIP() << "not possible here";
  EXPECT_EQ(status, 130);
  ASSERT_TRUE(sample.is_object());
  EXPECT_TRUE(sample.at("truncated").get<bool>());
  EXPECT_FALSE(sample.at("valid").get<bool>());
}

TEST_P(Conformance, SigtermGivesATruncatedSample) {
  const auto [sample, status] = interrupted_by(GetParam(), SIGTERM);
  if (status == 3) GTEST_SKIP() << "not possible here";
  EXPECT_EQ(status, 130);
  ASSERT_TRUE(sample.is_object());
  EXPECT_TRUE(sample.at("truncated").get<bool>());
}

TEST_P(Conformance, EndOfFileBeforeConfigureEndsIt) {
  Conversation talk(GetParam(), "load");
  talk.child().close_stdin();
  const std::optional<ChildEnd> end = talk.child().wait(10 * second_ns);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->exit_code(), 130);
}

/// The lasting example, running under the control protocol; null where it is not possible here.
std::unique_ptr<Conversation> running(const Program& program) {
  auto talk = std::make_unique<Conversation>(program, "load");
  nlohmann::json options = program.example_options(true);
  for (auto& value : options) {
    if (value.is_string() && value.get<std::string>().empty()) value = true;
  }
  talk->say({{"cmd", "configure"}, {"options", options}});
  if (talk->hear("ready").is_null()) return nullptr;
  talk->say({{"cmd", "go"}, {"delay_ns", 0}});
  usleep(300'000);
  return talk;
}

TEST_P(Conformance, EndOfFileDuringTheLoadEndsIt) {
  const auto talk = running(GetParam());
  if (!talk) GTEST_SKIP() << "not possible here";
  talk->child().close_stdin();
  EXPECT_TRUE(talk->hear("sample").at("sample").at("truncated").get<bool>());
  const std::optional<ChildEnd> end = talk->child().wait(15 * second_ns);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->exit_code(), 130);
  EXPECT_EQ(end->leftover_processes, 0);
}

TEST_P(Conformance, StopEndsItWithATruncatedSample) {
  const auto talk = running(GetParam());
  if (!talk) GTEST_SKIP() << "not possible here";
  talk->say({{"cmd", "stop"}});
  EXPECT_TRUE(talk->hear("sample").at("sample").at("truncated").get<bool>());
  EXPECT_EQ(talk->child().wait(15 * second_ns)->exit_code(), 130);
}

/// All descendants of a process.
void collect_descendants(pid_t pid, std::vector<pid_t>& found) {
  for (const pid_t child : children_of(pid, HostFiles("/"))) {
    found.push_back(child);
    collect_descendants(child, found);
  }
}

TEST_P(Conformance, NothingSurvivesSigkillOfItsParent) {
  int ready_pipe[2];
  ASSERT_EQ(pipe(ready_pipe), 0);
  // The part of the suite is played by a process that is killed in the middle of a trial.
  const pid_t suite = fork();
  if (suite == 0) {
    const auto talk = running(GetParam());
    const char answer = talk ? 'r' : 'n';
    [[maybe_unused]] const ssize_t written = write(ready_pipe[1], &answer, 1);
    for (;;) pause();
  }
  char answer = 'n';
  ASSERT_EQ(read(ready_pipe[0], &answer, 1), 1);
  std::vector<pid_t> descendants;
  collect_descendants(suite, descendants);
  kill(suite, SIGKILL);
  waitpid(suite, nullptr, 0);
  close(ready_pipe[0]);
  close(ready_pipe[1]);
  if (answer == 'n') GTEST_SKIP() << "not possible here";
  EXPECT_FALSE(descendants.empty());
  for (const pid_t pid : descendants) EXPECT_TRUE(is_gone_soon(pid)) << "process " << pid;
}

TEST_P(Conformance, AnUnwritableJsonPathIsFoundBeforeTheLoad) {
  std::vector<std::string> arguments = GetParam().example_arguments(true);
  arguments.insert(arguments.end(), {"--json", "/no/such/directory/sample.json"});
  const std::int64_t start_ns = now_ns();
  const CommandOutput output = run(GetParam(), arguments);
  EXPECT_EQ(output.end.exit_code(), 2);
  EXPECT_THAT(output.err, HasSubstr("/no/such/directory"));
  EXPECT_LT(now_ns() - start_ns, 25 * second_ns);
}

TEST_P(Conformance, StandardOutputIsOneJsonDocument) {
  std::vector<std::string> arguments = GetParam().example_arguments(false);
  arguments.insert(arguments.end(), {"--json", "-"});
  const CommandOutput output = run(GetParam(), arguments);
  if (output.end.exit_code() == 3) GTEST_SKIP() << output.err;
  EXPECT_TRUE(nlohmann::json::accept(output.out)) << output.out.substr(0, 200);
}

INSTANTIATE_TEST_SUITE_P(Generators, Conformance, testing::ValuesIn(programs()),
                         [](const auto& program) { return program.param.name; });

}  // namespace
}  // namespace krepro::conformance
