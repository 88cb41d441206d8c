// Runs a program where io_uring is refused: without_io_uring HOW PROGRAM ARGUMENTS..., with HOW
//   eperm, enosys   a seccomp filter answers io_uring_setup so
//   memlock         an ordinary user may not lock any memory (needs root to become one)
// For tests only.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

namespace {

bool filter_io_uring(unsigned error_number) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_number),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(sizeof code / sizeof code[0]), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool forbid_locking() {
  constexpr unsigned nobody = 65534;
  const rlimit none{0, 0};
  return setrlimit(RLIMIT_MEMLOCK, &none) == 0 && setresgid(nobody, nobody, nobody) == 0 &&
         setresuid(nobody, nobody, nobody) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 100;
  const std::string how = argv[1];
  const bool done = how == "memlock" ? forbid_locking()
                    : how == "eperm" ? filter_io_uring(EPERM)
                                     : filter_io_uring(ENOSYS);
  if (!done) return 101;
  execv(argv[2], argv + 2);
  return 102;
}
