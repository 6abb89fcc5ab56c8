#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/telemetry.hpp"

// What `collbench probe` measured of one host: processors and GPUs, each alone, without a network.

namespace collbench {

/// What is counted in a second.
enum class ProbeUnit { flop, byte };

/// How a GPU fared while a window ran, by its driver. What nobody read then is none.
struct GpuWindow {
  std::optional<double> sm_clock_hertz{};       ///< mean of the readings
  std::optional<double> power_watts{};          ///< the same
  std::optional<double> temperature_celsius{};  ///< the highest
  std::vector<GpuTrouble> throttled_by{};       ///< at any reading

  bool operator==(const GpuWindow&) const = default;
};

/// A copy from one GPU to another.
struct PeerCopy {
  std::string from{};   ///< "GPU 0"
  std::string to{};     ///< "GPU 1"
  bool direct = false;  ///< with peer access; else CUDA stages it, through the host's memory

  bool operator==(const PeerCopy&) const = default;
};

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

  bool operator==(const ProbePart&) const = default;
};

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

}  // namespace collbench
