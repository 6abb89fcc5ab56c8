#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/fields.hpp"
#include "base/record/telemetry.hpp"

// What `collbench probe` measured of one host: processors and GPUs, each alone, without a network.

namespace collbench {

enum class ProbeUnit { flop, byte };

template <>
inline constexpr std::array<std::string_view, 2> kWords<ProbeUnit>{"flop/s", "B/s"};

/// How a GPU fared while a window ran, by its driver. What nobody read then is none.
struct GpuWindow {
  std::optional<double> sm_clock_hertz{};       ///< mean of the readings
  std::optional<double> power_watts{};          ///< the same
  std::optional<double> temperature_celsius{};  ///< the highest
  std::vector<GpuTrouble> throttled_by{};       ///< at any reading

  bool operator==(const GpuWindow&) const = default;
};

void each_field(auto& visit, Either<GpuWindow> auto& window) {
  visit("sm_clock_hertz", window.sm_clock_hertz, kRate);
  visit("power_watts", window.power_watts);
  visit("temperature_celsius", window.temperature_celsius, kDifference);
  visit("throttled_by", window.throttled_by, WordOf{kWords<GpuTrouble>, kTroubleWord});
}

struct PeerCopy {
  std::string from{};   ///< "GPU 0"
  std::string to{};     ///< "GPU 1"
  bool direct = false;  ///< with peer access; else CUDA stages it, through the host's memory

  bool operator==(const PeerCopy&) const = default;
};

void each_field(auto& visit, Either<PeerCopy> auto& peer) {
  visit("from", peer.from);
  visit("to", peer.to);
  visit("direct", peer.direct);
}

[[nodiscard]] inline double probe_rate_from_json(const JsonReader& json) {
  const double rate = json.number(kRate);
  if (rate == 0) throw json.expected("a rate above 0");
  return rate;
}

/// A part that did the work: a core, a GPU, or a pair of GPUs.
struct ProbePart {
  std::string name{};             ///< "core 3", "GPU 0", "GPU 0 to GPU 1"
  std::string model{};            ///< parts of the same model are siblings
  std::optional<int> numa{};      ///< the NUMA node of a core
  std::vector<double> windows{};  ///< flop/s or B/s, one after the other
  /// Of the windows' time, how much a core's thread ran; none: a GPU, or not known.
  std::optional<double> cpu_share{};
  std::optional<PeerCopy> peer{};      ///< of a pair of GPUs
  std::vector<GpuWindow> telemetry{};  ///< beside each window of a GPU; empty: not known
  /// Of a GPU's products, which are of the same numbers everywhere: digests of the first and of the last.
  std::vector<std::string> results{};

  bool operator==(const ProbePart&) const = default;
};

void each_field(auto& visit, Either<ProbePart> auto& part) {
  visit("name", part.name);
  visit("model", part.model);
  visit("numa", part.numa);
  visit("windows", part.windows, ReadBy{probe_rate_from_json});
  visit("cpu_share", part.cpu_share, kShare);
  // What only GPUs have is left out of cores.
  visit.where_given("peer", part.peer);
  visit.where_given("telemetry", part.telemetry);
  visit.where_given("results", part.results);
}

/// One kind of work on all parts. Cores work at the same time, each on data of its own, and so do GPUs, but
/// for copies between a GPU and others or the host: these are made one at a time.
struct ProbeMeasurement {
  std::string id{};    ///< "fma-fp64", "gpu-gemm-bf16", "triad"; docs/burnin.md lists them
  std::string name{};  ///< "GEMM FP64"
  ProbeUnit unit = ProbeUnit::flop;
  int size = 0;        ///< the n of an n × n × n matrix product; 0: none
  std::string by{};    ///< the code that ran: "OpenBLAS 0.3.21", "AVX-512"
  std::string work{};  ///< of what size: "n = 1024", "3 arrays of 128 MiB"
  std::vector<ProbePart> parts{};

  bool operator==(const ProbeMeasurement&) const = default;
};

void each_field(auto& visit, Either<ProbeMeasurement> auto& each) {
  visit("id", each.id);
  visit("name", each.name);
  visit("unit", each.unit, WordOf{kWords<ProbeUnit>, "flop/s or B/s"});
  visit("size", each.size);
  visit("by", each.by);
  visit("work", each.work);
  visit("parts", each.parts);
}

/// A GPU of the host, as CUDA and its driver call it.
struct ProbeGpu {
  std::string name{};     ///< as parts name it: "GPU 0", by CUDA's index
  std::string model{};    ///< "NVIDIA H100 80GB HBM3"
  std::string uuid{};     ///< empty: not known
  std::string address{};  ///< in PCI
  std::uint64_t memory_bytes = 0;
  std::optional<double> power_limit_watts{};  ///< that is enforced; none: not known
  std::string driver{};                       ///< its version; empty: not known

  bool operator==(const ProbeGpu&) const = default;
};

void each_field(auto& visit, Either<ProbeGpu> auto& gpu) {
  visit("name", gpu.name);
  visit("model", gpu.model);
  visit.older("uuid", gpu.uuid);
  visit.older("address", gpu.address);
  visit("memory_bytes", gpu.memory_bytes);
  visit("power_limit_watts", gpu.power_limit_watts);
  visit.older("driver", gpu.driver);
}

/// How ProbeFailure::what begins when a copy between two GPUs had failed before, which may be why.
inline constexpr std::string_view kAfterAnotherFailure = "after another failure: ";

/// A GPU that stopped in the middle of its work: it takes part in nothing that follows. Or a pair of GPUs,
/// which says of neither that it is the cause.
struct ProbeFailure {
  std::string part{};         ///< "GPU 3", "GPU 0 to GPU 3"
  std::string measurement{};  ///< the name of what it did
  std::string what{};         ///< in CUDA's words

  bool operator==(const ProbeFailure&) const = default;
};

void each_field(auto& visit, Either<ProbeFailure> auto& failure) {
  visit("part", failure.part);
  visit("measurement", failure.measurement);
  visit("what", failure.what);
}

/// A host and all that was measured of it.
struct ProbeRecord {
  std::string host;
  std::string processor;  ///< as the kernel names it
  int cores = 0;          ///< that worked; 0: no core was measured
  /// Of the time of these cores, what other processes and a hypervisor took meanwhile; none: not known.
  std::optional<double> taken_share{};
  double window_seconds = 0;      ///< of each window of a core; 0: not known
  std::vector<ProbeGpu> gpus{};   ///< that CUDA showed; empty also where no kind of GPU work was wanted
  double gpu_window_seconds = 0;  ///< of each window of a GPU's product; 0: none was measured
  std::vector<ProbeMeasurement> measurements{};
  std::vector<ProbeFailure> failures{};
  std::vector<std::string> notes{};  ///< what was not measured, and why

  bool operator==(const ProbeRecord&) const = default;
};

void each_field(auto& visit, Either<ProbeRecord> auto& record) {
  visit("host", record.host, ReadBy{host_name_from_json});
  visit("processor", record.processor);
  visit("cores", record.cores);
  visit("taken_share", record.taken_share, kShare);
  visit.older("window_seconds", record.window_seconds, kSeconds);
  // Of before GPUs were probed none is there.
  visit.older("gpus", record.gpus);
  visit.older("gpu_window_seconds", record.gpu_window_seconds, kSeconds);
  visit("measurements", record.measurements);
  visit.older("failures", record.failures);
  visit("notes", record.notes);
}

}  // namespace collbench
