// The mark that says that krepro made a file and may overwrite it: the extended attribute
// user.krepro.made, and where the file system has none, a file beside it, NAME.krepro-made, that
// names the inode.
#pragma once

#include <string>

namespace krepro::randwrite {

/// Marks the file that `fd` has open. Throws a usage error where neither way works.
void mark_as_made(int fd, const std::string& path);
[[nodiscard]] bool is_marked_as_made(int fd, const std::string& path);
/// Where the mark of `path` lies if it is a file of its own; to be removed with it.
[[nodiscard]] std::string mark_path(const std::string& path);

}  // namespace krepro::randwrite
