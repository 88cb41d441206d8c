// fio's job files: sections of name=value lines, [global] for all that follow. Nothing is expanded
// or included; what is not understood is an error with its line.
#pragma once

#include <string>
#include <vector>

#include "common/generator/options.h"

namespace krepro::randwrite {

struct JobSection {
  std::string name;
  Options options;
};

/// The jobs of a file, in its order: defaults, then [global] as far as it stands above, then the
/// section, then what was given in `overrides`. Throws usage_error ("FILE:LINE: ...").
[[nodiscard]] std::vector<JobSection> read_job_file(const std::string& path,
                                                    const Options& overrides);
/// The same from text; `path` is for messages.
[[nodiscard]] std::vector<JobSection> parse_job_file(const std::string& text,
                                                     const std::string& path,
                                                     const Options& overrides);

}  // namespace krepro::randwrite
