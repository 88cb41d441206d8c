// The krepro command: a table of contents. Arguments become a command, the command runs, and one
// place prints what went wrong.
#include <fmt/core.h>

#include <cerrno>
#include <exception>
#include <system_error>
#include <variant>

#include "common/base/error.h"
#include "suite/arguments/arguments.h"
#include "suite/bundle/like.h"
#include "suite/execute/interruption.h"
#include "suite/report/output.h"

namespace krepro {
namespace {

struct Execute {
  int operator()(const TextRequest& request) const {
    print_text(request.text);
    return static_cast<int>(ExitCode::ok);
  }
  int operator()(const ListArguments& arguments) const { return list_command(arguments); }
  int operator()(const PlanArguments& arguments) const { return plan_command(arguments); }
  int operator()(const RunArguments& arguments) const {
    if (arguments.like.empty()) return run_command(arguments);
    return run_command(like_bundle(arguments.like, arguments));
  }
  int operator()(const ShowArguments& arguments) const { return show_command(arguments); }
  int operator()(const FidelityArguments& arguments) const { return fidelity_command(arguments); }
  int operator()(const BundleArguments& arguments) const { return bundle_command(arguments); }
  int operator()(const AaArguments& arguments) const { return aa_command(arguments); }
  int operator()(const PlaceArguments& arguments) const { return place_command(arguments); }
  int operator()(const TopologyArguments& arguments) const { return topology_command(arguments); }
  int operator()(const DoctorArguments& arguments) const { return doctor_command(arguments); }
  int operator()(const CompareArguments& arguments) const { return compare_command(arguments); }
  int operator()(const GeneratorCall& call) const { hand_over(call, command_names()); }
};

/// A reader that went away (`| head -1`) has what it wanted; a full disk has not.
int finish_output(int status) {
  flush_text();
  if (output_error() == 0 || output_error() == EPIPE) return status;
  print_error("krepro", system_error("cannot write to standard output", output_error()));
  return status == 0 ? static_cast<int>(ExitCode::failed) : status;
}

int run(int argc, char** argv) {
  turn_write_signals_into_errors();
  try {
    return finish_output(std::visit(Execute(), parse_arguments(argc, argv)));
  } catch (const Error& error) {
    flush_text();
    print_error("krepro", error);
    return static_cast<int>(error.code());
  } catch (const std::system_error& error) {
    // What fmt::print() throws where standard output cannot be written to.
    if (error.code().value() == EPIPE) return static_cast<int>(ExitCode::ok);
    print_error("krepro", system_error("cannot write", error.code().value()));
    return static_cast<int>(ExitCode::failed);
  } catch (const std::exception& error) {
    flush_text();
    print_error("krepro", Error(ExitCode::failed, fmt::format("internal error: {}", error.what())));
    return static_cast<int>(ExitCode::failed);
  }
}

}  // namespace
}  // namespace krepro

int main(int argc, char** argv) { return krepro::run(argc, argv); }
