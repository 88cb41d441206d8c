// The connections of one thread and the memory that they read into. Not their sockets' business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>

#include "generators/http/connection.h"

namespace krepro::http {

class ConnectionTable {
 public:
  /// Bytes that a read asks for; wrk's.
  static constexpr std::size_t buffer_bytes = 8192;

  enum class Buffers : std::uint8_t {
    /// wrk's: each connection's lies right behind it. With a thousand connections, records and
    /// buffers are no longer in the nearer caches and the TLB, and what misses there is part of
    /// the load.
    own,
    shared  ///< One for all, which stays in the cache.
  };

  ConnectionTable(std::size_t count, Buffers buffers)
      : count_(count),
        distance_(sizeof(Connection) + (buffers == Buffers::own ? buffer_bytes : 0)),
        shared_(buffers == Buffers::own ? nullptr : allocate(buffer_bytes)),
        memory_(allocate(count * distance_)) {
    for (std::size_t i = 0; i < count_; ++i) std::construct_at(&at(i));
  }
  ConnectionTable(const ConnectionTable&) = delete;
  ConnectionTable& operator=(const ConnectionTable&) = delete;
  ~ConnectionTable() {
    for (std::size_t i = 0; i < count_; ++i) std::destroy_at(&at(i));
  }

  [[nodiscard]] std::size_t size() const { return count_; }
  /// For range-based loops: a Connection& each.
  [[nodiscard]] auto all() {
    return std::views::iota(std::size_t{0}, count_) |
           std::views::transform([this](std::size_t i) -> Connection& { return at(i); });
  }
  /// Where `connection`, one of this table, reads to: `buffer_bytes`.
  [[nodiscard]] char* buffer_of(Connection& connection) {
    return shared_ ? shared_.get() : reinterpret_cast<char*>(&connection + 1);
  }

 private:
  using Memory = std::unique_ptr<char[]>;

  /// Not touched before it is needed: of thousands of connections few fill their buffer.
  static Memory allocate(std::size_t size) { return std::make_unique_for_overwrite<char[]>(size); }
  [[nodiscard]] Connection& at(std::size_t i) {
    return *reinterpret_cast<Connection*>(memory_.get() + i * distance_);
  }

  std::size_t count_;
  std::size_t distance_;
  Memory shared_;
  Memory memory_;
};

static_assert(ConnectionTable::buffer_bytes % alignof(Connection) == 0 &&
              alignof(Connection) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

}  // namespace krepro::http
