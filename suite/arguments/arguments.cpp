// The one file of the suite that knows CLI11. Numbers are taken as text and parsed by
// common/base/units.h: CLI11 would wrap a negative one into an unsigned.
#include "suite/arguments/arguments.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/base/version.h"

namespace krepro {
namespace {

std::int64_t whole_number(const std::string& option, const std::string& text, std::int64_t least) {
  std::uint64_t value = 0;
  try {
    value = parse_count(text);
  } catch (const Error& error) {
    throw usage_error(fmt::format("{}: {}", option, error.what()));
  }
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
      static_cast<std::int64_t>(value) < least) {
    throw usage_error(fmt::format("{}: {} is below {} or too large", option, text, least));
  }
  return static_cast<std::int64_t>(value);
}

std::int64_t positive_duration_ns(const std::string& option, const std::string& text) {
  std::int64_t value = 0;
  try {
    value = parse_duration_ns(text);
  } catch (const Error& error) {
    throw usage_error(fmt::format("{}: {}", option, error.what()));
  }
  if (value <= 0) throw usage_error(fmt::format("{}: {} is not above zero", option, text));
  return value;
}

/// "2" and "2%": two per cent, as a share.
double percentage(const std::string& option, const std::string& text) {
  try {
    const double value = parse_number(text.substr(0, text.find_last_not_of(" %") + 1));
    if (value > 0) return value / 100;
  } catch (const Error&) {
    // Said below, with what was typed.
  }
  throw usage_error(fmt::format("{}: \"{}\" is not a percentage above 0", option, text));
}

/// An option that is given as often as one likes, each time with one value.
void add_repeated(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                  const std::string& help, const std::string& value_name) {
  app.add_option(name, values, help)->allow_extra_args(false)->type_name(value_name);
}

/// An option whose text is turned into its value when it is parsed.
void add_parsed(CLI::App& app, const std::string& name, const std::string& value_name,
                const std::string& help, const std::function<void(const std::string&)>& store) {
  app.add_option_function<std::string>(name, store, help)->type_name(value_name);
}

void add_plan_settings(CLI::App& app, PlanSettings& settings) {
  add_repeated(app, "--set", settings.parameters, "value of a parameter of the profile", "K=V");
  add_repeated(app, "--only", settings.only, "only rows whose name matches (* and ?)", "PATTERN");
  add_parsed(app, "--repetitions", "N", "instead of the profile's",
             [&settings](const std::string& text) {
               settings.repetitions = whole_number("--repetitions", text, 1);
             });
  add_parsed(app, "--warmups", "N", "trials before, marked and not counted",
             [&settings](const std::string& text) {
               settings.warmups = whole_number("--warmups", text, 0);
             });
  add_parsed(app, "--order", "ORDER", "interleaved, sequential or random",
             [&settings](const std::string& text) { settings.order = parse_order(text); });
  add_parsed(app, "--seed", "N", "of the order and of the loads",
             [&settings](const std::string& text) {
               settings.seed = static_cast<std::uint64_t>(whole_number("--seed", text, 0));
             });
  app.add_flag("--fit", settings.fit, "scale counts to this machine's CPUs");
}

/// One subcommand: its CLI11 app and what becomes of it.
class CommandLineParser {
 public:
  CommandLineParser() {
    app_.require_subcommand(0, 1);
    app_.set_help_flag("-h,--help", "this text");
    app_.add_flag("--version", show_version_, "version of krepro");
    app_.footer(
        "krepro GENERATOR ... runs a load generator by hand (krepro list names them).\n"
        "\n"
        "Examples:\n"
        "  krepro run quick\n"
        "  krepro run graviton3/next-buddy-hackbench --fit --only '*pipes*'\n"
        "  krepro show krepro-results/*.jsonl\n"
        "  krepro compare base/ rc1/\n"
        "  krepro hackbench --groups 4 --pipe\n"
        "\n"
        "Exit status: 0 ok, 1 a load failed, 2 wrong usage, 3 not possible here, 130\n"
        "interrupted.");
    add_list();
    add_plan();
    add_run();
    add_show();
    add_fidelity();
    add_compare();
    add_aa();
    add_bundle();
    add_place();
    add_topology();
    add_doctor();
    CLI::App* help = add("help", "help on a command");
    help->add_option("command", help_about_, "the command");
  }

  Command parse(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    try {
      app_.parse(words);
    } catch (const CLI::CallForHelp&) {
      return TextRequest{help_of(chosen())};
    } catch (const CLI::ParseError& error) {
      throw as_usage_error(error);
    }
    if (show_version_) return TextRequest{fmt::format("krepro {}\n", version)};
    return result();
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const CLI::App* sub : app_.get_subcommands(nullptr)) all.push_back(sub->get_name());
    return all;
  }

 private:
  CLI::App* add(const std::string& name, const std::string& help) {
    CLI::App* sub = app_.add_subcommand(name, help);
    sub->set_help_flag("-h,--help", "this text");
    sub->get_formatter()->column_width(26);
    sub->footer("");
    return sub;
  }

  void add_list() {
    CLI::App* list = add("list", "profiles and generators");
    list->add_option("what", list_.what, "profiles or generators; both where left out");
    list->add_flag("--json", list_.json, "as JSON");
  }

  void add_plan() {
    CLI::App* plan = add("plan", "every trial of a profile, without running it");
    plan->add_option("profile", plan_.profile, "name or file")->required();
    add_plan_settings(*plan, plan_.settings);
    plan->add_flag("--json", plan_.json, "as a run file has it");
    add_topology_option(*plan, plan_.topology);
  }

  static void add_topology_option(CLI::App& app, std::filesystem::path& file) {
    app.add_option("--topology", file, "as if on the machine of this file")->type_name("FILE");
  }

  void add_place() {
    CLI::App* place = add("place", "the CPUs that a placement names here");
    place->add_option("placement", place_.placement, "all, one-per-core, llc:0, ...")->required();
    place->add_option("--other", place_.other, "the other side's, of which \"rest\" is the rest")
        ->type_name("PLACEMENT");
    place->add_option("--pinning", place_.pinning, "pin-compact or pin-spread: in that order")
        ->type_name("WORD");
    place->add_option("--memory", place_.memory, "bind, interleave:all, preferred:0, ...")
        ->type_name("POLICY");
    add_topology_option(*place, place_.topology);
    place->footer(
        "Examples:\n"
        "  krepro place 'llc:0,2 & one-per-core'\n"
        "  taskset -c $(krepro place one-per-llc) ...\n"
        "  krepro place rest --other llc:0 --topology c5ad.24xlarge.txt");
  }

  void add_doctor() {
    CLI::App* doctor = add("doctor", "what will spoil or bias results on this machine");
    doctor->add_option("profile", doctor_.profile, "also against this profile");
    add_plan_settings(*doctor, doctor_.settings);
    doctor->add_flag("--quick", doctor_.quick, "without measuring other load and noise");
    doctor->add_flag("--json", doctor_.json, "as JSON");
    doctor->footer("Exit status: 0, or 1 where there is a problem.");
  }

  void add_topology() {
    CLI::App* topology = add("topology", "the machine drawn in text");
    topology->add_option("profile", topology_.profile, "compare with what this profile expects");
    add_topology_option(*topology, topology_.topology);
    topology->add_flag("--json", topology_.json, "as JSON");
  }

  void add_run() {
    CLI::App* run = add("run", "run a profile, record it, print the summary");
    run->add_option("profile", run_.profile, "name or file; not needed with --resume");
    add_plan_settings(*run, run_.settings);
    run->add_option("--runtime", run_.runtime, "instead of the profile's: 10s, 1m")
        ->type_name("TIME");
    run->add_option("--label", run_.label, "name of the kernel or set-up; default: uname -r")
        ->type_name("NAME");
    run->add_option("--out", run_.out, "the run file; default: in krepro-results/")
        ->type_name("FILE");
    run->add_option("--like", run_.like, "the plan of a bundle that somebody sent")
        ->type_name("BUNDLE");
    run->add_option("--resume", run_.resume, "go on with a run that was cut short")
        ->type_name("FILE");
    run->add_flag("--apply-settings", run_.apply_settings,
                  "change the machine as the profile asks, and\nput it back at the end");
    add_parsed(*run, "--cgroups", "WORD", "roles (default): groups of their own; or none",
               [this](const std::string& text) {
                 if (text != "roles" && text != "none") {
                   throw usage_error(fmt::format("--cgroups: \"{}\" is not roles or none", text));
                 }
                 run_.groups = text == "roles";
               });
    run->add_option("--observe", run_.observe,
                    "one extra trial per row under this tool, {dir}\n"
                    "its directory: 'perf sched record -o {dir}/s.data'")
        ->type_name("COMMAND");
    add_parsed(*run, "--observe-lead", "TIME", "the tool's time to attach; default 2s",
               [this](const std::string& text) {
                 run_.observe_lead_ns = positive_duration_ns("--observe-lead", text);
               });
    run->add_flag("--quiet", run_.quiet, "no progress and no notes on stderr");
    add_parsed(*run, "--simulate-boots", "N", "null generator only: invented boots, marked",
               [this](const std::string& text) {
                 run_.simulated_boots = whole_number("--simulate-boots", text, 1);
               });
    add_parsed(*run, "--setup-timeout", "TIME", "a load must be ready by then; default 120s",
               [this](const std::string& text) {
                 run_.limits.setup_ns = positive_duration_ns("--setup-timeout", text);
               });
    add_parsed(*run, "--trial-timeout", "TIME",
               "a load must end by then; default: its\n"
               "runtime and a half and 60s, or 1h",
               [this](const std::string& text) {
                 run_.limits.run_ns = positive_duration_ns("--trial-timeout", text);
               });
  }

  void add_show() {
    CLI::App* show = add("show", "the summary of run files again");
    show->add_option("files", show_.files, "run files")->required();
    show->add_flag("--signature", show_.signature, "what the kernel counted, per operation");
  }

  void add_fidelity() {
    CLI::App* app = add("fidelity", "compare a generator with the tool it stands for");
    FidelityArguments& to = fidelity_;
    app->add_option("generator", to.generator, "whose original is installed here")->required();
    add_repeated(*app, "--rows", to.rows, "only rows whose name matches (* and ?)", "PATTERN");
    add_repeated(*app, "--set", to.options, "an option of every row: --set size=4G", "K=V");
    app->add_option("--placement", to.placement, "pinned, floating or both; default: both")
        ->type_name("WORD");
    add_parsed(*app, "--width", "PCT", "measure until the interval is +-PCT %",
               [&to](const std::string& text) { to.width = percentage("--width", text); });
    add_parsed(
        *app, "--max-rounds", "N", "at most N blocks of runs a row; default 100",
        [&to](const std::string& text) { to.max_rounds = whole_number("--max-rounds", text, 1); });
    add_parsed(*app, "--max-time", "TIME", "of a row in a placement; default 2m",
               [&to](const std::string& text) {
                 to.max_time_ns = positive_duration_ns("--max-time", text);
               });
    app->add_option("--perturb", to.perturb,
                    "compare reactions to a change: NICE,\n"
                    "SCHED_BATCH, SCHED_IDLE, FEWER_CPUS, or\n"
                    "a policy such as other,slice:3ms")
        ->type_name("CHANGE");
    add_parsed(*app, "--seed", "N", "of our first run", [&to](const std::string& text) {
      to.seed = static_cast<std::uint64_t>(whole_number("--seed", text, 0));
    });
    app->add_option("--json", to.json, "every single run; - for stdout")->type_name("FILE");
    app->add_flag("--list", to.list, "print the rows and their command lines only");
    app->add_flag("--quiet", to.quiet, "no progress on stderr");
    app->footer("Exit status: 0 all rows the same, 1 a row differs, 125 one is unresolved.");
  }

  void add_bundle() {
    CLI::App* bundle = add("bundle", "run files and report as one file, for a bug report");
    bundle
        ->add_option("paths", bundle_.paths,
                     "run files or directories of them; the first is the\nbase")
        ->type_name("PATH")
        ->required();
    bundle->add_option("--base", bundle_.base, "label of the base, instead of the first file's")
        ->type_name("LABEL");
    bundle->add_option("--out", bundle_.out, "default: krepro-bundle.tar.zst, or .txt")
        ->type_name("FILE");
    bundle->add_flag("--text", bundle_.text, "plain text under 100 kB, to be mailed");
    bundle->add_option("--introduced", bundle_.introduced, "a commit or A..B, for regzbot")
        ->type_name("COMMITS");
    bundle->add_option("--summary", bundle_.summary, "first sentence; default: from the verdicts")
        ->type_name("TEXT");
    bundle->add_flag("--keep-identity", bundle_.keep_identity,
                     "leave names, addresses and serial numbers in");
  }

  void add_aa() {
    CLI::App* aa = add("aa", "one kernel against itself: noise and false alarms");
    aa->add_option("what", aa_.what, "a profile to run, or run files of it")
        ->type_name("PROFILE|FILE")
        ->required();
    add_plan_settings(*aa, aa_.run.settings);
    aa->add_option("--runtime", aa_.run.runtime, "instead of the profile's: 10s, 1m")
        ->type_name("TIME");
    aa->add_option("--out", aa_.run.out, "the run file")->type_name("FILE");
    aa->add_flag("--quiet", aa_.run.quiet, "no progress and no notes on stderr");
    add_parsed(*aa, "--simulate-boots", "N", "null generator only: invented boots, marked",
               [this](const std::string& text) {
                 aa_.run.simulated_boots = whole_number("--simulate-boots", text, 1);
               });
  }

  void add_compare() {
    CLI::App* compare = add("compare", "kernels against a base: changes, intervals, verdicts");
    compare
        ->add_option("paths", compare_.paths,
                     "run files, directories of them, or of outputs of\n"
                     "fio, hackbench, pgbench, wrk; the first is the base.\n"
                     "Or one published table (.csv), to print it")
        ->type_name("PATH");
    compare->add_option("--base", compare_.base, "label of the base, instead of the first path's")
        ->type_name("LABEL");
    add_compare_rules(*compare);
    add_parsed(*compare, "--format", "FORMAT", "text, markdown, csv, json or html",
               [this](const std::string& text) { compare_.format = parse_report_format(text); });
    compare->add_option("--out", compare_.out, "write the report there")->type_name("FILE");
    compare->add_option("--against", compare_.against, "published table to set beside")
        ->type_name("CSV");
    compare
        ->add_option("--against-column", compare_.against_column, "its column; default: by place")
        ->type_name("NAME");
    compare->add_option("--like", compare_.like, "set the reporter's changes beside these")
        ->type_name("BUNDLE");
    add_parsed(
        *compare, "--agreement", "PCT", "of a published change; default 50%",
        [this](const std::string& text) { compare_.agreement = percentage("--agreement", text); });
    add_parsed(*compare, "--self-test", "TABLES",
               "simulate, and print how often verdicts are false", [this](const std::string& text) {
                 compare_.self_test =
                     static_cast<std::size_t>(whole_number("--self-test", text, 1));
               });
    add_parsed(*compare, "--self-test-seed", "N", "of the simulation; default 1",
               [this](const std::string& text) {
                 compare_.self_test_seed =
                     static_cast<std::uint64_t>(whole_number("--self-test-seed", text, 0));
               });
    compare->footer("Exit status: 1 a row is worse, else 125 one unresolved, else 0; 2 bad input.");
  }

  void add_compare_rules(CLI::App& compare) {
    JudgeOptions& judge = compare_.options.judge;
    add_repeated(compare, "--only", compare_.options.only, "only rows whose name matches (* and ?)",
                 "PATTERN");
    add_parsed(
        compare, "--tolerance", "PCT", "no difference that matters; default 2%",
        [&judge](const std::string& text) { judge.tolerance = percentage("--tolerance", text); });
    add_parsed(compare, "--detect", "PCT", "say what it takes to find this change; default 5%",
               [&judge](const std::string& text) { judge.detect = percentage("--detect", text); });
    add_parsed(compare, "--rule", "RULE", "moderated, or overlap: the published rule",
               [&judge](const std::string& text) { judge.rule = parse_rule(text); });
    compare.add_flag_callback(
        "--strict", [&judge] { judge.rule = Rule::strict; },
        "Welch's t and Holm: no false verdict");
    compare.add_flag("--paired", judge.paired, "settings within one boot: trials are pairs");
    compare.add_flag("--signature", compare_.options.signature,
                     "under each row the counters that differ most");
    compare.add_flag("--same-kernel", compare_.options.same_kernel_allowed,
                     "the sides differ by settings, not by the kernel");
  }

  [[nodiscard]] const CLI::App* chosen() const {
    const std::vector<CLI::App*> subs = app_.get_subcommands();
    return subs.empty() ? &app_ : subs.front();
  }

  /// Not App::help(), which hands over to the subcommand that was chosen.
  [[nodiscard]] static std::string help_of(const CLI::App* app) {
    const std::string name = app->get_parent() == nullptr ? "krepro" : "krepro " + app->get_name();
    return app->get_formatter()->make_help(app, name, CLI::AppFormatMode::Normal);
  }

  Error as_usage_error(const CLI::ParseError& error) const {
    const CLI::App* app = chosen();
    const std::string where = app == &app_ ? "" : app->get_name() + ": ";
    const std::string more =
        app == &app_ ? "see krepro help" : fmt::format("see krepro {} --help", app->get_name());
    std::vector<std::string> options;
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    }
    for (const std::string& word : app->remaining()) {
      const std::string name = word.substr(0, word.find('='));
      if (!name.starts_with("-")) {
        return usage_error(fmt::format("{}\"{}\" is one argument too many", where, word), more);
      }
      const std::string near = nearest(name, options);
      return usage_error(fmt::format("{}unknown option {}", where, name),
                         near.empty() ? more : fmt::format("did you mean {}?", near));
    }
    return usage_error(where + error.what(), more);
  }

  Command result() {
    const std::string name = chosen() == &app_ ? "help" : chosen()->get_name();
    if (name == "list") return list_;
    if (name == "plan") return plan_;
    if (name == "show") return show_;
    if (name == "fidelity") return fidelity_;
    if (name == "bundle") return bundle_;
    if (name == "aa") return aa_;
    if (name == "place") return place_;
    if (name == "topology") return topology_;
    if (name == "doctor") return doctor_;
    if (name == "compare") {
      if (compare_.paths.empty() && !compare_.self_test) {
        throw usage_error("compare: which results?", "krepro compare BASE OTHER...");
      }
      return compare_;
    }
    if (name == "run") {
      if (run_.profile.empty() && run_.resume.empty() && run_.like.empty()) {
        throw usage_error("run: which profile?", "krepro list profiles names them");
      }
      return run_;
    }
    return help();
  }

  Command help() {
    if (help_about_.empty()) return TextRequest{help_of(&app_)};
    for (const CLI::App* sub : app_.get_subcommands(nullptr)) {
      if (sub->get_name() == help_about_) return TextRequest{help_of(sub)};
    }
    return GeneratorCall{help_about_, {"--help"}};
  }

  CLI::App app_{"Reproduces performance regressions of the Linux kernel.", "krepro"};
  bool show_version_ = false;
  std::string help_about_;
  ListArguments list_;
  PlanArguments plan_;
  RunArguments run_;
  ShowArguments show_;
  FidelityArguments fidelity_;
  CompareArguments compare_;
  BundleArguments bundle_;
  AaArguments aa_;
  PlaceArguments place_;
  TopologyArguments topology_;
  DoctorArguments doctor_;
};

}  // namespace

Command parse_arguments(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  CommandLineParser parser;
  const bool named = !words.empty() && !words.front().starts_with("-");
  const std::vector<std::string> names = parser.names();
  if (named && std::find(names.begin(), names.end(), words.front()) == names.end()) {
    return GeneratorCall{words.front(), {words.begin() + 1, words.end()}};
  }
  return parser.parse(std::move(words));
}

std::vector<std::string> command_names() { return CommandLineParser().names(); }

}  // namespace krepro
