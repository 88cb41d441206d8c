// The table of a generator's options, and their values for one trial. Flags, validation, help,
// profile keys and the documentation all come from this one table.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace krepro {

/// What an option's text means; decides the parser (common/base/units.h) and the JSON types that a
/// profile may use.
enum class OptionType : std::uint8_t {
  flag,
  integer,
  number,
  bytes,
  duration,
  rate,
  share,
  text,
  choice,
  list
};

/// What a profile's [defaults] may set for every generator that has such an option.
/// trial and boot are set by the suite itself: the number of the trial in its run, and an identity
/// of the boot (simulated boots).
enum class Meaning : std::uint8_t { none, runtime, seed, connections, rate, threads, trial, boot };

/// How the original treats an option of this name.
enum class Origin : std::uint8_t {
  original,  ///< The original tool has it, with this name and meaning.
  ours,      ///< An addition; the original does not know it.
  ignored,   ///< The original has it, and it does not shape the load: accepted with a note.
  refused,  ///< The original has it, it would change the load and is not implemented: an error that
            ///< says so.
};

struct Option {
  std::string name;  ///< Long name without dashes: "datasize"; the profile key has '_' for '-'.
  std::vector<std::string> aliases;  ///< Without dashes; one letter: a short flag.
  OptionType type = OptionType::text;
  std::string unit;          ///< "ns", "bytes", "1/s", ... as found in Options; empty where none.
  std::string default_text;  ///< As typed; empty: none (absent).
  double min =
      0;  ///< integer, number, bytes, duration (ns), rate: inclusive range where min < max.
  double max = 0;
  std::vector<std::string> choices;  ///< choice
  std::string help;                  ///< One line.
  Meaning means = Meaning::none;
  Origin origin = Origin::original;
  std::int64_t plain_unit_ns =
      0;  ///< duration: the unit of a plain number (fio: seconds); 0: a unit is required.
  bool optional_value =
      false;  ///< fio's "--time_based" and "--time_based=1": a flag that may carry 0 or 1.
};

/// A parsed value: flag -> bool, integer/bytes/duration -> int64, number/rate/share -> double,
/// text/choice -> string, list -> strings.
using OptionValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

/// An option with what every one has, and what some add to it: for a generator's own table.
[[nodiscard]] Option make_option(std::string name, std::vector<std::string> aliases,
                                 OptionType type, std::string default_text, std::string help);
[[nodiscard]] Option ranged(Option option, double min, double max);
[[nodiscard]] Option meaning(Option option, Meaning means);

/// A JSON value as one would type it: a string bare, anything else as JSON writes it.
[[nodiscard]] std::string value_text(const nlohmann::json& value);

class OptionTable {
 public:
  explicit OptionTable(std::vector<Option> options);
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  /// By name or alias, with '_' or '-' alike; nullptr where unknown.
  [[nodiscard]] const Option* find(std::string_view name) const;
  /// Parses and checks a value. Throws usage_error: "groups: 0 is below 1".
  [[nodiscard]] OptionValue parse(const Option& option, std::string_view text) const;
  [[nodiscard]] nlohmann::json to_json() const;
  /// The table of another program, from the "options" of its --describe. Throws usage_error where
  /// the JSON has another shape.
  [[nodiscard]] static OptionTable from_json(const nlohmann::json& json);

 private:
  std::vector<Option> options_;
};

/// The values of one trial: every option that has a default or was given.
class Options {
 public:
  explicit Options(const OptionTable& table);  ///< All defaults.

  /// Sets by name or alias; an option given twice: the last wins for scalar types, lists append.
  /// Throws usage_error with a suggestion for unknown names, for Origin::refused the reason;
  /// Origin::ignored adds a note.
  void set(std::string_view name, std::string_view text);
  /// From a JSON value as a profile or the control protocol has it: numbers, booleans and strings;
  /// arrays for lists.
  void set_json(std::string_view name, const nlohmann::json& value);
  /// Takes over every value that was given in `other`, of the same table, in the place of its own.
  void override_with(const Options& other);

  [[nodiscard]] bool given(std::string_view name) const;  ///< Set, not merely defaulted.
  [[nodiscard]] bool has(std::string_view name) const;    ///< Given or defaulted.
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(
      std::string_view name) const;                          ///< integer, bytes, duration (ns)
  [[nodiscard]] double number(std::string_view name) const;  ///< number, rate, share
  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& list(std::string_view name) const;

  /// All values as JSON (resolved), for the sample.
  [[nodiscard]] nlohmann::json to_json() const;
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const OptionTable& table() const { return *table_; }

 private:
  void store(const Option& option, OptionValue value);
  [[nodiscard]] const OptionValue& at(std::string_view name) const;
  const OptionTable* table_;
  std::map<std::string, OptionValue, std::less<>> values_;
  std::map<std::string, bool, std::less<>> given_;
  std::vector<std::string> notes_;
};

}  // namespace krepro
