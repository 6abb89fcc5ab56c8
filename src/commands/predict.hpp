#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/record/operation.hpp"

namespace collbench::program {

/// `collbench predict`.
struct PredictOptions {
  std::string topology;
  int nodes = 1;
  int ranks_per_node = 0;  ///< 0: one for each GPU
  std::string transport;   ///< empty: what the NICs are made for
  std::vector<OperationId> operations{OperationId::all_reduce, OperationId::all_gather,
                                      OperationId::reduce_scatter, OperationId::all_to_all,
                                      OperationId::send_recv};
  std::vector<std::uint64_t> sizes;  ///< empty: 8 B to 8 GiB by × 4
  std::string format = "text";
};

/// The expected table. Throws Error (usage) for a topology that cannot carry it.
[[nodiscard]] std::string predict_command(const PredictOptions& options);

/// Adds the subcommand "predict"; parsing fills `predict`, which must outlive `app`.
void add_predict_command(CLI::App& app, PredictOptions& predict);

}  // namespace collbench::program
