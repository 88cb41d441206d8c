#include "suite/bundle/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <memory>
#include <string_view>

#include "common/base/check.h"
#include "common/base/error.h"

namespace krepro {
namespace {

constexpr std::size_t largest_unpacked_bytes = std::size_t{256} << 20U;

struct FreeWriter {
  void operator()(archive* a) const { archive_write_free(a); }
};
struct FreeReader {
  void operator()(archive* a) const { archive_read_free(a); }
};
struct FreeEntry {
  void operator()(archive_entry* e) const { archive_entry_free(e); }
};

/// libarchive's sink: appends to a string.
la_ssize_t append_to_string(archive* /*a*/, void* target, const void* data, std::size_t size) {
  static_cast<std::string*>(target)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

void check_write(archive* a, int status) {
  if (status < ARCHIVE_WARN) {
    throw Error(ExitCode::failed, fmt::format("cannot pack: {}", archive_error_string(a)));
  }
}

bool is_plain(const std::string& name) {
  return !name.empty() && name.front() != '/' && name.find("..") == std::string::npos &&
         name.find('\\') == std::string::npos;
}

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string pack(const FileSet& files) {
  std::string result;
  const std::unique_ptr<archive, FreeWriter> writer(archive_write_new());
  archive* a = writer.get();
  KREPRO_CHECK(a != nullptr);
  check_write(a, archive_write_set_format_ustar(a));
  check_write(a, archive_write_add_filter_zstd(a));
  check_write(a, archive_write_set_filter_option(a, "zstd", "compression-level", "19"));
  check_write(a, archive_write_set_bytes_in_last_block(a, 1));
  check_write(a, archive_write_open(a, &result, nullptr, append_to_string, nullptr));
  for (const auto& [name, content] : files) {
    const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_mtime(entry.get(), 0, 0);
    check_write(a, archive_write_header(a, entry.get()));
    if (archive_write_data(a, content.data(), content.size()) < 0) {
      throw Error(ExitCode::failed, fmt::format("cannot pack: {}", archive_error_string(a)));
    }
  }
  check_write(a, archive_write_close(a));
  return result;
}

FileSet unpack(const std::string& bytes, const std::string& name) {
  const std::unique_ptr<archive, FreeReader> reader(archive_read_new());
  archive* a = reader.get();
  KREPRO_CHECK(a != nullptr);
  archive_read_support_format_tar(a);
  archive_read_support_filter_zstd(a);
  const auto refuse = [&](const std::string& what) {
    return usage_error(fmt::format("{}: not a bundle of krepro: {}", name, what));
  };
  if (archive_read_open_memory(a, bytes.data(), bytes.size()) != ARCHIVE_OK) {
    throw refuse(archive_error_string(a));
  }
  FileSet files;
  std::size_t total = 0;
  archive_entry* entry = nullptr;
  int status = ARCHIVE_OK;
  while ((status = archive_read_next_header(a, &entry)) == ARCHIVE_OK) {
    const char* path = archive_entry_pathname(entry);
    if (path == nullptr || !is_plain(path)) throw refuse("a file name that is not plain");
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    std::string& content = files[path];
    std::array<char, 65536> buffer{};
    la_ssize_t count = 0;
    while ((count = archive_read_data(a, buffer.data(), buffer.size())) > 0) {
      total += static_cast<std::size_t>(count);
      if (total > largest_unpacked_bytes) throw refuse("more than 256 MiB unpacked");
      content.append(buffer.data(), static_cast<std::size_t>(count));
    }
    if (count < 0) throw refuse(archive_error_string(a));
  }
  if (status != ARCHIVE_EOF) throw refuse(archive_error_string(a));
  return files;
}

std::string gunzip(const std::string& bytes, const std::string& name) {
  constexpr std::size_t largest_bytes = 64U << 20U;
  const std::unique_ptr<archive, FreeReader> reader(archive_read_new());
  archive* a = reader.get();
  KREPRO_CHECK(a != nullptr);
  archive_read_support_filter_gzip(a);
  archive_read_support_format_raw(a);
  archive_entry* entry = nullptr;
  std::string content;
  la_ssize_t count = 0;
  if (archive_read_open_memory(a, bytes.data(), bytes.size()) == ARCHIVE_OK &&
      archive_read_next_header(a, &entry) == ARCHIVE_OK && archive_filter_count(a) > 1) {
    std::array<char, 65536> buffer{};
    while ((count = archive_read_data(a, buffer.data(), buffer.size())) > 0) {
      content.append(buffer.data(), static_cast<std::size_t>(count));
      if (content.size() > largest_bytes) throw usage_error(name + ": more than 64 MiB unpacked");
    }
    if (count == 0) return content;
  }
  throw usage_error(fmt::format("{}: not a gzip file", name));
}

std::string to_base64(const std::string& bytes) {
  constexpr std::size_t line_width = 76;
  std::string text;
  std::size_t column = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? alphabet[group >> (18 - 6 * k) & 63U] : '=';
    }
    column += 4;
    if (column >= line_width) {
      text += '\n';
      column = 0;
    }
  }
  if (column > 0) text += '\n';
  return text;
}

std::string from_base64(const std::string& text, const std::string& name) {
  std::string bytes;
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '=') continue;
    // Mail that was quoted has these before its lines.
    if (c == '>' || c == '|') continue;
    const std::size_t value = alphabet.find(c);
    if (value == std::string_view::npos) {
      throw usage_error(fmt::format("{}: its data is damaged: '{}' is not base64", name, c));
    }
    group = group << 6U | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(group >> bits & 0xffU);
    }
  }
  return bytes;
}

}  // namespace krepro
