#include "collectives/probe/core_team.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
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

std::vector<double> rates_of(const ProbeWork& work, const collbench::Clock& clock,
                             const ProbeTiming& timing) {
  const double begin = clock.seconds();
  double now = begin;
  // A window's end is a time, not a length from the last end, so that all cores' windows are the same ones.
  while (now < begin + timing.warm_up_seconds) {
    (void)work();
    now = clock.seconds();
  }
  std::vector<double> rates;
  for (int window = 1; window <= timing.windows; ++window) {
    const double start = now;
    const double end = begin + timing.warm_up_seconds + window * timing.window_seconds;
    double done = 0;
    do {
      done += work();
      now = clock.seconds();
    } while (now < end);
    rates.push_back(done / (now - start));
  }
  return rates;
}

}  // namespace

std::vector<std::vector<double>> run_on_cores(const std::vector<ProbeCore>& cores,
                                              const collbench::Clock& clock, const ProbeTiming& timing,
                                              const std::function<ProbeWork(std::size_t core)>& make_work) {
  std::vector<std::vector<double>> rates(cores.size());
  std::vector<std::exception_ptr> failures(cores.size());
  std::atomic<bool> failed = false;
  std::barrier start(static_cast<std::ptrdiff_t>(cores.size()));
  {
    std::vector<std::jthread> threads;
    for (std::size_t core = 0; core < cores.size(); ++core) {
      threads.emplace_back([&, core] {
        ProbeWork work;
        try {
          pin_to(cores[core].cpu);
          work = make_work(core);
        } catch (...) {
          failures[core] = std::current_exception();
          failed = true;
        }
        start.arrive_and_wait();
        if (!failed) rates[core] = rates_of(work, clock, timing);
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return rates;
}

}  // namespace collbench::collectives
