// Parsing of placements by recursive descent. Operators have one precedence and bind to the left;
// '-' is an operator only between spaces, since words and ranges have it too.
#include "suite/placement/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/error.h"

namespace krepro {

namespace {

constexpr std::size_t text_length_max = 4096;
constexpr int nesting_max = 16;

struct WordRule {
  const char* name;
  PlacementWord word;
  const char* argument;  ///< An example; nullptr: takes none.
};

constexpr std::array<WordRule, 13> word_rules = {{
    {"all", PlacementWord::all, nullptr},
    {"rest", PlacementWord::rest, nullptr},
    {"one-per-core", PlacementWord::one_per_core, nullptr},
    {"one-per-llc", PlacementWord::one_per_llc, nullptr},
    {"spread-llc", PlacementWord::spread_llc, "4"},
    {"llc", PlacementWord::llc, "0,2"},
    {"cluster", PlacementWord::cluster, "0-3"},
    {"one-per-cluster", PlacementWord::one_per_cluster, nullptr},
    {"kind", PlacementWord::kind, "1"},
    {"node", PlacementWord::node, "1"},
    {"package", PlacementWord::package, "0"},
    {"cpus", PlacementWord::cpus, "0-7"},
    {"siblings-of", PlacementWord::siblings_of, "0-3"},
}};

[[noreturn]] void unknown_word(const std::string& name) {
  std::vector<std::string> names;
  for (const WordRule& rule : word_rules) names.emplace_back(rule.name);
  const std::string near = nearest(name, names);
  std::string forms;
  for (const WordRule& rule : word_rules) {
    if (!forms.empty()) forms += ", ";
    forms += rule.name;
    if (rule.argument != nullptr) forms += fmt::format(":{}", rule.argument);
  }
  throw usage_error(
      fmt::format("unknown placement \"{}\"", name),
      near.empty() ? "known are " + forms : fmt::format("did you mean \"{}\"?", near));
}

PlacementExpression parse_word(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto* rule = std::find_if(word_rules.begin(), word_rules.end(),
                                  [&](const WordRule& each) { return name == each.name; });
  if (rule == word_rules.end()) unknown_word(name);
  PlacementExpression expression;
  expression.word = rule->word;
  expression.text = text;
  if (rule->argument == nullptr) {
    if (colon != std::string::npos) {
      throw usage_error(fmt::format("placement \"{}\": {} takes nothing after it", text, name));
    }
    return expression;
  }
  const std::string example =
      fmt::format("expected numbers, for instance {}:{}", rule->name, rule->argument);
  if (colon == std::string::npos || colon + 1 == text.size()) {
    throw usage_error(fmt::format("placement \"{}\": what follows {} is missing", text, name),
                      example);
  }
  try {
    expression.numbers = CpuSet::parse(text.substr(colon + 1));
  } catch (const Error&) {
    throw usage_error(fmt::format("placement \"{}\": \"{}\" is not a list of numbers", text,
                                  text.substr(colon + 1)),
                      example);
  }
  const bool one_count = rule->word == PlacementWord::spread_llc;
  if (one_count && (expression.numbers.size() != 1 || expression.numbers.contains(0))) {
    throw usage_error(fmt::format("placement \"{}\": expected one number of CPUs, 1 or more", text),
                      "for instance spread-llc:4");
  }
  return expression;
}

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  PlacementExpression parse() {
    PlacementExpression expression = parse_operations(0);
    skip_spaces();
    if (at_ < text_.size()) throw wrong(fmt::format("\"{}\" is not expected", text_.substr(at_)));
    return expression;
  }

 private:
  Error wrong(const std::string& what) const {
    return usage_error(fmt::format("placement \"{}\": {}", text_, what));
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  /// The operator at this point, or 0.
  char take_operator() {
    skip_spaces();
    if (at_ == text_.size()) return 0;
    char found = text_[at_];
    if (found == '|') found = '+';
    if (found != '+' && found != '&' && found != '-') return 0;
    ++at_;
    return found;
  }

  PlacementExpression parse_operations(int depth) {
    if (depth > nesting_max) throw wrong("nested too deeply");
    PlacementExpression left = parse_operand(depth);
    for (char operation = take_operator(); operation != 0; operation = take_operator()) {
      PlacementExpression joined;
      joined.operation = operation;
      joined.operands.push_back(std::move(left));
      joined.operands.push_back(parse_operand(depth));
      left = std::move(joined);
    }
    return left;
  }

  PlacementExpression parse_operand(int depth) {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '(') {
      ++at_;
      PlacementExpression inner = parse_operations(depth + 1);
      skip_spaces();
      if (at_ == text_.size() || text_[at_] != ')') throw wrong("\")\" is missing");
      ++at_;
      return inner;
    }
    const std::size_t end = std::min(text_.find_first_of(" \t()+&|", at_), text_.size());
    if (end == at_) throw wrong("a placement is missing");
    const std::string word = text_.substr(at_, end - at_);
    at_ = end;
    return parse_word(word);
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

bool PlacementExpression::uses_rest() const {
  if (operation == 0) return word == PlacementWord::rest;
  return std::any_of(operands.begin(), operands.end(),
                     [](const PlacementExpression& operand) { return operand.uses_rest(); });
}

PlacementExpression parse_placement(const std::string& text) {
  if (text.find_first_not_of(" \t") == std::string::npos)
    throw usage_error("the placement is empty");
  if (text.size() > text_length_max) {
    throw usage_error(fmt::format("a placement has at most {} characters", text_length_max));
  }
  return Parser(text).parse();
}

}  // namespace krepro
