#include "suite/compare/reference.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "common/base/error.h"
#include "suite/compare/words.h"
#include "suite/environment/environment.h"

namespace krepro {
namespace {

/// Fields of one line of CSV (RFC 4180, without line ends in quotes).
std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

class TableReader {
 public:
  explicit TableReader(const std::filesystem::path& path) { table_.path = path; }

  void read_line(const std::string& line) {
    ++number_;
    if (line.empty() || line == "\r") return;
    if (line.front() == '#') {
      read_fact(line);
    } else if (header_.empty()) {
      read_header(csv_fields(line));
    } else {
      read_row(csv_fields(line));
    }
  }

  PublishedTable finish() {
    if (table_.rows.empty()) throw error("not a table of published results: no rows");
    return std::move(table_);
  }

 private:
  [[nodiscard]] Error error(const std::string& what) const {
    return usage_error(fmt::format("{}:{}: {}", table_.path.string(), number_, what));
  }

  /// "# source: link" -> facts["source"]
  void read_fact(const std::string& line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) return;
    const auto trim = [](std::string text) {
      text.erase(0, text.find_first_not_of(" \t#"));
      text.erase(text.find_last_not_of(" \t\r") + 1);
      return text;
    };
    table_.facts[trim(line.substr(0, colon))] = trim(line.substr(colon + 1));
  }

  void read_header(const std::vector<std::string>& fields) {
    header_ = fields;
    for (const char* name :
         {"benchmark", "result_class", "unit", "higher_is_better", "base_value"}) {
      if (column_of(name) == header_.size()) {
        throw error(fmt::format("not a table of published results: no column \"{}\"", name));
      }
    }
    for (const std::string& name : header_) {
      if (name.size() > 4 && name.ends_with("_pct")) {
        table_.columns.push_back(name.substr(0, name.size() - 4));
      }
    }
    if (table_.columns.empty()) throw error("no column ends in _pct: nothing is compared");
  }

  [[nodiscard]] std::size_t column_of(const std::string& name) const {
    return static_cast<std::size_t>(std::find(header_.begin(), header_.end(), name) -
                                    header_.begin());
  }

  double number_of(const std::string& text, const std::string& column) const {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || *end != '\0' || !std::isfinite(value)) {
      throw error(fmt::format("{} is not a number: \"{}\"", column, text));
    }
    return value;
  }

  PublishedMark mark_of(const std::string& text) const {
    if (text == "R") return PublishedMark::regression;
    if (text == "I") return PublishedMark::improvement;
    if (text == "none") return PublishedMark::none;
    if (text.empty()) return PublishedMark::not_given;
    throw error(fmt::format("\"{}\" is neither R, I nor none", text));
  }

  void read_row(const std::vector<std::string>& fields) {
    if (fields.size() != header_.size()) {
      throw error(fmt::format("{} fields, the header has {}", fields.size(), header_.size()));
    }
    const auto field = [&](const std::string& name) { return fields[column_of(name)]; };
    PublishedRow row{field("benchmark"), field("result_class"), field("unit"), true, 0, {}};
    if (field("higher_is_better") != "yes" && field("higher_is_better") != "no") {
      throw error("higher_is_better is neither yes nor no");
    }
    row.higher_is_better = field("higher_is_better") == "yes";
    row.base_value = number_of(field("base_value"), "base_value");
    for (const std::string& column : table_.columns) {
      const std::string percent = field(column + "_pct");
      if (percent.empty()) {
        row.changes.emplace_back();
        continue;
      }
      PublishedChange change{number_of(percent, column + "_pct"), PublishedMark::not_given};
      if (change.percent <= -100) throw error(fmt::format("{} % is no change", percent));
      if (column_of(column + "_sig") < header_.size()) {
        change.mark = mark_of(field(column + "_sig"));
      }
      row.changes.emplace_back(change);
    }
    table_.rows.push_back(std::move(row));
  }

  PublishedTable table_;
  std::vector<std::string> header_;
  std::size_t number_ = 0;
};

struct NameParts {
  std::set<std::string> words;
  std::multiset<std::string> numbers;
};

NameParts parts_of(const std::string& name) {
  NameParts parts;
  std::string part;
  const auto finish = [&] {
    if (part.empty()) return;
    if (std::isdigit(static_cast<unsigned char>(part.front())) != 0) {
      parts.numbers.insert(part);
    } else {
      if (part.size() > 3 && part.back() == 's') part.pop_back();
      parts.words.insert(part);
    }
    part.clear();
  };
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0) {
      finish();
      continue;
    }
    const bool digit = std::isdigit(byte) != 0;
    if (!part.empty() && digit != (std::isdigit(static_cast<unsigned char>(part.front())) != 0)) {
      finish();
    }
    part += static_cast<char>(std::tolower(byte));
  }
  finish();
  return parts;
}

const char* mark_text(PublishedMark mark) {
  switch (mark) {
    case PublishedMark::regression:
      return "R";
    case PublishedMark::improvement:
      return "I";
    case PublishedMark::none:
      return "none";
    case PublishedMark::not_given:
      return "";
    case PublishedMark::unresolved:
      return "?";
  }
  return "";
}

/// Why no row can be compared; empty: they can.
std::string find_machine_difference(const PublishedTable& table, const std::vector<Side>& sides) {
  for (const Side& side : sides) {
    for (const RunFacts& run : side.runs) {
      if (run.fitted) return "scaled with --fit";
      for (const BootFacts& boot : run.boots) {
        const auto value_of = [&](const char* name) {
          const nlohmann::json value = environment_value(boot.environment, name);
          return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
        };
        const std::string cpus = value_of("cpu.count_online");
        if (!table.fact("cpus").empty() && !cpus.empty() && cpus != table.fact("cpus")) {
          return fmt::format("another machine: {} CPUs, published on {}", cpus, table.fact("cpus"));
        }
        const std::string architecture = value_of("host.architecture");
        if (!table.fact("architecture").empty() && !architecture.empty() &&
            architecture != table.fact("architecture")) {
          return fmt::format("another machine: {}, published on {}", architecture,
                             table.fact("architecture"));
        }
      }
    }
  }
  return {};
}

/// A change is published where it was called one; without marks, where it is beyond the tolerance.
bool is_published_change(const PublishedChange& change, double tolerance) {
  if (change.mark == PublishedMark::none) return false;
  return change.mark != PublishedMark::not_given || std::abs(change.percent) > 100 * tolerance;
}

/// A published null is reproduced by equivalence only.
void judge_null(const RowTest& test, AgainstRow& row) {
  if (test.verdict == Verdict::same) {
    row.verdict = "reproduced";
  } else if (test.verdict == Verdict::worse || test.verdict == Verdict::better ||
             test.verdict == Verdict::stopped) {
    row.verdict = "not reproduced";
    row.reason = "published as no change";
  } else {
    row.verdict = "unresolved";
  }
}

void judge_change(const RowTest& test, double published, double agreement, AgainstRow& row) {
  const double log_published = std::log1p(published / 100);
  const double slack = agreement * std::abs(log_published);
  const double measured = test.difference->estimate;
  const bool called = test.verdict == Verdict::worse || test.verdict == Verdict::better;
  if (called && (measured < 0) != (log_published < 0)) {
    row.verdict = "not reproduced";
    row.reason = "the other direction";
  } else if (called && std::abs(measured - log_published) <= slack) {
    row.verdict = "reproduced";
  } else if (test.interval && (test.interval->low > log_published + slack ||
                               test.interval->high < log_published - slack)) {
    row.verdict = "not reproduced";
    row.reason = called ? "the size differs" : "no such change";
  } else {
    row.verdict = "unresolved";
  }
}

std::size_t choose_column(const PublishedTable& table, const AgainstOptions& options,
                          const std::string& label, std::size_t position) {
  const auto find = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(table.columns.begin(), table.columns.end(), name) -
                                    table.columns.begin());
  };
  if (!options.column.empty()) {
    if (find(options.column) < table.columns.size()) return find(options.column);
    throw usage_error(fmt::format("{} has no column \"{}\"; it has {}", table.path.string(),
                                  options.column, fmt::join(table.columns, ", ")));
  }
  if (find(label) < table.columns.size()) return find(label);
  return std::min(position, table.columns.size() - 1);
}

}  // namespace

std::string PublishedTable::fact(const std::string& name) const {
  const auto found = facts.find(name);
  return found == facts.end() ? std::string() : found->second;
}

PublishedTable parse_published_table(const std::string& text, const std::filesystem::path& path) {
  TableReader reader(path);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) reader.read_line(line);
  return reader.finish();
}

PublishedTable read_published_table(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw system_error(fmt::format("cannot read {}", path.string()), errno);
  std::ostringstream text;
  text << stream.rdbuf();
  return parse_published_table(text.str(), path);
}

bool names_match(const std::string& published, const std::string& name, const std::string& family) {
  const NameParts wanted = parts_of(published);
  const NameParts own = parts_of(name);
  const NameParts of_family = parts_of(family);
  return wanted.numbers == own.numbers &&
         std::all_of(wanted.words.begin(), wanted.words.end(), [&](const std::string& word) {
           return own.words.contains(word) || of_family.words.contains(word);
         });
}

PublishedTable as_published_table(const Comparison& comparison) {
  PublishedTable table;
  for (std::size_t i = 1; i < comparison.columns.size(); ++i) {
    table.columns.push_back(comparison.columns[i].label);
  }
  for (const ComparedRow& row : comparison.rows) {
    PublishedRow published{
        row.family, row.name, row.unit, row.higher_is_better, row.base_value.value_or(0), {}};
    for (const Cell& cell : row.cells) {
      published.changes.emplace_back();
      if (!cell.test.difference) continue;
      PublishedChange change{100 * change_of(cell.test.difference->estimate),
                             PublishedMark::unresolved};
      if (cell.test.verdict == Verdict::worse) change.mark = PublishedMark::regression;
      if (cell.test.verdict == Verdict::better) change.mark = PublishedMark::improvement;
      if (cell.test.verdict == Verdict::same) change.mark = PublishedMark::none;
      published.changes.back() = change;
    }
    table.rows.push_back(std::move(published));
  }
  return table;
}

Comparison as_comparison(const PublishedTable& table) {
  Comparison comparison;
  comparison.options.judge.rule = Rule::overlap;
  comparison.columns.push_back(
      {"base", table.fact("base"), "", table.fact("machine"), 0, 0, 0, 0, false});
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string label = table.fact(table.columns[i]);
    comparison.columns.push_back({std::string(1, static_cast<char>('A' + i)),
                                  label.empty() ? table.columns[i] : label, "", "", 0, 0, 0, 0,
                                  false});
  }
  for (const PublishedRow& published : table.rows) {
    ComparedRow row;
    row.family = fmt::format("{}, {} ({} is better)", published.benchmark, published.unit,
                             published.higher_is_better ? "higher" : "lower");
    row.name = published.name;
    row.unit = published.unit;
    row.higher_is_better = published.higher_is_better;
    row.base_value = published.base_value;
    row.details.resize(table.columns.size() + 1);
    for (const std::optional<PublishedChange>& change : published.changes) {
      Cell cell;
      cell.test.method = Method::overlap;
      if (change) {
        cell.test.difference = Difference{std::log1p(change->percent / 100), 0, 0, 0};
        if (change->mark == PublishedMark::not_given) {
          cell.test.method = Method::none;
          cell.test.reason = "published without an interval or a mark";
        }
        if (change->mark == PublishedMark::regression) cell.test.verdict = Verdict::worse;
        if (change->mark == PublishedMark::improvement) cell.test.verdict = Verdict::better;
      }
      row.cells.push_back(std::move(cell));
    }
    comparison.rows.push_back(std::move(row));
  }
  comparison.summaries = summarise_columns(comparison.rows);
  if (table.fact("n") == "1") comparison.warnings.emplace_back("reference has n = 1");
  if (!table.fact("source").empty()) {
    comparison.notes.push_back("published: " + table.fact("source"));
  }
  return comparison;
}

void set_against(const PublishedTable& table, const AgainstOptions& options,
                 const std::vector<Side>& sides, Comparison& comparison) {
  Against against;
  against.source =
      table.fact("source").empty() ? table.path.filename().string() : table.fact("source");
  if (table.fact("n") == "1") against.notes.emplace_back("reference has n = 1: one run per kernel");
  against.notes.push_back(fmt::format(
      "reproduced: same direction and within {} of the published change; a published "
      "none: the same within {}",
      percent_text(options.agreement), percent_text(comparison.options.judge.tolerance)));
  const std::string difference = find_machine_difference(table, sides);
  std::set<std::string> found;
  for (std::size_t c = 0; c + 1 < comparison.columns.size(); ++c) {
    const ColumnFacts& column = comparison.columns[c + 1];
    const std::size_t reference = choose_column(table, options, column.label, c);
    against.notes.push_back(fmt::format("{} ({}) is set beside the published {}", column.key,
                                        column.label, table.columns[reference]));
    for (const ComparedRow& row : comparison.rows) {
      for (const PublishedRow& published : table.rows) {
        if (!names_match(published.name, row.name, row.family)) continue;
        found.insert(published.name);
        if (!published.changes[reference]) continue;
        const PublishedChange& change = *published.changes[reference];
        AgainstRow result{
            row.name, column.key, published.name, change.percent, mark_text(change.mark), "", ""};
        const RowTest& test = row.cells[c].test;
        if (!difference.empty() || !test.difference) {
          result.verdict = "not comparable";
          result.reason = !difference.empty() ? difference : test.reason;
        } else if (change.mark == PublishedMark::unresolved) {
          result.verdict = "unresolved";
          result.reason = "the reference itself could not tell";
        } else if (is_published_change(change, comparison.options.judge.tolerance)) {
          judge_change(test, change.percent, options.agreement, result);
        } else {
          judge_null(test, result);
        }
        against.rows.push_back(std::move(result));
      }
    }
  }
  for (const PublishedRow& published : table.rows) {
    if (!found.contains(published.name)) against.missing.push_back(published.name);
  }
  if (against.rows.empty()) {
    throw usage_error(fmt::format("no row of this comparison is in {}", table.path.string()),
                      "its rows are named like \"" + table.rows.front().name + "\"");
  }
  comparison.against = std::move(against);
}

}  // namespace krepro
