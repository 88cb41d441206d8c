// The event loop of a worker, by Boost.Asio, and its request parser, by Boost.Beast. Both are
// included here only: they are slow to compile.
#include "generators/http/embedded_worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>

#include "common/base/error.h"
#include "common/base/version.h"
#include "common/process/descriptor.h"

namespace krepro::http {

namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;
using TlsStream = asio::ssl::stream<Socket>;
using Parser = beast_http::request_parser<beast_http::buffer_body>;

constexpr std::size_t input_bytes = 4096;
/// nginx reads files in pieces of this size.
constexpr std::size_t piece_bytes = 32768;

constexpr const char* header_time = "%a, %d %b %Y %H:%M:%S GMT";
constexpr const char* log_time = "%d/%b/%Y:%H:%M:%S +0000";

/// A second of universal time in one of the formats above.
class TimeText {
 public:
  explicit TimeText(const char* format) : format_(format) {}
  /// The text for `at`; made anew only where it is another second than the last one.
  std::string_view text(std::time_t at) {
    if (at != at_) {
      at_ = at;
      std::tm parts{};
      gmtime_r(&at, &parts);
      size_ = std::strftime(text_.data(), text_.size(), format_, &parts);
    }
    return {text_.data(), size_};
  }

 private:
  const char* format_;
  std::time_t at_ = -1;
  std::array<char, 32> text_{};
  std::size_t size_ = 0;
};

/// What is shared by all sessions of a worker; one is answered at a time.
struct Shared {
  explicit Shared(const EmbeddedWorker& its_worker) : worker(&its_worker) {}

  const EmbeddedWorker* worker;
  std::array<char, 4096> discarded{};
  /// Headers and a piece of a file, until they are sent or stand in a session's own memory.
  std::array<char, piece_bytes + 512> output{};
  TimeText date{header_time};
  TimeText log_date{log_time};
  fmt::memory_buffer log_line;
};

template <typename Stream>
class Session : public std::enable_shared_from_this<Session<Stream>> {
 public:
  Session(Stream stream, Shared& shared) : stream_(std::move(stream)), shared_(&shared) {}

  void start() {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](error_code problem) {
                                if (!problem) self->next_request();
                              });
    } else {
      next_request();
    }
  }

 private:
  void next_request() {
    parser_.emplace();
    parser_->eager(true);
    parser_->header_limit(input_bytes);
    parser_->body_limit(boost::none);
    parse();
  }

  void read() {
    if (have_ == input_.size()) return answer_error("400 Bad Request");
    stream_.async_read_some(
        asio::buffer(input_.data() + have_, input_.size() - have_),
        [self = this->shared_from_this()](error_code problem, std::size_t size) {
          if (problem) return;
          self->have_ += size;
          self->parse();
        });
  }

  /// Goes on with what was read; asks for more until a request is whole.
  void parse() {
    std::size_t at = 0;
    bool more = have_ == 0;
    bool bad = false;
    while (!more && !bad && !parser_->is_done()) {
      parser_->get().body().data = shared_->discarded.data();
      parser_->get().body().size = shared_->discarded.size();
      error_code problem;
      at += parser_->put(asio::buffer(input_.data() + at, have_ - at), problem);
      more = problem == beast_http::error::need_more || (!problem && at == have_);
      bad = problem && !more && problem != beast_http::error::need_buffer;
    }
    std::memmove(input_.data(), input_.data() + at, have_ - at);
    have_ -= at;
    if (bad) return answer_error("400 Bad Request");
    if (!parser_->is_done()) return read();
    answer();
  }

  void answer() {
    const auto& request = parser_->get();
    keep_alive_ = request.keep_alive() && ++answered_ < shared_->worker->keepalive_requests;
    shared_->worker->requests->fetch_add(1, std::memory_order_relaxed);
    const std::string_view target(request.target().data(), request.target().size());
    const std::string_view path = target.substr(0, target.find('?'));
    if (!path.starts_with('/') || path.find("..") != std::string_view::npos) {
      return answer_error("404 Not Found");
    }
    path_.assign(shared_->worker->root).append(path);
    file_.reset(open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat facts {};
    if (!file_.valid() || fstat(file_.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
      file_.reset();
      return answer_error("404 Not Found");
    }
    left_ = static_cast<std::uint64_t>(facts.st_size);
    offset_ = 0;
    write_headers("200 OK", left_, &facts);
    if (request.method() == beast_http::verb::head) left_ = 0;
    log(200, left_);
    send_piece();
  }

  /// The headers that nginx sends: the client has as much to receive and to look through.
  void write_headers(std::string_view status, std::uint64_t length, const struct stat* file) {
    char* const begin = shared_->output.data();
    char* end = fmt::format_to(begin,
                               "HTTP/1.1 {}\r\nServer: krepro/{}\r\nDate: {}\r\n"
                               "Content-Type: text/html\r\nContent-Length: {}\r\n",
                               status, version, shared_->date.text(std::time(nullptr)), length);
    if (file != nullptr) {
      TimeText modified(header_time);
      end = fmt::format_to(end, "Last-Modified: {}\r\n", modified.text(file->st_mtime));
    }
    end = fmt::format_to(end, "Connection: {}\r\n", keep_alive_ ? "keep-alive" : "close");
    if (file != nullptr) {
      end = fmt::format_to(end, "ETag: \"{:x}-{:x}\"\r\nAccept-Ranges: bytes\r\n", file->st_mtime,
                           length);
    }
    end = fmt::format_to(end, "\r\n");
    header_bytes_ = filled_ = static_cast<std::size_t>(end - begin);
  }

  void answer_error(std::string_view status) {
    keep_alive_ = false;
    left_ = 0;
    write_headers(status, 0, nullptr);
    int number = 0;
    std::from_chars(status.data(), status.data() + status.size(), number);
    log(number, 0);
    send_piece();
  }

  /// The line that nginx writes by default.
  void log(int status, std::uint64_t bytes) {
    if (shared_->worker->access_log < 0) return;
    const auto& request = parser_->get();
    const auto view = [](auto text) { return std::string_view(text.data(), text.size()); };
    const auto header = [&](beast_http::field name) {
      const std::string_view value = view(request[name]);
      return value.empty() ? "-" : value;
    };
    shared_->log_line.clear();
    fmt::format_to(std::back_inserter(shared_->log_line),
                   "{} - - [{}] \"{} {} HTTP/{}.{}\" {} {} \"{}\" \"{}\"\n", shared_->worker->peer,
                   shared_->log_date.text(std::time(nullptr)), view(request.method_string()),
                   view(request.target()), request.version() / 10, request.version() % 10, status,
                   bytes, header(beast_http::field::referer),
                   header(beast_http::field::user_agent));
    [[maybe_unused]] const ssize_t written =
        write(shared_->worker->access_log, shared_->log_line.data(), shared_->log_line.size());
  }

  /// Headers and the file, piece by piece.
  void send_piece() {
    auto& output = shared_->output;
    if (left_ > 0) {
      const std::size_t room = std::min<std::uint64_t>(left_, output.size() - filled_);
      const ssize_t size =
          pread(file_.get(), output.data() + filled_, room, static_cast<off_t>(offset_));
      if (size <= 0) return;  // The file shrank: closing tells the peer.
      filled_ += static_cast<std::size_t>(size);
      offset_ += static_cast<std::uint64_t>(size);
      left_ -= static_cast<std::uint64_t>(size);
    }
    std::size_t sent = 0;
    if constexpr (!std::is_same_v<Stream, TlsStream>) {
      // Headers and file are two parts of one call, as nginx has them.
      const std::array<iovec, 2> parts{{{output.data(), header_bytes_},
                                        {output.data() + header_bytes_, filled_ - header_bytes_}}};
      const std::size_t first = header_bytes_ == 0 ? 1 : 0;
      const std::size_t last = filled_ == header_bytes_ ? 1 : 2;
      const ssize_t size =
          ::writev(stream_.native_handle(), parts.data() + first, static_cast<int>(last - first));
      if (size == static_cast<ssize_t>(filled_)) return piece_sent();
      if (size < 0 && errno != EAGAIN) return;
      if (size > 0) sent = static_cast<std::size_t>(size);
    }
    pending_.assign(output.data() + sent, filled_ - sent);
    asio::async_write(stream_, asio::buffer(pending_),
                      [self = this->shared_from_this()](error_code problem, std::size_t) {
                        if (!problem) self->piece_sent();
                      });
  }

  void piece_sent() {
    filled_ = header_bytes_ = 0;
    if (left_ > 0) return send_piece();
    file_.reset();
    if (keep_alive_) return next_request();
    ::shutdown(lowest().native_handle(), SHUT_WR);
  }

  Socket& lowest() {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }

  Stream stream_;
  Shared* shared_;
  std::optional<Parser> parser_;
  std::array<char, input_bytes> input_{};
  std::size_t have_ = 0;
  std::string path_;
  std::string pending_;           ///< What the socket did not take at once.
  std::size_t header_bytes_ = 0;  ///< At the beginning of what is filled.
  std::size_t filled_ = 0;
  Descriptor file_;
  std::uint64_t left_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t answered_ = 0;
  bool keep_alive_ = true;
};

class Worker {
 public:
  explicit Worker(const EmbeddedWorker& worker)
      : shared_(worker),
        listening_(context_, dup(worker.listening)),
        stop_(context_, dup(worker.stop)) {
    if (!worker.certificate.empty()) set_up_tls(worker);
  }

  void run() {
    stop_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [this](error_code) { context_.stop(); });
    accept();
    context_.run();
  }

 private:
  void set_up_tls(const EmbeddedWorker& worker) {
    tls_.emplace(asio::ssl::context::tls_server);
    tls_->use_certificate_chain_file(worker.certificate);
    tls_->use_private_key_file(worker.key, asio::ssl::context::pem);
    SSL_CTX_set_session_id_context(tls_->native_handle(),
                                   reinterpret_cast<const unsigned char*>("krepro"), 6);
  }

  /// One connection for each event, as nginx without multi_accept: others go to other workers.
  void accept() {
    listening_.async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code problem) {
      if (problem) return;
      const int socket =
          accept4(listening_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket >= 0) {
        serve(socket);
      } else if (errno == EMFILE || errno == ENFILE) {
        // Until some are closed: as nginx, not at once, which would spin.
        pause_.expires_after(std::chrono::milliseconds(500));
        return pause_.async_wait([this](error_code ended) {
          if (!ended) accept();
        });
      }
      accept();
    });
  }

  void serve(int number) {
    if (shared_.worker->tcp) {
      const int on = 1;
      setsockopt(number, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    Socket socket(context_,
                  asio::generic::stream_protocol(shared_.worker->tcp ? AF_INET : AF_UNIX,
                                                 shared_.worker->tcp ? IPPROTO_TCP : 0),
                  number);
    socket.non_blocking(true);
    if (tls_) {
      std::make_shared<Session<TlsStream>>(TlsStream(std::move(socket), *tls_), shared_)->start();
    } else {
      std::make_shared<Session<Socket>>(std::move(socket), shared_)->start();
    }
  }

  asio::io_context context_{1};
  Shared shared_;
  std::optional<asio::ssl::context> tls_;
  asio::posix::stream_descriptor listening_;
  asio::posix::stream_descriptor stop_;
  asio::steady_timer pause_{context_};
};

}  // namespace

void run_embedded_worker(const EmbeddedWorker& worker) {
  // writev has no flag for it.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    Worker(worker).run();
  } catch (const boost::system::system_error& error) {
    throw usage_error(std::string("the server's worker: ") + error.what());
  }
}

}  // namespace krepro::http
