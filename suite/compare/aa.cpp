#include "suite/compare/aa.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "common/base/random.h"
#include "suite/report/summary_table.h"

namespace krepro {
namespace {

constexpr std::size_t fewest_boots_to_deal = 2 * minimum_boots;

bool all_positive(const SideRow& row) {
  const std::vector<double> values = all_values(row.boots);
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

AaRow describe(const SideRow& row) {
  AaRow result;
  result.name = row.benchmark.name;
  result.boots = row.boots.size();
  result.notes = row.notes;
  const std::vector<double> values = all_values(row.boots);
  result.trials = values.size();
  result.median = median(values);
  if (!all_positive(row)) return result;
  double squares = 0;
  double df = 0;
  double inverse_sum = 0;
  std::vector<double> means;
  for (const BootTrials& boot : row.boots) {
    const std::vector<double> logs = logarithms(boot.values);
    squares += variance(logs) * (static_cast<double>(logs.size()) - 1);
    df += static_cast<double>(logs.size()) - 1;
    inverse_sum += 1 / static_cast<double>(logs.size());
    means.push_back(mean(logs));
  }
  if (df > 0) result.within_boots = std::sqrt(squares / df);
  if (means.size() >= 2) {
    const double own = df > 0 ? squares / df * inverse_sum / static_cast<double>(means.size()) : 0;
    result.between_boots = std::sqrt(std::max(0.0, variance(means) - own));
  }
  return result;
}

/// In which half each of `count` things is: as many here as there, the odd one left out (2).
std::vector<int> deal(std::size_t count, RandomStream& random) {
  std::vector<int> halves(count, 2);
  for (std::size_t i = 0; i < count / 2 * 2; ++i) halves[i] = static_cast<int>(i % 2);
  for (std::size_t i = count; i > 1; --i) std::swap(halves[i - 1], halves[random.below(i)]);
  return halves;
}

/// Boots to the sides; the same for all rows, as kernels are.
std::vector<RowData> deal_boots(const std::vector<SideRow>& rows, RandomStream& random) {
  std::map<std::string, int> half_of;
  for (const SideRow& row : rows) {
    for (const BootTrials& boot : row.boots) half_of[boot.boot] = 2;
  }
  const std::vector<int> halves = deal(half_of.size(), random);
  std::size_t next = 0;
  for (auto& [boot, half] : half_of) half = halves[next++];
  std::vector<RowData> questions;
  for (const SideRow& row : rows) {
    RowData question;
    question.family = row.benchmark.family;
    for (const BootTrials& boot : row.boots) {
      const int half = half_of[boot.boot];
      if (half == 0) question.base.push_back(boot);
      if (half == 1) question.other.push_back(boot);
    }
    questions.push_back(std::move(question));
  }
  return questions;
}

/// Repetitions of each boot to the sides: by chance, or the first half against the second, as when
/// one setting is measured and then the other.
std::vector<RowData> deal_repetitions(const std::vector<SideRow>& rows, bool in_blocks,
                                      RandomStream& random) {
  std::vector<RowData> questions;
  for (const SideRow& row : rows) {
    RowData question;
    question.family = row.benchmark.family;
    for (const BootTrials& boot : row.boots) {
      const std::size_t half = boot.values.size() / 2;
      BootTrials base{boot.host, boot.boot, {}, {}};
      BootTrials other = base;
      for (std::size_t i = 0; i < half; ++i) {
        // Neighbours are a pair; which of them is the base is chance.
        const bool swapped = !in_blocks && random.below(2) == 1;
        const std::size_t first = in_blocks ? i : 2 * i;
        const std::size_t second = in_blocks ? half + i : 2 * i + 1;
        base.values.push_back(boot.values[swapped ? second : first]);
        other.values.push_back(boot.values[swapped ? first : second]);
        base.blocks.push_back(static_cast<std::int64_t>(i));
        other.blocks.push_back(static_cast<std::int64_t>(i));
      }
      question.base.push_back(std::move(base));
      question.other.push_back(std::move(other));
    }
    questions.push_back(std::move(question));
  }
  return questions;
}

using Deal = std::function<std::vector<RowData>()>;

/// Judges `splits` deals. `same` must not hide alarms, so the tolerance is none.
AaRule count_alarms(const std::string& name, JudgeOptions options, std::size_t splits,
                    const Deal& deal_out) {
  options.tolerance = 0;
  options.plan_ahead = false;
  AaRule rule{name, splits, 0, 0};
  double rows = 0;
  double called = 0;
  for (std::size_t split = 0; split < splits; ++split) {
    bool any = false;
    for (const RowTest& test : judge(deal_out(), options)) {
      const bool alarm = test.verdict == Verdict::worse || test.verdict == Verdict::better;
      ++rows;
      called += alarm ? 1 : 0;
      any = any || alarm;
    }
    rule.tables_called += any ? 1 : 0;
  }
  rule.rows_called = rows > 0 ? called / rows : 0;
  rule.tables_called /= static_cast<double>(splits);
  return rule;
}

std::string sd_text(const std::optional<double>& sd) {
  return sd ? fmt::format("{:.1f} %", 100 * std::expm1(*sd)) : "-";
}

}  // namespace

AaResult compare_with_itself(const std::vector<SideRow>& rows, std::size_t splits,
                             std::uint64_t seed) {
  AaResult result;
  std::vector<SideRow> usable;
  std::size_t most_boots = 0;
  std::size_t most_trials = 0;
  for (const SideRow& row : rows) {
    result.rows.push_back(describe(row));
    if (!all_positive(row)) continue;
    usable.push_back(row);
    most_boots = std::max(most_boots, row.boots.size());
    for (const BootTrials& boot : row.boots) {
      most_trials = std::max(most_trials, boot.values.size());
    }
  }
  if (usable.empty()) return result;
  RandomStream random(seed);
  JudgeOptions paired;
  paired.paired = true;
  JudgeOptions overlap;
  overlap.rule = Rule::overlap;
  if (most_boots >= fewest_boots_to_deal) {
    result.rules.push_back(count_alarms("boots dealt out: krepro compare", {}, splits,
                                        [&] { return deal_boots(usable, random); }));
    result.rules.push_back(count_alarms("boots dealt out: 95 % intervals of trials apart", overlap,
                                        splits, [&] { return deal_boots(usable, random); }));
  }
  if (most_trials >= 6) {
    result.rules.push_back(count_alarms("repetitions in pairs: --paired", paired, splits,
                                        [&] { return deal_repetitions(usable, false, random); }));
    result.rules.push_back(count_alarms("first half against second: 95 % intervals apart", overlap,
                                        1, [&] { return deal_repetitions(usable, true, random); }));
  }
  return result;
}

std::string aa_report(const AaResult& result, const std::string& label) {
  std::string text = fmt::format("{} against itself\n\n", label);
  text += fmt::format("{:<34}{:>10}{:>12}{:>12}{:>7}\n", "noise (standard deviation)", "median",
                      "within boot", "betw. boots", "n");
  for (const AaRow& row : result.rows) {
    text += fmt::format("  {:<32.32}{:>10}{:>12}{:>12}{:>7}\n", row.name, format_figure(row.median),
                        sd_text(row.within_boots), sd_text(row.between_boots), row.trials);
    for (const std::string& note : row.notes) {
      text += wrap_text("      " + note, "        ") + "\n";
    }
  }
  if (result.rules.empty()) {
    return text + "\n" +
           wrap_text(
               "too few trials to deal out: at least 6 repetitions in a boot, or 6 boots, are "
               "needed",
               "  ") +
           "\n";
  }
  text += fmt::format("\n{:<52}{:>8}{:>17}\n", "false alarms: nothing differs, and yet", "rows",
                      "tables with any");
  for (const AaRule& rule : result.rules) {
    text += fmt::format("  {:<50}{:>6.1f} %{:>15.1f} %  ({}x)\n", rule.name, 100 * rule.rows_called,
                        100 * rule.tables_called, rule.splits);
  }
  const bool boots = result.rows.front().boots >= fewest_boots_to_deal;
  if (!boots) {
    text += wrap_text(
                "the difference between boots is not in this: give run files of 6 boots of this "
                "kernel (krepro aa FILE...)",
                "  ") +
            "\n";
  }
  return text;
}

}  // namespace krepro
