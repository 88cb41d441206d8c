// One trial of one generator, from configure to the sample: the part that a command line and the
// control protocol share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/generator/control_channel.h"
#include "common/generator/generator.h"

namespace krepro {

/// What ended the wait for the load.
enum class Ending : std::uint8_t { done, signal, stop, end_of_file };

class Session : public Frame {
 public:
  /// `channel`: the control protocol, or nullptr by hand.
  Session(Generator& generator, ControlChannel* channel, std::string_view source_hash);

  [[nodiscard]] Role role() const override { return role_; }
  [[nodiscard]] std::uint64_t seed() const override { return seed_; }
  [[nodiscard]] bool seed_given() const override { return seed_given_; }
  void use_seed(std::uint64_t seed) override { seed_ = seed; }
  [[nodiscard]] const std::string& server() const override { return server_; }
  [[nodiscard]] bool all_threads() const override { return all_threads_; }
  [[nodiscard]] const std::vector<int>& worker_cpus() const override { return worker_cpus_; }
  void check_interrupted() override;
  void note(const std::string& text) override;
  [[nodiscard]] const std::string& program_directory() const override { return directory_; }

  void set_role(Role role) { role_ = role; }
  void set_server(std::string endpoint) { server_ = std::move(endpoint); }
  void set_all_threads(bool wanted) { all_threads_ = wanted; }
  /// In the format of parse_cpu_order(); "": workers float. Throws usage_error.
  void set_worker_cpus(const std::string& order);
  void set_seed(std::uint64_t seed) {
    seed_ = seed;
    seed_given_ = true;
  }

  void configure(const Options& options);
  void prepare();
  /// Waits `delay_ns` (answering pings), then releases the load.
  void start(std::int64_t delay_ns);
  /// Waits for the load's end or a reason to end it; `on_tick` is called once a second when given.
  Ending wait_for_end(const std::function<void(const Progress&)>& on_tick);
  /// Stops what still runs and collects. `ending` other than done marks a load's sample as
  /// truncated.
  [[nodiscard]] Sample finish(Ending ending);
  /// The sample of a trial that never started.
  [[nodiscard]] Sample never_started() const;
  [[nodiscard]] ExitCode exit_code(const Sample& sample) const;

 private:
  [[nodiscard]] std::optional<Ending> look_at_events(int timeout_ms, bool wait_done);
  [[nodiscard]] std::optional<Ending> handle_command();
  void wait_for_done(std::int64_t grace_ns);
  void complete(Sample& sample) const;

  Generator* generator_;
  ControlChannel* channel_;
  std::string source_hash_;
  std::string directory_;
  Role role_ = Role::load;
  bool all_threads_ = false;
  std::uint64_t seed_ = 0;
  bool seed_given_ = false;
  std::string server_;
  std::vector<int> worker_cpus_;
  std::optional<Options> options_;
  std::vector<std::string> notes_;
  nlohmann::json frame_cost_ = nlohmann::json::object();
};

/// The hash of the running program's file as its linker noted it (build id), hexadecimal; "" where
/// it carries none.
[[nodiscard]] std::string binary_hash();

}  // namespace krepro
