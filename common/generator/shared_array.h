// Memory shared between a generator and the worker processes that it forks: results are left where
// the parent reads them.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <new>
#include <type_traits>

#include "common/base/error.h"

namespace krepro {

/// `count` value-initialised elements in anonymous shared memory. Elements must not own memory of
/// one process.
template <typename Element>
class SharedArray {
  static_assert(std::is_trivially_destructible_v<Element>);

 public:
  explicit SharedArray(std::size_t count) : count_(count) {
    void* memory =
        mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw system_error("shared memory for the workers", errno);
    elements_ = static_cast<Element*>(memory);
    for (std::size_t i = 0; i < count_; ++i) new (elements_ + i) Element();
  }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;
  ~SharedArray() { munmap(elements_, bytes()); }

  [[nodiscard]] std::size_t size() const { return count_; }
  Element& operator[](std::size_t index) { return elements_[index]; }
  const Element& operator[](std::size_t index) const { return elements_[index]; }
  Element* begin() { return elements_; }
  Element* end() { return elements_ + count_; }

 private:
  [[nodiscard]] std::size_t bytes() const { return (count_ == 0 ? 1 : count_) * sizeof(Element); }
  std::size_t count_;
  Element* elements_ = nullptr;
};

}  // namespace krepro
