# The warnings that every target of the project is built with, as errors, and the sanitizer flags of the preset.
add_library(krepro_flags INTERFACE)
target_compile_options(krepro_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fno-omit-frame-pointer)
if(KREPRO_SANITIZE)
  target_compile_options(krepro_flags INTERFACE -fsanitize=${KREPRO_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(krepro_flags INTERFACE -fsanitize=${KREPRO_SANITIZE})
endif()
if(KREPRO_STATIC)
  target_link_options(krepro_flags INTERFACE -static)
endif()
