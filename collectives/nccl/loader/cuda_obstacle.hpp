#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "collectives/nccl/loader/cuda_library.hpp"

// Errors of CUDA that say that it cannot work on this machine as it is: no GPU has failed, and nothing is
// wrong with what was asked of it. A retry gives the same; another driver, library or container does not.

namespace collbench::collectives {

/// Each of these brings a CUDA runtime of its own, and is replaced in another way.
enum class CudaUser { runtime, nccl, kernels };

/// `result` of `call`, where it is such an error: an Error (not_here) with the reason and what to do. None:
/// it is another.
[[nodiscard]] std::optional<Error> cuda_obstacle(CudaResult result, CudaUser user, const std::string& call);

/// The same where only CUDA's words are known, as in NCCL's "Cuda failure 'initialization error'": of the
/// first such error whose words are in `text`.
[[nodiscard]] std::optional<Error> cuda_obstacle_in(std::string_view text, CudaUser user,
                                                    const std::string& call);

}  // namespace collbench::collectives
