#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/models/nccl/gpu_cluster.hpp"
#include "base/document/document.hpp"
#include "base/record/run.hpp"
#include "topology/graph/topology.hpp"

namespace collbench::analysis {

/// One node of the run's machine as a graph, and the run's ranks on as many of them.
struct Lab01Machine {
  topology::Host host;
  GpuCluster cluster;
};

/// The rate of a link in one direction and how it comes about.
struct LinkCeiling {
  std::string what;        ///< "NVLink of one GPU, line rate"
  std::string arithmetic;  ///< "18 links × 25 GB/s"
  double bytes_per_second = 0;
  std::string source;
  bool bounds = true;  ///< false: a figure of NCCL's in the place of a rate that no source gives

  bool operator==(const LinkCeiling&) const = default;
};

/// Busbw of AllReduce by one algorithm, in B/s: the same formula on three rates of the links. On host memory
/// line_rate is that of the calibrated link, and there is no by_nccl.
struct AlgorithmCeiling {
  std::string name;        ///< "ring", "tree", "nvls", "nvls_tree"; "ring, data out of cache" on hosts
  std::string arithmetic;  ///< of line_rate: "min(450 GB/s, 400 GB/s)"; without it, of by_nccl
  std::optional<double> line_rate;  ///< every link at its line rate
  std::optional<double> by_nccl;    ///< every link as NCCL counts it
  std::optional<double> reachable;  ///< large buffers by docs/model.md
  std::string because;              ///< "every link carries 2(p − 1)/p · S"

  /// The highest rate that the links allow, by what is known of them.
  [[nodiscard]] double bound() const { return line_rate ? *line_rate : by_nccl.value_or(0); }
  bool operator==(const AlgorithmCeiling&) const = default;
};

struct Lab01Ceilings {
  std::vector<LinkCeiling> links;
  std::vector<AlgorithmCeiling> algorithms;

  bool are_bounds = true;  ///< false: for some link NCCL's figure stands in, and a run may be above it

  [[nodiscard]] const AlgorithmCeiling* find(std::string_view algorithm) const;
};

/// Something that is looked at before a number is believed.
struct PrecedingCheck {
  std::string question;
  std::string answer;
  bool good = true;  ///< false: not as it should be, or not known

  bool operator==(const PrecedingCheck&) const = default;
};

/// What the hour costs; the currency is the user's word, and may be empty.
struct Lab01Price {
  std::optional<double> per_gpu_hour;  ///< none: no price
  std::optional<double> hours;         ///< none: one hour, and what the run took
  std::string currency;
};

struct Lab01Options {
  std::optional<Lab01Machine> machine;  ///< none on host memory, and where no topology is known
  std::string without_machine;          ///< then: what to give; lab01_suggestion
  std::vector<PrecedingCheck> checks;   ///< lab01_checks
  Lab01Ceilings ceilings;               ///< lab01_ceilings
  Lab01Price price;
  std::string prediction;  ///< not empty: nothing was measured, and this is the machine in words
};

/// Lab 01, to hand in: the hardware as found, the checks that precede, the theoretical ceilings
/// with their arithmetic, AllReduce at 1 MB, 100 MB and 1 GB (the nearest sizes of the run, within a factor
/// of 1.5; out of place) expected by each algorithm and measured, where the bandwidth between line rate and
/// measurement goes, an explanation each, and the price. Works for host memory, and says so; with
/// Lab01Options::prediction the rows of `run` are expectations, and the page says nothing of measurements.
[[nodiscard]] Document lab01_document(const Run& run, const Lab01Options& options);

/// That document as Markdown.
[[nodiscard]] std::string report_lab01(const Run& run, const Lab01Options& options);

/// The document of `run` as one file of HTML that needs no network, with charts of AllReduce.
[[nodiscard]] std::string lab01_page(Document document, const Run& run);

/// A run that holds the rows of the lab at 1 MB, 100 MB and 1 GB as expected of `cluster`, nothing measured.
[[nodiscard]] Run lab01_prediction(const GpuCluster& cluster);

/// What bounds AllReduce's busbw for a run: on GPUs the links of `machine` at line rate, as NCCL counts them
/// and as they are reached, or without it those that the log's own lines tell; then each algorithm made from
/// them (docs/notes/lab01.md); on host memory the calibrated links, reduction and copies. Empty where nothing
/// is known.
[[nodiscard]] Lab01Ceilings lab01_ceilings(const Run& run, const std::optional<Lab01Machine>& machine);

/// The same for a run on host memory, from its calibration alone.
[[nodiscard]] Lab01Ceilings host_memory_ceilings(const Run& run);

/// Which reference machines have the log's GPU, as many of them on a node as the log has ranks, and the
/// network that it names: "--topology hgx-h100 ...". Or what to do where there is none.
[[nodiscard]] std::string lab01_suggestion(const Run& run);

/// Is the network up at its rate, is it RDMA or sockets, does the NIC reach GPU memory itself, are the
/// NVLinks even, was the data checked; on host memory: has every rank a core. By the log's own lines and by
/// `host`.
[[nodiscard]] std::vector<PrecedingCheck> lab01_checks(const Run& run,
                                                       const std::optional<topology::Host>& host);

/// Why a row of the run (an element of run.rows) is as it is, made of what the record holds: how much of the
/// expected time the bytes take and how much is waiting, what the row is of its expectation and of its own
/// band, what may take the rest, and what the log says that bears on it. It speaks of this row only.
[[nodiscard]] std::string lab01_explanation(const Run& run, const Row& row,
                                            const std::optional<Lab01Machine>& machine);

/// "FAULT: 3.2 GB/s at 8 GiB is ...": on the sweep that `row` is part of, which its largest rows decide;
/// empty where it was not judged.
[[nodiscard]] std::string lab01_verdict(const Run& run, const Row& row);

/// Whether a row lies in its own band: -1 below, 0 within, 1 above; none without a band.
[[nodiscard]] std::optional<int> side_of_band(const Row& row);

/// A size for this page: "1 MB" for 1,000,000 B, else as format_bytes.
[[nodiscard]] std::string lab01_size(std::uint64_t bytes);

}  // namespace collbench::analysis
