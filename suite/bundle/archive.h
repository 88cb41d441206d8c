// A set of small files as one .tar.zst, in memory: what a bundle is made of. Over libarchive, which
// is included in archive.cpp alone.
#pragma once

#include <map>
#include <string>

namespace krepro {

/// Name to content. Names are plain: no directories above, no links.
using FileSet = std::map<std::string, std::string>;

/// tar, compressed with zstd. The same files give the same bytes.
[[nodiscard]] std::string pack(const FileSet& files);
/// Reads what pack() made, or the same by tar and zstd. Throws usage_error: not such an archive,
/// too large (256 MiB unpacked), names that are not plain.
[[nodiscard]] FileSet unpack(const std::string& bytes, const std::string& name);

/// The content of a gzip file. Throws usage_error: not one, or more than 64 MiB unpacked.
[[nodiscard]] std::string gunzip(const std::string& bytes, const std::string& name);

[[nodiscard]] std::string to_base64(const std::string& bytes);
/// White space is skipped. Throws usage_error where it is not base64.
[[nodiscard]] std::string from_base64(const std::string& text, const std::string& name);

}  // namespace krepro
