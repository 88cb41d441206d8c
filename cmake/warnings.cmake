# The warnings that every target of the project is built with, and the sanitizer flags of the preset. Warnings are errors
# for developers and in CI (KREPRO_WERROR); a newer compiler on a user's machine must not end the build with them.
add_library(krepro_flags INTERFACE)
target_compile_options(krepro_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -fno-omit-frame-pointer)
if(NOT CMAKE_UNITY_BUILD)
  # In a bundle, a local may bear the name of another file's helper; a build without bundles has the warning.
  target_compile_options(krepro_flags INTERFACE -Wshadow)
endif()
if(KREPRO_WERROR)
  target_compile_options(krepro_flags INTERFACE -Werror)
endif()
if(KREPRO_SANITIZE)
  target_compile_options(krepro_flags INTERFACE -fsanitize=${KREPRO_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(krepro_flags INTERFACE -fsanitize=${KREPRO_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The sanitizers' checks hide from GCC what is always set (seen within <regex>); the other builds have the warning.
    target_compile_options(krepro_flags INTERFACE -Wno-maybe-uninitialized)
    if(KREPRO_SANITIZE STREQUAL "thread")
      # Asio's fences, which ThreadSanitizer does not see: http's embedded server has them, in processes of one thread.
      target_compile_options(krepro_flags INTERFACE -Wno-tsan)
    endif()
  endif()
endif()
if(KREPRO_STATIC)
  target_link_options(krepro_flags INTERFACE -static)
endif()

# For what is not on any measured path, the suite and the tests: a third less time to build than -O2 wants.
add_library(krepro_quick_build INTERFACE)
target_compile_options(krepro_quick_build INTERFACE $<$<CONFIG:Release>:-O1>)
