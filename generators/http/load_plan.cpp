// Requests and their order; see load_plan.h.
#include "generators/http/load_plan.h"

namespace krepro::http {

RequestMix::RequestMix(const LoadSettings& load, const Url& url,
                       const std::vector<WeightedPath>& paths) {
  std::uint64_t sum = 0;
  for (const WeightedPath& path : paths) {
    const std::string one = request_text(load, url, path.path);
    std::string text;
    for (std::size_t i = 0; i < load.pipeline; ++i) text += one;
    texts_.push_back(std::move(text));
    sum += path.weight;
    ends_.push_back(sum);
  }
}

std::size_t LoadPlan::connections_of(std::size_t thread) const {
  const std::size_t rest = settings.connections % settings.threads;
  return settings.connections / settings.threads + (thread < rest ? 1 : 0);
}

std::uint64_t LoadPlan::sequence_digest() const {
  constexpr std::uint64_t prime = 1099511628211ULL;
  std::uint64_t digest = 14695981039346656037ULL;
  const auto add = [&digest](std::uint64_t value) { digest = (digest ^ value) * prime; };
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    // Without the first lines' end: the port of a server that was started for this trial is chance.
    const std::string& text = requests.text(i);
    for (const char letter : text.substr(0, text.find('\n'))) {
      add(static_cast<unsigned char>(letter));
    }
  }
  RandomStream random(seed, 0);
  for (int i = 0; i < 1000; ++i) add(requests.pick(random));
  if (settings.open_loop()) {
    Pacer pacer(settings.arrivals, settings.rate, seed, 0);
    for (int i = 0; i < 1000; ++i) add(static_cast<std::uint64_t>(pacer.next_ns()));
  }
  return digest;
}

}  // namespace krepro::http
