// ScriptedServer; see running_http.h. It forks, which only files of tests may, and so has their
// name.
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generators/http/test_support/running_http.h"

namespace krepro::http {

ScriptedServer::ScriptedServer(const Script& script, int backlog, unsigned pause_us) {
  const int listening = bound_socket(port_);
  listen(listening, backlog);
  process_ = fork();
  if (process_ != 0) {
    setpgid(process_, process_);
    close(listening);
    return;
  }
  setpgid(0, 0);
  signal(SIGCHLD, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  for (;;) {
    usleep(pause_us);
    const int connection = accept(listening, nullptr, nullptr);
    if (fork() == 0) {
      script(connection);
      _exit(0);
    }
    close(connection);
  }
}

ScriptedServer::~ScriptedServer() {
  kill(-process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

std::string ScriptedServer::url() const { return fmt::format("http://127.0.0.1:{}/", port_); }

}  // namespace krepro::http
