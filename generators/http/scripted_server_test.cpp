// The whole load against servers that answer as a test says: every way to frame a response over a
// real socket, and servers that misbehave. Those are counted by kind, in bounded memory and time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>

#include "common/generator/shared_array.h"
#include "generators/http/test_support/running_http.h"

namespace krepro::http {
namespace {

constexpr const char* short_run = "--duration=400ms";

/// Answers every request with the same bytes; `close_after`: and closes.
ScriptedServer::Script answering(const std::string& response, bool byte_by_byte, bool close_after) {
  return [=](int socket) {
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while (read_request(socket)) {
      if (byte_by_byte) {
        for (const char letter : response) {
          if (!write_all(socket, std::string(1, letter))) return;
        }
      } else if (!write_all(socket, response)) {
        return;
      }
      if (close_after) return;
    }
  };
}

constexpr const char* empty_response = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// Answers every request with an empty response after `delay_us`.
ScriptedServer::Script answering_after(unsigned delay_us) {
  return [=](int socket) {
    while (read_request(socket)) {
      usleep(delay_us);
      if (!write_all(socket, empty_response)) return;
    }
  };
}

struct Framing {
  const char* name;
  const char* response;
  bool closes = false;
  const char* method = "GET";
  const char* statuses = "2xx";
};

class Framed : public testing::TestWithParam<Framing> {};

TEST_P(Framed, IsReadWhole) {
  for (const bool byte_by_byte : {false, true}) {
    for (const char* pattern : {"wrk", "lean"}) {
      const ScriptedServer server(answering(GetParam().response, byte_by_byte, GetParam().closes));
      const HttpRun run =
          run_http({short_run, "-c2", "-t1", std::string("--method=") + GetParam().method,
                    std::string("--pattern=") + pattern, server.url()});
      EXPECT_EQ(run.exit_code, 0) << run.err << pattern << byte_by_byte;
      ASSERT_TRUE(run.sample.is_object());
      EXPECT_GT(run.sample.at("operations").get<int>(), 0);
      EXPECT_EQ(run.errors(), 0U) << run.sample.at("errors");
      EXPECT_EQ(run.sample.at("extra").at("statuses").at(GetParam().statuses),
                run.sample.at("operations"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, Framed,
    testing::Values(
        Framing{"by_length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"},
        Framing{
            "chunked",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1;x\r\nd\r\n0\r\nT: "
            "u\r\n\r\n"},
        Framing{"until_close", "HTTP/1.1 200 OK\r\n\r\nhello", true},
        Framing{"with_connection_close",
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab", true},
        Framing{"interim_first",
                "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
                "1\r\n\r\na"},
        Framing{"no_content", "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n"},
        Framing{"not_modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n", false,
                "GET", "3xx"},
        Framing{"head", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", false, "HEAD"}),
    [](const auto& way) { return std::string(way.param.name); });

/// One kind of error, and nothing else, and no storm. `idle`: the server leaves the load time.
void expect_failure(const ScriptedServer& server, const std::string& kind, bool idle = true) {
  for (const char* pattern : {"wrk", "lean"}) {
    const HttpRun run = run_http({"--duration=800ms", "--timeout=300ms", "-c2", "-t1",
                                  std::string("--pattern=") + pattern, server.url()});
    EXPECT_EQ(run.exit_code, 1) << run.err;
    ASSERT_TRUE(run.sample.is_object()) << run.err;
    EXPECT_GT(run.errors(kind), 0U) << run.sample.at("errors");
    EXPECT_EQ(run.errors(), run.errors(kind)) << run.sample.at("errors");
    EXPECT_LT(run.errors(), 100U) << "connections are not opened again at once";
    const auto& requests = run.sample.at("extra").at("requests");
    EXPECT_EQ(requests.at("started").get<int>(),
              requests.at("done").get<int>() + requests.at("dropped").get<int>() +
                  requests.at("in_flight_at_the_end").get<int>());
    EXPECT_LT(run.elapsed_s, 20);
    // What the server has closed keeps no one busy.
    EXPECT_TRUE(!idle || run.cpu_s < run.elapsed_s / 2) << run.cpu_s;
    EXPECT_LT(run.sample.at("extra").at("peak_memory_bytes").get<std::uint64_t>(), 64U << 20U);
  }
}

TEST(Hostile, GarbageIsNotHttp) {
  expect_failure(ScriptedServer(answering("\x01\x02garbage\r\n\r\n", false, false)), "status_line");
}

TEST(Hostile, EndlessHeaders) {
  expect_failure(ScriptedServer([](int socket) {
                   if (!read_request(socket)) return;
                   write_all(socket, "HTTP/1.1 200 OK\r\n");
                   while (write_all(socket, "X-More: and more\r\n")) {
                   }
                 }),
                 "endless_headers");
}

TEST(Hostile, AnEndlessStatusLine) {
  expect_failure(ScriptedServer([](int socket) {
                   if (!read_request(socket)) return;
                   while (write_all(socket, std::string(1000, 'x'))) {
                   }
                 }),
                 "endless_headers");
}

TEST(Hostile, ABodyLongerThanAnnounced) {
  expect_failure(
      ScriptedServer(answering("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhello", false, false)),
      "excess");
}

TEST(Hostile, ABodyShorterThanAnnounced) {
  expect_failure(
      ScriptedServer(answering("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", false, true)),
      "short_body");
}

TEST(Hostile, AResetInTheMiddleOfABody) {
  expect_failure(ScriptedServer([](int socket) {
                   if (!read_request(socket)) return;
                   write_all(socket, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello");
                   const linger at_once{1, 0};
                   setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
                 }),
                 "reset");
}

TEST(Hostile, TheEndInTheMiddleOfHeaders) {
  expect_failure(ScriptedServer(answering("HTTP/1.1 200 OK\r\nConte", false, true)), "short_body");
}

TEST(Hostile, TwoLengths) {
  expect_failure(
      ScriptedServer(answering("HTTP/1.1 200 OK\r\nContent-Length: 3, 4\r\n\r\n", false, false)),
      "bad_length");
}

TEST(Hostile, BrokenChunks) {
  expect_failure(ScriptedServer(answering(
                     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", false, false)),
                 "bad_chunk");
}

TEST(Hostile, NoAnswerAtAll) {
  expect_failure(ScriptedServer([](int socket) {
                   while (read_request(socket)) {
                   }
                 }),
                 "timeout");
}

TEST(Hostile, AnEndBeforeAnyAnswer) {
  expect_failure(ScriptedServer([](int socket) { static_cast<void>(read_request(socket)); }),
                 "closed");
}

TEST(Hostile, AStatusThatSaysNo) {
  const ScriptedServer server(
      answering("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", false, false));
  const HttpRun run = run_http({short_run, "-c2", "-t1", server.url()});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.errors("status"), run.sample.at("operations").get<std::uint64_t>());
  EXPECT_EQ(run.sample.at("latency").at("service").at("count"), 0) << "apart from good ones";
  EXPECT_GT(run.sample.at("latency").at("service_of_errors").at("count"), 0);
}

TEST(Hostile, AnEndlessBody) {
  expect_failure(ScriptedServer([](int socket) {
                   if (!read_request(socket)) return;
                   write_all(socket, "HTTP/1.1 200 OK\r\n\r\n");
                   while (write_all(socket, std::string(1U << 20U, 'x'))) {
                   }
                 }),
                 "timeout", false);
}

TEST(Hostile, AStatusThatNoClassKnows) {
  const ScriptedServer server(
      answering("HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n", false, false));
  const HttpRun run = run_http({short_run, "-c2", "-t1", server.url()});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.errors("status"), run.sample.at("operations").get<std::uint64_t>());
  EXPECT_EQ(run.sample.at("extra").at("statuses").at("5xx"), run.sample.at("operations"));
}

TEST(Hostile, AnswersThatComeTooLate) {
  // Whether the request has been given up by then or not.
  const ScriptedServer server(answering_after(40'000));
  for (const char* pattern : {"wrk", "lean"}) {
    const HttpRun run = run_http({short_run, "-c4", "-t1", "--timeout=20ms",
                                  std::string("--pattern=") + pattern, server.url()});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_GT(run.errors("timeout"), 0U);
    EXPECT_EQ(run.errors(), run.errors("timeout")) << run.sample.at("errors");
    EXPECT_EQ(run.sample.at("latency").at("service").at("count"), 0) << "none was in time";
  }
}

/// Half of the requests are refused at once, half answered after 50 ms.
TEST(OpenLoop, QuickRefusalsDoNotMakeTheResponsesLookQuick) {
  const ScriptedServer server([](int socket) {
    for (int i = 0; read_request(socket); ++i) {
      if (i % 2 == 0) {
        if (!write_all(socket, "HTTP/1.1 429 Wait\r\nContent-Length: 0\r\n\r\n")) return;
        continue;
      }
      usleep(50'000);
      if (!write_all(socket, empty_response)) return;
    }
  });
  const HttpRun run = run_http({"-R100", "-c16", "-t1", "-d1s", server.url()});
  EXPECT_EQ(run.exit_code, 1) << "refusals are errors";
  ASSERT_TRUE(run.sample.is_object());
  const auto& latency = run.sample.at("latency");
  EXPECT_GT(latency.at("response").at("min").get<double>(), 45e6);
  EXPECT_GT(latency.at("response_of_errors").at("count").get<int>(), 30);
  EXPECT_EQ(latency.at("response_of_errors").at("count").get<int>() +
                latency.at("response").at("count").get<int>(),
            100);
}

TEST(OpenLoop, ASlowLastResponseDoesNotStretchTheRate) {
  SharedArray<std::atomic<int>> answered(1);  // Each connection has a process of its own.
  const ScriptedServer server([&answered](int socket) {
    while (read_request(socket)) {
      if (answered[0].fetch_add(1) == 290) usleep(3'000'000);
      if (!write_all(socket, empty_response)) return;
    }
  });
  const HttpRun run = run_http({"-R100", "-c16", "-t1", "-d3s", "--timeout=20s", server.url()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ASSERT_TRUE(run.sample.is_object());
  EXPECT_EQ(run.sample.at("operations"), 300);
  EXPECT_TRUE(run.sample.at("achieved").at("rate_met").get<bool>());
  EXPECT_GT(run.sample.at("metrics").at("requests/s").at("value").get<double>(), 95);
  EXPECT_GT(run.sample.at("extra").at("last_response_ns").get<double>(), 5e9);
  EXPECT_GT(run.sample.at("latency").at("response").at("max").get<double>(), 2.5e9);
}

TEST(OpenLoop, AServerThatIsTooSlowIsToldHoweverManyConnectionsWait) {
  // 64 connections, of which each gives two responses a second.
  const ScriptedServer server(answering_after(500'000));
  const HttpRun run = run_http({"-R200", "-c64", "-t1", "-d2s", "--timeout=20s", server.url()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ASSERT_TRUE(run.sample.is_object());
  EXPECT_EQ(run.sample.at("operations"), 400) << "all that were due";
  EXPECT_FALSE(run.sample.at("achieved").at("rate_met").get<bool>());
  EXPECT_LT(run.sample.at("metrics").at("requests/s").at("value").get<double>(), 135);
}

TEST(OpenLoop, AServerThatHangsAtTheEndIsTold) {
  SharedArray<std::atomic<int>> answered(1);  // Each connection has a process of its own.
  const ScriptedServer server([&answered](int socket) {
    while (read_request(socket)) {
      if (answered[0].fetch_add(1) >= 900) pause();
      if (!write_all(socket, empty_response)) return;
    }
  });
  const HttpRun run = run_http({"-R1000", "-c4", "-t1", "-d1s", "--timeout=400ms", server.url()});
  EXPECT_EQ(run.exit_code, 1) << run.sample;
  EXPECT_GT(run.errors("timeout"), 0U);
  EXPECT_GT(run.sample.at("extra").at("unsent").get<int>(), 0);
  EXPECT_THAT(run.sample.at("notes").dump(), testing::HasSubstr("never sent"));
}

TEST(Repeated, ARequestOnAConnectionThatIsClosedUnderIt) {
  // Every connection answers three requests and is closed without a word before the fourth.
  const ScriptedServer server([](int socket) {
    for (int i = 0; i < 3 && read_request(socket); ++i) {
      write_all(socket, empty_response);
    }
    static_cast<void>(read_request(socket));
  });
  const HttpRun run = run_http({short_run, "-c2", "-t1", server.url()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.errors(), 0U) << run.sample.at("errors");
  EXPECT_GT(run.sample.at("extra").at("requests").at("repeated").get<int>(), 0);
  EXPECT_GT(run.sample.at("extra").at("connections").at("reopened").get<int>(), 0);
}

TEST(Pipelined, AConnectionThatIsClosedInTheMiddleOfABatch) {
  // In turns, a connection answers a batch whole and is closed without a word under the next, so
  // that this one is sent again; and the next connection answers only a part of it.
  SharedArray<std::atomic<int>> turn(1);
  constexpr int depth = 4;
  const char* const last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
  for (const char* closing : {last, empty_response}) {
    const ScriptedServer server([&, closing](int socket) {
      if (!read_request(socket)) return;  // Who looks whether there is a server.
      const int answered = turn[0].fetch_add(1) % 2 == 0 ? depth : 2;
      for (int i = 1; i < depth; ++i) {
        if (!read_request(socket)) return;
      }
      for (int i = 1; i < answered; ++i) write_all(socket, empty_response);
      write_all(socket, answered == depth ? empty_response : closing);
      if (answered == depth) static_cast<void>(read_request(socket));
    });
    for (const char* pattern : {"wrk", "lean"}) {
      const HttpRun run = run_http({"--duration=800ms", "-c1", "-t1", "--pipeline=4",
                                    std::string("--pattern=") + pattern, server.url()});
      EXPECT_EQ(run.exit_code, 0) << run.err;
      EXPECT_EQ(run.errors(), 0U) << run.sample.at("errors");
      const auto& extra = run.sample.at("extra");
      EXPECT_GT(extra.at("connections").at("reopened").get<int>(), 5) << "it goes on";
      const auto& requests = extra.at("requests");
      EXPECT_EQ(requests.at("started").get<int>(),
                requests.at("done").get<int>() + requests.at("in_flight_at_the_end").get<int>());
    }
  }
}

TEST(Opening, AServerThatAcceptsSlowly) {
  // Its queue is full most of the time: the connections come one by one, and all come.
  const ScriptedServer server(answering(empty_response, false, false), 8, 5000);
  const HttpRun run = run_http({short_run, "-c300", "-t2", server.url()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.sample.at("achieved").at("connections"), 300);
}

TEST(Waits, LastUntilThereIsSomethingToDo) {
  // Two events a request, and ten ticks a second: waits that return at once with nothing are more
  // than the events by far.
  const ScriptedServer server(answering_after(10'000));
  for (const char* pattern : {"wrk", "lean"}) {
    const HttpRun run = run_http(
        {"--duration=900ms", "-c1", "-t1", std::string("--pattern=") + pattern, server.url()});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_GT(run.sample.at("metrics").at("events/wait").at("value").get<double>(), 0.5) << pattern;
  }
}

TEST(AtTheEnd, RequestsInFlightAreTold) {
  // Started is what was done, what failed, and what was on its way.
  const ScriptedServer server([](int socket) {
    for (int i = 0; read_request(socket); ++i) {
      if (i == 5) usleep(3'000'000);
      write_all(socket, empty_response);
    }
  });
  const HttpRun run = run_http({short_run, "-c3", "-t1", "--timeout=20s", server.url()});
  const auto& requests = run.sample.at("extra").at("requests");
  EXPECT_EQ(requests.at("done"), 15);
  EXPECT_EQ(requests.at("in_flight_at_the_end"), 3);
  EXPECT_EQ(requests.at("started"), 18);
  EXPECT_GT(requests.at("oldest_in_flight_ns").get<std::int64_t>(), 100'000'000);
}

}  // namespace
}  // namespace krepro::http
