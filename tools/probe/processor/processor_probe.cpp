#include "tools/probe/processor/processor_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>

#include "base/units.hpp"
#include "collectives/compute/blas_library.hpp"
#include "collectives/compute/fma_loop.hpp"

namespace collbench::collectives {
namespace {

constexpr int kBytesOfTriad = 24;  ///< an element: two are read, one is written
constexpr int kArrays = 3;
constexpr std::int64_t kFmaRounds = 100'000;  ///< about 0.1 ms
constexpr std::size_t kTriadPiece =
    1U << 18U;  ///< elements: a pass over all memory may last longer than a window

CoreWork triad_work(std::size_t elements, bool streaming) {
  struct Arrays {
    AlignedArray<double> a, b, c;
  };
  const auto arrays = std::make_shared<Arrays>(Arrays{{elements, 1}, {elements, 2}, {elements, 0.5}});
  return [arrays, elements, streaming, at = std::size_t{0}]() mutable {
    constexpr double kFactor = 3;  // as STREAM
    const std::size_t count = std::min(kTriadPiece, elements - at);
    const auto part = [&](const AlignedArray<double>& array) { return array.span().subspan(at, count); };
    (streaming ? triad_streaming : triad)(part(arrays->a), part(arrays->b), part(arrays->c), kFactor);
    at = at + count == elements ? 0 : at + count;
    return static_cast<double>(count) * kBytesOfTriad;
  };
}

class Prober {
 public:
  Prober(const ProcessorProbe& probe, const collbench::Clock& clock) : probe_(probe), clock_(clock) {}

  [[nodiscard]] bool wants(std::string_view id) const {
    return probe_.only.empty() || std::ranges::find(probe_.only, id) != probe_.only.end();
  }

  /// Nothing where this kind of work was not asked for.
  void add(std::vector<ProbeMeasurement>& all, ProbeMeasurement about,
           const std::function<CoreWork()>& make_work) const {
    if (!wants(about.id)) return;
    const auto rates =
        run_on_cores(probe_.cores, clock_, probe_.timing, [&](std::size_t) { return make_work(); });
    for (std::size_t i = 0; i < rates.size(); ++i) {
      about.parts.push_back({.name = fmt::format("core {}", probe_.cores[i].cpu),
                             .model = probe_.model,
                             .numa = probe_.cores[i].numa,
                             .windows = rates[i].windows,
                             .cpu_share = rates[i].cpu_share});
    }
    all.push_back(std::move(about));
  }

  void fma(std::vector<ProbeMeasurement>& all) const {
    const FmaLoop loop = fma_loops().front();
    const auto add_type = [&](std::string_view type, FmaWork (*run)(std::int64_t)) {
      add(all,
          {.id = fmt::format("fma-{}", type == "FP64" ? "fp64" : "fp32"),
           .name = fmt::format("multiply-add {}", type),
           .by = fmt::format("own loop, {}", loop.name),
           .work = "registers"},
          [run] { return [run] { return run(kFmaRounds).flop; }; });
    };
    add_type("FP64", loop.fp64);
    add_type("FP32", loop.fp32);
  }

  template <typename Number>
  void gemm(std::vector<ProbeMeasurement>& all, const BlasLibrary& blas, int n) const {
    const bool is_double = sizeof(Number) == sizeof(double);
    add(all,
        {.id = fmt::format("gemm-{}", is_double ? "fp64" : "fp32"),
         .name = is_double ? "GEMM FP64" : "GEMM FP32",
         .size = n,
         .by = blas.name,
         .work = fmt::format("n = {} a core", n)},
        [&blas, n] { return product_work<Number>(blas, n); });
  }

  void triads(std::vector<ProbeMeasurement>& all) const {
    const std::size_t elements =
        std::max<std::size_t>(2, probe_.array_bytes / sizeof(double) / probe_.cores.size() / 2 * 2);
    for (const bool streaming : {false, true}) {
      if (streaming && !has_streaming_stores()) continue;
      add(all,
          {.id = streaming ? "triad-streaming" : "triad",
           .name = streaming ? "triad, streaming stores" : "triad",
           .unit = ProbeUnit::byte,
           .by = "own loop",
           .work = fmt::format("{} arrays of {}", kArrays, format_bytes(probe_.array_bytes))},
          [elements, streaming] { return triad_work(elements, streaming); });
    }
  }

 private:
  const ProcessorProbe& probe_;
  const collbench::Clock& clock_;
};

}  // namespace

std::vector<std::string> processor_probe_ids() {
  return {"fma-fp64", "fma-fp32", "gemm-fp64", "gemm-fp32", "triad", "triad-streaming"};
}

double HostClock::seconds() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::uint64_t triad_bytes(std::optional<std::uint64_t> caches, std::uint64_t available,
                          std::vector<std::string>& notes) {
  constexpr std::uint64_t kTimesCaches = 4;
  constexpr std::uint64_t kMinBytes = 256 * kMiB;
  const std::uint64_t rule = kTimesCaches * caches.value_or(0);
  const std::uint64_t wanted = std::max(kMinBytes, rule);
  const std::uint64_t room = available / 8;
  const std::uint64_t bytes = room == 0 ? wanted : std::min(wanted, room);
  if (!caches) {
    notes.push_back(fmt::format("triad: the size of the caches is not known; arrays of {} may fit into them",
                                format_bytes(bytes)));
  } else if (bytes < rule) {
    notes.push_back(fmt::format("triad: arrays of {} for want of memory; four times the caches are {}",
                                format_bytes(bytes), format_bytes(rule)));
  }
  return bytes;
}

std::vector<ProbeMeasurement> probe_processors(const ProcessorProbe& probe, const collbench::Clock& clock,
                                               std::vector<std::string>& notes) {
  // Before any thread begins.
  std::string why;
  const std::optional<BlasLibrary> blas = BlasLibrary::find(why);
  const Prober prober(probe, clock);
  std::vector<ProbeMeasurement> all;
  prober.fma(all);
  const bool wants_products = prober.wants("gemm-fp64") || prober.wants("gemm-fp32");
  if (!wants_products) {
    // No word of a library that nobody asked for.
  } else if (!blas) {
    notes.push_back(
        "GEMM: not measured, no BLAS was found (" + why +
        "); OpenBLAS is looked for (apt-get install libopenblas0-pthread), or name one in COLLBENCH_BLAS");
  } else if (blas->max_threads > 0 && std::cmp_greater(probe.cores.size(), blas->max_threads)) {
    notes.push_back(fmt::format("GEMM: not measured, {} was built for {} threads, and there are {} cores",
                                blas->name, blas->max_threads, probe.cores.size()));
  } else {
    prober.gemm<double>(all, *blas, probe.matrix);
    prober.gemm<float>(all, *blas, probe.matrix);
    for (const int n : probe.more_matrices) prober.gemm<double>(all, *blas, n);
  }
  prober.triads(all);
  return all;
}

}  // namespace collbench::collectives
