#include "tools/probe/processor/processor_probe.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include "base/error.hpp"

namespace collbench::collectives {
namespace {

/// The calling thread runs on `cpu` from now on. Throws Error (not_here).
void pin_to(int cpu) {
  const auto free_set = [](cpu_set_t* cpus) { CPU_FREE(cpus); };
  const auto count = static_cast<std::size_t>(cpu) + 1;
  const std::unique_ptr<cpu_set_t, decltype(free_set)> cpus(CPU_ALLOC(count), free_set);
  if (!cpus) throw std::bad_alloc();
  CPU_ZERO_S(CPU_ALLOC_SIZE(count), cpus.get());
  CPU_SET_S(static_cast<std::size_t>(cpu), CPU_ALLOC_SIZE(count), cpus.get());
  if (sched_setaffinity(0, CPU_ALLOC_SIZE(count), cpus.get()) == 0) return;
  throw Error(ExitStatus::not_here, fmt::format("core {}", cpu),
              std::string("a thread cannot be bound to it: ") + std::strerror(errno),
              "leave cores out with taskset");
}

/// In seconds. Not of the probe's Clock: the two that are compared have to be of one kind.
double kernel_seconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

CoreRates rates_of(const CoreWork& work, const collbench::Clock& clock, const ProbeTiming& timing) {
  const double begin = clock.seconds();
  double now = begin;
  // A window's end is a time, not a length from the last end, so that all cores' windows are the same ones.
  while (now < begin + timing.warm_up_seconds) {
    (void)work();
    now = clock.seconds();
  }
  const double real_begin = kernel_seconds(CLOCK_MONOTONIC);
  const double cpu_begin = kernel_seconds(CLOCK_THREAD_CPUTIME_ID);
  CoreRates rates;
  for (int window = 1; window <= timing.windows; ++window) {
    const double start = now;
    const double end = begin + timing.warm_up_seconds + window * timing.window_seconds;
    double done = 0;
    do {
      done += work();
      now = clock.seconds();
    } while (now < end);
    rates.windows.push_back(done / (now - start));
  }
  const double cpu_seconds = kernel_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
  const double real_seconds = kernel_seconds(CLOCK_MONOTONIC) - real_begin;
  if (real_seconds > 0) rates.cpu_share = std::clamp(cpu_seconds / real_seconds, 0.0, 1.0);
  return rates;
}

}  // namespace

std::vector<CoreRates> run_on_cores(const std::vector<ProbeCore>& cores, const collbench::Clock& clock,
                                    const ProbeTiming& timing,
                                    const std::function<CoreWork(std::size_t core)>& make_work) {
  std::vector<CoreRates> rates(cores.size());
  std::vector<std::exception_ptr> failures(cores.size());
  std::atomic<bool> failed = false;
  std::barrier start(static_cast<std::ptrdiff_t>(cores.size()));
  {
    const auto run = [&](std::size_t core) {
      CoreWork work;
      try {
        pin_to(cores[core].cpu);
        work = make_work(core);
      } catch (...) {
        failures[core] = std::current_exception();
        failed = true;
      }
      start.arrive_and_wait();
      if (!failed) rates[core] = rates_of(work, clock, timing);
    };
    std::vector<std::jthread> threads;
    threads.reserve(cores.size());
    try {
      while (threads.size() < cores.size()) threads.emplace_back(run, threads.size());
    } catch (const std::system_error& none) {
      const std::size_t made = threads.size();
      failures[made] = std::make_exception_ptr(
          Error(ExitStatus::not_here, fmt::format("core {}", cores[made].cpu),
                fmt::format("no thread for it, after {}: {}", made, none.code().message()),
                "allow more (ulimit -u, the cgroup's pids.max), or leave cores out with taskset"));
      failed = true;
      // Those that were made wait for all.
      for (std::size_t core = made; core < cores.size(); ++core) start.arrive_and_drop();
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return rates;
}

}  // namespace collbench::collectives
