// The connections of one thread and the memory that they read into. Not their sockets' business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

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

  /// For range-based loops.
  class Iterator {
   public:
    Iterator(char* record, std::size_t distance) : record_(record), distance_(distance) {}
    Connection& operator*() const { return *reinterpret_cast<Connection*>(record_); }
    Iterator& operator++() {
      record_ += distance_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    char* record_;
    std::size_t distance_;
  };

  ConnectionTable(std::size_t count, Buffers buffers)
      : count_(count),
        distance_(sizeof(Connection) + (buffers == Buffers::own ? buffer_bytes : 0)),
        shared_(buffers == Buffers::own ? nullptr : allocate(buffer_bytes)),
        memory_(allocate(count * distance_)) {
    for (Connection& connection : *this) std::construct_at(&connection);
  }
  ConnectionTable(const ConnectionTable&) = delete;
  ConnectionTable& operator=(const ConnectionTable&) = delete;
  ~ConnectionTable() {
    for (Connection& connection : *this) std::destroy_at(&connection);
  }

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] Iterator begin() { return {memory_.get(), distance_}; }
  [[nodiscard]] Iterator end() { return {memory_.get() + count_ * distance_, distance_}; }
  /// Where `connection`, one of this table, reads to: `buffer_bytes`.
  [[nodiscard]] char* buffer_of(Connection& connection) {
    return shared_ ? shared_.get() : reinterpret_cast<char*>(&connection + 1);
  }

 private:
  using Memory = std::unique_ptr<char[]>;

  /// Not touched before it is needed: of thousands of connections few fill their buffer.
  static Memory allocate(std::size_t size) { return std::make_unique_for_overwrite<char[]>(size); }

  std::size_t count_;
  std::size_t distance_;
  Memory shared_;
  Memory memory_;
};

static_assert(ConnectionTable::buffer_bytes % alignof(Connection) == 0 &&
              alignof(Connection) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

}  // namespace krepro::http
