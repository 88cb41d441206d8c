// Helpers of the item tables: one file's line, one file's number, and what there is instead.
// Private to suite/environment.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "common/base/kernel_text.h"
#include "suite/environment/environment.h"

namespace krepro {

[[nodiscard]] Finding found(nlohmann::json value, std::string source);
[[nodiscard]] Finding not_found(std::string reason, std::string source);
/// The file's text, white space at its end cut off.
[[nodiscard]] Finding line_of(const HostFiles& host, const std::string& path);
/// The file's first number; a text that is not one ("max") is kept as text.
[[nodiscard]] Finding number_of(const HostFiles& host, const std::string& path);
/// Of "always [madvise] never" the word in brackets.
[[nodiscard]] Finding chosen_of(const HostFiles& host, const std::string& path);
/// The first of several files that is there.
[[nodiscard]] Finding first_line_of(const HostFiles& host,
                                    std::initializer_list<std::string> paths);
/// "NAME: value" or "NAME = value" of a file such as /proc/meminfo; the first such line.
[[nodiscard]] Finding field_of(const HostFiles& host, const std::string& path,
                               const std::string& field);
/// The distinct contents of FILE in every cpuN directory: {"performance": "0-95"} by CPU list.
[[nodiscard]] Finding per_cpu(const HostFiles& host, const std::string& file);

/// {name: content} of every file in a directory, at most `most` of them; numbers as numbers.
[[nodiscard]] Finding directory_of(const HostFiles& host, const std::string& directory,
                                   std::size_t most = 64);
/// The start of /proc/cpuinfo: the first CPU's block is in it, and more is never needed.
[[nodiscard]] std::optional<std::string> cpuinfo_start(const HostFiles& host,
                                                       int* error_number = nullptr);
/// A line of the first CPU's block of /proc/cpuinfo.
[[nodiscard]] Finding cpuinfo_field(const HostFiles& host, const std::string& field);
/// As field_of(), of a text that was read already; nothing where there is no such line.
[[nodiscard]] std::optional<std::string> field_in(const std::string& text,
                                                  const std::string& field);
[[nodiscard]] bool has_word(const std::string& text, const std::string& word);
/// A number where the text is one, else the text.
[[nodiscard]] nlohmann::json number_or_text(const std::string& text);

[[nodiscard]] std::vector<EnvironmentItem> kernel_items();
[[nodiscard]] std::vector<EnvironmentItem> scheduler_items();
[[nodiscard]] std::vector<EnvironmentItem> cpu_items();
[[nodiscard]] std::vector<EnvironmentItem> memory_items();
[[nodiscard]] std::vector<EnvironmentItem> machine_items();
[[nodiscard]] std::vector<EnvironmentItem> storage_items();
[[nodiscard]] std::vector<EnvironmentItem> network_items();
[[nodiscard]] std::vector<EnvironmentItem> limit_items();
[[nodiscard]] std::vector<EnvironmentItem> software_items();
[[nodiscard]] std::vector<EnvironmentItem> counter_source_items();

}  // namespace krepro
