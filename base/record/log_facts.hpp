#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"
#include "base/record/json_fields.hpp"

namespace collbench {

/// Something that a foreign log says, and the line it says it in (from 1; 0: given on the command line).
template <class Value>
struct LogFact {
  Value value{};
  int line = 0;

  bool operator==(const LogFact&) const = default;
};

template <class Value>
using MaybeLogFact = std::optional<LogFact<Value>>;

/// Connections that NCCL set up the same way ("via NET/IB/0/GDRDMA" in its channel lines).
struct LogConnections {
  std::string via;          ///< "P2P/CUMEM", "SHM/direct", "NET/IB"; without device numbers
  bool gpu_direct = false;  ///< GDRDMA: the NIC reads and writes GPU memory itself
  std::uint64_t count = 0;
  int line = 0;  ///< of the first

  bool operator==(const LogConnections&) const = default;
};

/// What NCCL said it would run for one size.
struct LogTuning {
  std::uint64_t size_bytes = 0;
  std::string algorithm;  ///< "ring", "tree", "nvls", "nvls_tree", …
  std::string protocol;   ///< "ll", "ll128", "simple"
  int channels = 0;       ///< 0: the line does not say
  int line = 0;

  bool operator==(const LogTuning&) const = default;
};

/// LogSkipped::what of rows that measure nothing: nccl-tests has them for sizes below an element per rank.
inline constexpr std::string_view kRowsOfNoBytes = "rows of 0 bytes";

/// The same of a row whose time is 0, negative or nan: it lacks what it was to measure.
inline constexpr std::string_view kRowsWithoutTime = "rows whose time is not a positive number";

/// What of the log is not in the rows.
struct LogSkipped {
  std::string what;  ///< kRowsOfNoBytes, or other words
  std::uint64_t count = 0;
  int line = 0;  ///< of the first

  bool operator==(const LogSkipped&) const = default;
};

/// What a foreign log says about its job. What it does not say is none, and is never made up.
struct LogFacts {
  std::string file;                     ///< as named on the command line
  std::string format;                   ///< "nccl-tests text", "nccl-tests JSON", "rccl-tests JSON"
  MaybeLogFact<std::string> program;    ///< "all_reduce_perf"
  MaybeLogFact<std::string> command;    ///< its command line, without secrets
  MaybeLogFact<std::string> version;    ///< of the program
  MaybeLogFact<std::string> nccl;       ///< "2.23.4+cuda12.6"
  MaybeLogFact<std::string> operation;  ///< "AllReduce"; by the program's name, else by the table's shape
  MaybeLogFact<std::string> gpu;        ///< "NVIDIA H100 80GB HBM3"
  MaybeLogFact<int> gpus_per_process;   ///< threads × GPUs per thread
  MaybeLogFact<int> threads_per_process;
  MaybeLogFact<int> ranks;  ///< by the device list, or what busbw/algbw allows
  MaybeLogFact<int> nodes;
  MaybeLogFact<int> ranks_per_node;  ///< none where nodes differ
  MaybeLogFact<std::vector<std::string>> hosts;
  MaybeLogFact<std::string> network;            ///< "IB", "Socket", "AWS Libfabric": NCCL's "Using network"
  MaybeLogFact<std::string> link_layer;         ///< "IB" or "RoCE", of the NICs
  MaybeLogFact<std::vector<std::string>> nics;  ///< of one node; over sockets the interfaces
  MaybeLogFact<double> nic_bytes_per_second;    ///< of one of them, one direction
  std::vector<LogConnections> connections;
  MaybeLogFact<bool> gpu_direct;               ///< true: every network connection; false: some without
  MaybeLogFact<int> channels;                  ///< for collectives
  MaybeLogFact<int> nvls_channels;             ///< 0: NCCL does not use NVLS
  MaybeLogFact<double> ring_bytes_per_second;  ///< of NCCL's graph search: channels × rate, inside a node
  MaybeLogFact<double> nvlink_least_bytes_per_second;  ///< between two GPUs, as NCCL sees the node
  MaybeLogFact<double> nvlink_most_bytes_per_second;
  std::vector<LogTuning> tunings;             ///< one per size
  MaybeLogFact<std::uint64_t> out_of_bounds;  ///< wrong values of the whole run
  MaybeLogFact<double> latency_seconds;       ///< out of place, at 8 B
  MaybeLogFact<std::string> topology;         ///< a reference machine's name or a file, for the verdict
  std::vector<LogSkipped> left_out;
  std::vector<std::string>
      losses;                      ///< what some hosts, GPUs or connections lack, or have slower, than others
  std::vector<std::string> notes;  ///< where the log contradicts itself, and what was taken

  bool operator==(const LogFacts&) const = default;
};

/// Whether the network that NCCL names is one of sockets; false where the log names none.
[[nodiscard]] bool uses_sockets(const LogFacts& log);

/// What a log says, in a run record (docs/formats.md): each fact as {"value", "line"}, null for none.
[[nodiscard]] Json log_facts_to_json(const LogFacts& facts);

/// Throws Error (usage) that names the place in the file.
[[nodiscard]] LogFacts log_facts_from_json(const JsonReader& json);

}  // namespace collbench
