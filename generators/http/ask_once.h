// One request, to see that a server that was just started answers as it should. Not for measuring.
#pragma once

#include <functional>

#include "generators/http/url.h"

namespace krepro::http {

/// The status of the answer to a GET of the URL's path, within `limit_ns`; 0 where none came.
/// Throws usage_error where it cannot connect.
[[nodiscard]] int ask_once(const Url& url, std::int64_t limit_ns,
                           const std::function<void()>& check_interrupted);

}  // namespace krepro::http
