// The one exception type: something that the operator can mend. Thrown anywhere outside the hot
// path, caught once in each program's main(), printed there as one line (and its remedy), and
// turned into the exit status. Not for errors of the programmer (see check.h), nor for errors of
// single operations (they are counted by kind).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace krepro {

/// Exit status of every program of the project (docs/exit-status.md).
enum class ExitCode : int {
  ok = 0,             ///< A valid result.
  failed = 1,         ///< The load ran and something failed; the sample or the run file says what.
  usage = 2,          ///< Wrong usage, bad input, or a set-up that failed.
  not_possible = 3,   ///< Not possible on this machine; the message names the remedy.
  interrupted = 130,  ///< Ended by a signal or told to stop before its end.
};

/// What went wrong, for the operator: one line without a trailing full stop, and optionally what to
/// do about it.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message, std::string remedy = {})
      : std::runtime_error(message), code_(code), remedy_(std::move(remedy)) {}

  [[nodiscard]] ExitCode code() const { return code_; }
  /// What to do, one sentence; empty where the message itself says it.
  [[nodiscard]] const std::string& remedy() const { return remedy_; }

 private:
  ExitCode code_;
  std::string remedy_;
};

/// Error with ExitCode::usage.
[[nodiscard]] Error usage_error(const std::string& message, std::string remedy = {});
/// Error with ExitCode::not_possible.
[[nodiscard]] Error not_possible(const std::string& message, std::string remedy = {});
/// Error with the text of `error_number` (an errno value) appended: "open /x: Permission denied".
[[nodiscard]] Error system_error(const std::string& what, int error_number,
                                 ExitCode code = ExitCode::usage);

/// "krepro: MESSAGE" and, indented by 8 below it, the remedy; wrapped at 78 columns between words,
/// each line ended. A message of several lines is several errors: one line each, not wrapped.
[[nodiscard]] std::string format_error(std::string_view program, const Error& error);
/// Prints format_error() to stderr.
void print_error(std::string_view program, const Error& error);

/// Of `candidates` the one nearest to `word`, or "" where none is near: at most a third of the
/// word's letters added, dropped, changed or swapped with a neighbour. Case does not count, nor
/// does
/// '_' for '-'. Of equally near ones the first.
[[nodiscard]] std::string nearest(std::string_view word,
                                  const std::vector<std::string>& candidates);

}  // namespace krepro
