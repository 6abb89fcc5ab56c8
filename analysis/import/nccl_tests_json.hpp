#pragma once
#include <string_view>

#include "analysis/import/log_table.hpp"

namespace collbench::analysis {

/// Whether `text` is JSON by its first letter.
[[nodiscard]] bool looks_like_json(std::string_view text);

/// What `nccl-tests -J FILE.json` wrote (JSON_FILE_VERSION 3 of 2.19.6, and what its older versions share
/// with it). Throws Error (usage) that names the place when it is something else; of the environment only
/// variables of NCCL, CUDA_VISIBLE_DEVICES, OMPI_*, UCX_*, FI_* and SLURM_JOB_ID are taken: the file holds
/// all of them, secrets too.
[[nodiscard]] LogTable read_nccl_tests_json(std::string_view text, std::string_view file);

}  // namespace collbench::analysis
