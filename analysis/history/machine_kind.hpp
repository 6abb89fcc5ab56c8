#pragma once
#include <string>
#include <vector>

#include "base/record/run.hpp"

namespace collbench::analysis {

/// The hosts of a run, each once, in alphabetical order.
[[nodiscard]] std::vector<std::string> hosts_of(const Run& run);

/// What two runs have in common whose times may be laid side by side, as the name of a folder:
/// "nccl-16ranks-2nodes-nvidia-h100-80gb-hbm3", "mpi-2ranks-1node-max". Backend, ranks, nodes, the GPUs'
/// model and how ranks' times became one; neither names of hosts nor versions, nor what may be broken: a
/// machine that lost a link is still compared with itself.
[[nodiscard]] std::string machine_kind(const Run& run);

/// The name of a record's file there: "20261001T120000Z-node01-0123456789abcdef.json". By time first, so that
/// names in order are records in order; the digits are of the record's text (FNV-1a, 64 bits), so that a
/// record has one name whoever adds it, and two records never have the same. `text` is the record's JSON.
[[nodiscard]] std::string record_file_name(const Run& run, const std::string& text);

}  // namespace collbench::analysis
