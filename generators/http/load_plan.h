// What all threads of a load share and only read: settings, the server's address, the requests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "generators/http/address.h"
#include "generators/http/settings.h"
#include "generators/http/tls.h"

namespace krepro::http {

/// The requests as they are written to the wire (with pipelining several in one piece), and how
/// often each is chosen.
class RequestMix {
 public:
  RequestMix() = default;
  RequestMix(const LoadSettings& load, const Url& url, const std::vector<WeightedPath>& paths);
  /// An index into the texts, by weight.
  [[nodiscard]] std::uint32_t pick(RandomStream& random) const {
    if (texts_.size() == 1) return 0;
    const std::uint64_t drawn = random.below(ends_.back());
    std::uint32_t index = 0;
    while (drawn >= ends_[index]) ++index;
    return index;
  }
  [[nodiscard]] const std::string& text(std::uint32_t index) const { return texts_[index]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string> texts_;
  std::vector<std::uint64_t> ends_;  ///< Sums of the weights up to and including each.
};

struct LoadPlan {
  LoadSettings settings;
  Address server;
  const TlsClient* tls = nullptr;  ///< nullptr: plain.
  RequestMix requests;
  std::uint64_t seed = 0;

  /// Connections of one thread: as many each, the first ones one more.
  [[nodiscard]] std::size_t connections_of(std::size_t thread) const;
  /// Over what the requests are and their first choices: equal for equal seeds and options.
  [[nodiscard]] std::uint64_t sequence_digest() const;
};

}  // namespace krepro::http
