#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/log_table.hpp"

namespace collbench::analysis {

/// The columns of an nccl-tests table, as its heading names them. Three generations have been seen: without
/// "root" and with "error" (to 2.11), with "root" and "#wrong", with four more per half (-I, 2.19).
struct NcclTestsColumns {
  bool reduction = true;  ///< a redop column; its cells may be empty (old alltoall)
  bool root = true;
  std::size_t per_half = 4;     ///< time algbw busbw #wrong, and i_min i_max i_p99 i_cv% with -I
  bool wrong_is_error = false;  ///< the last column is a relative error, no count
  bool cpu_time = false;        ///< "cputime": -C
};

/// "# size count type redop root time algbw busbw #wrong …", wherever it stands in the line.
[[nodiscard]] std::optional<NcclTestsColumns> nccl_tests_columns(std::string_view line);

/// A line of the device list; none when it is none.
[[nodiscard]] std::optional<LogDevice> nccl_tests_device(std::string_view line, int number);

/// "# nThread 1 nGpus 8 minBytes …": that a process began, and what it was told.
struct NcclTestsParameters {
  int threads = 1;
  int gpus_per_thread = 1;
  std::uint64_t iterations = 0;
};
[[nodiscard]] std::optional<NcclTestsParameters> nccl_tests_parameters(std::string_view line);

/// The program that a line names ("./build/all_reduce_perf -b 8 …", "Collective test starting:
/// all_reduce_perf"): "all_reduce_perf"; empty when it names none that is known.
[[nodiscard]] std::string nccl_tests_program(std::string_view line);

}  // namespace collbench::analysis
