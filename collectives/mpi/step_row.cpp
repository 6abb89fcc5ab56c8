#include "collectives/mpi/step_row.hpp"

#include <mpi.h>

#include <algorithm>
#include <ctime>

namespace collbench::collectives {
namespace {

constexpr std::uint64_t kMaxCallsAlone = 32;

/// What the kernel counts of this thread's work: less than the clock's where another had the core.
double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

void StepRow::run(std::uint64_t iterations) {
  for (std::uint64_t i = 0; i < iterations; ++i) {
    kernel_.run();
    all_reduce_->run(1);
  }
}

Block StepRow::time(std::uint64_t iterations, std::uint64_t iterations_per_sample, const GoesOn& goes_on) {
  StepTimes sum;
  const auto step = [&] {
    MPI_Pcontrol(1);  // a step begins, for a profiler that listens
    const double begin = clock_.seconds();
    const double cpu_begin = thread_seconds();
    kernel_.run();
    sum.compute_cpu_seconds += thread_seconds() - cpu_begin;
    const double entry = clock_.seconds();
    sum.compute_seconds += entry - begin;
    all_reduce_->run(1);
    sum.inside_seconds += clock_.seconds() - entry;
  };
  Block block =
      time_block([this] { return clock_.seconds(); }, iterations, iterations_per_sample, step, goes_on);
  if (block.iterations == 0) return block;
  sum.between_seconds = std::max(0.0, block.elapsed_seconds - sum.compute_seconds - sum.inside_seconds);
  for (double StepTimes::* const part : {&StepTimes::compute_seconds, &StepTimes::compute_cpu_seconds,
                                         &StepTimes::between_seconds, &StepTimes::inside_seconds})
    sum.*part /= static_cast<double>(block.iterations);
  sum.alone_seconds = seconds_alone(block.iterations);
  block.step = sum;
  return block;
}

/// Of an AllReduce among others; the first ends the ranks' differences and is not timed.
double StepRow::seconds_alone(std::uint64_t steps) {
  const std::uint64_t calls = std::clamp<std::uint64_t>(steps / 4, 1, kMaxCallsAlone);
  all_reduce_->run(1);
  return all_reduce_->time(calls, calls, {}).elapsed_seconds / static_cast<double>(calls);
}

}  // namespace collbench::collectives
