#pragma once
#include <optional>
#include <string>
#include <vector>

// What `collbench probe` measured of one host: processors and GPUs, each alone, without a network.

namespace collbench {

/// What is counted in a second.
enum class ProbeUnit { flop, byte };

/// A part that did the work: a core, or a GPU.
struct ProbePart {
  std::string name{};             ///< "core 3", "GPU 0"
  std::string model{};            ///< parts of the same model are siblings
  std::optional<int> numa{};      ///< the NUMA node of a core
  std::vector<double> windows{};  ///< flop/s or B/s, one after the other
  /// Of the windows' time, how much a core's thread ran; none: a GPU, or not known.
  std::optional<double> cpu_share{};

  bool operator==(const ProbePart&) const = default;
};

/// One kind of work on all parts. Cores work at the same time, each on data of its own; GPUs in turn.
struct ProbeMeasurement {
  std::string id{};    ///< "fma-fp64", "gemm-fp64", "triad"; docs/probe.md lists them
  std::string name{};  ///< "GEMM FP64"
  ProbeUnit unit = ProbeUnit::flop;
  int size = 0;        ///< the n of an n × n × n matrix product; 0: none
  std::string by{};    ///< the code that ran: "OpenBLAS 0.3.21", "AVX-512"
  std::string work{};  ///< of what size: "n = 1024", "3 arrays of 128 MiB"
  std::vector<ProbePart> parts{};

  bool operator==(const ProbeMeasurement&) const = default;
};

/// A host and all that was measured of it.
struct ProbeRecord {
  std::string host;
  std::string processor;  ///< as the kernel names it
  int cores = 0;          ///< that worked
  /// Of the time of these cores, what other processes and a hypervisor took meanwhile; none: not known.
  std::optional<double> taken_share{};
  double window_seconds = 0;  ///< of each window; 0: not known
  std::vector<ProbeMeasurement> measurements{};
  std::vector<std::string> notes{};  ///< what was not measured, and why

  bool operator==(const ProbeRecord&) const = default;
};

}  // namespace collbench
