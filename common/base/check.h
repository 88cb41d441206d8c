// Assertions for errors of the programmer: always on, outside the hot path. They print the place
// and abort.
#pragma once

#include <cstdio>
#include <cstdlib>

/// Aborts with file, line and the condition's text when `condition` is false.
#define KREPRO_CHECK(condition)                                                            \
  do {                                                                                     \
    if (!(condition)) [[unlikely]] {                                                       \
      std::fprintf(stderr, "%s:%d: internal error: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                        \
    }                                                                                      \
  } while (false)
