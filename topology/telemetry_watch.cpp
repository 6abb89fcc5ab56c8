#include "topology/telemetry_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "topology/text_input.hpp"

namespace collbench {
namespace {

constexpr double kShareOfTime = 0.1;  // that a child runs

double seconds_from(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TelemetryWatch::TelemetryWatch(TelemetryPlaces places) : places_(std::move(places)) {
  read();
  if (!failed_) thread_ = std::thread([this] { watch(); });
}

TelemetryWatch::~TelemetryWatch() { stop(); }

void TelemetryWatch::running(std::optional<std::size_t> row) {
  const std::lock_guard lock(mutex_);
  row_ = row;
  if (!row) return;
  during_.insert(*row);
  since_last_.insert(*row);
}

const TelemetryLog& TelemetryWatch::finish() {
  stop();
  if (!failed_) read();
  return log_;
}

void TelemetryWatch::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void TelemetryWatch::watch() {
  while (!failed_) {
    const double pause = std::max(places_.seconds_between, took_seconds_ * (1 / kShareOfTime - 1));
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, std::chrono::duration<double>(pause), [this] { return over_; })) return;
    }
    read();
  }
}

void TelemetryWatch::read() {
  const auto start = std::chrono::steady_clock::now();
  ReadingTime time;
  if (log_.readings() > 0) time.seconds_since_last = seconds_from(last_reading_);
  last_reading_ = start;
  {
    const std::lock_guard lock(mutex_);
    during_.clear();
    if (row_) during_.insert(*row_);
    time.since_last = std::exchange(since_last_, during_);
  }
  const ChildLimits limits{.seconds = places_.seconds_per_reading, .most_bytes = kMostInputBytes};
  ChildResult child;
  try {
    child = run_child({places_.nvidia_smi, "-q", "-x"}, limits);
  } catch (const Error& error) {  // no process to be had
    return fail(error.what());
  }
  {
    const std::lock_guard lock(mutex_);
    time.during = during_;
  }
  time.since_last.insert(time.during.begin(), time.during.end());
  took_seconds_ = seconds_from(start);
  if (!child.succeeded()) {
    const std::string_view said = trim(trim(child.err).empty() ? child.out : child.err);
    return fail(describe_end(child, limits) +
                (said.empty() ? "" : fmt::format(", \"{}\"", excerpt(said.substr(0, said.find('\n')), 120))));
  }
  try {
    log_.add(read_nvidia_smi_telemetry(child.out, "nvidia-smi"), time);
  } catch (const Error& error) {
    fail(error.what());
  }
}

void TelemetryWatch::fail(const std::string& why) {
  failed_ = true;
  log_.note(log_.readings() == 0
                ? fmt::format("not known: nvidia-smi -q -x: {}", why)
                : fmt::format("not known after reading {}: nvidia-smi -q -x: {}", log_.readings(), why));
}

}  // namespace collbench
