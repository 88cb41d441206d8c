// The result for people on standard output. A generator whose original prints lines that its users
// know overrides it.
#include <fmt/format.h>

#include "common/base/units.h"
#include "common/generator/generator.h"

namespace krepro {

namespace {

std::string latency_row(const std::string& name, const Histogram& histogram) {
  const auto shown = [&histogram](double share) {
    const std::string text = format_duration(static_cast<double>(histogram.percentile(share)));
    return histogram.percentile_is_bound(share) ? ">" + text : text;
  };
  return fmt::format("  {:<18} {:>9} {:>9} {:>9} {:>9} {:>9}\n", name, shown(0.5), shown(0.9),
                     shown(0.99), shown(0.999),
                     format_duration(static_cast<double>(histogram.max())));
}

}  // namespace

std::string Generator::human_result(const Sample& sample) const {
  std::string out = fmt::format("{}: {} operations in {}{}\n", sample.generator,
                                format_grouped(sample.operations),
                                format_duration(static_cast<double>(sample.duration_ns)),
                                sample.truncated ? ", truncated" : "");
  for (const auto& [name, metric] : sample.metrics) {
    out += fmt::format("  {:<34} {:>14}{}\n", name, format_value(metric.value, metric.unit),
                       metric.primary ? "  *" : "");
  }
  if (!sample.latency.empty()) {
    out += fmt::format("  {:<18} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "latency", "p50", "p90", "p99",
                       "p99.9", "max");
    for (const auto& [name, histogram] : sample.latency) out += latency_row(name, histogram);
  }
  for (const auto& [kind, count] : sample.errors) {
    out += fmt::format("  errors, {}: {}\n", kind, format_grouped(count));
  }
  for (const std::string& note : sample.notes) out += fmt::format("  note: {}\n", note);
  return out;
}

}  // namespace krepro
