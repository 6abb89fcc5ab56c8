#include "tests/collectives/nccl/stand_in/refused_algorithms.hpp"

#include <cstdlib>

#include "tests/collectives/nccl/stand_in/injected_fault.hpp"
#include "tests/collectives/nccl/stand_in/nccl.hpp"

namespace collbench::collectives {
namespace {

/// NVLS: by type and reduction as of 2.28 (src/include/device.h, ncclNvlsSupported; an average is none of its
/// sums). AllGather moves any type.
bool has_nvls(const AskHeader& header) {
  if (!has_nvswitches()) return false;
  if (header.ask == Ask::all_gather) return true;
  if (header.ask != Ask::all_reduce && header.ask != Ask::reduce_scatter) return false;
  switch (header.type) {
    case NcclType::int32:
    case NcclType::uint32:
    case NcclType::int64:
    case NcclType::uint64:
    case NcclType::float16:
    case NcclType::bfloat16:
      return header.reduction != NcclReduction::prod && header.reduction != NcclReduction::avg;
    case NcclType::float32:
    case NcclType::float64:
      return header.reduction == NcclReduction::sum;
    case NcclType::int8:
    case NcclType::uint8:
    case NcclType::float8_e4m3:
    case NcclType::float8_e5m2:
      return false;
  }
  return false;
}

}  // namespace

bool has_algorithm(const Restriction& restriction, const AskHeader& header) {
  if (header.ask == Ask::group || header.ask == Ask::all_to_all || stand_in_version() < 22400) return true;
  const std::string& algorithm = restriction.algorithm;
  if (algorithm == "NVLS") return has_nvls(header);
  return algorithm.empty() || algorithm == "Ring" || (algorithm == "Tree" && header.ask == Ask::all_reduce);
}

NcclResult refusal(std::string& last_error) {
  last_error = "No algorithm/protocol available for this function and datatype.";
  bool is_set = false;
  for (const char* const variable : {"NCCL_ALGO", "NCCL_PROTO"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr) continue;
    is_set = true;
    last_error += std::string(" ") + variable + " was set to " + value + ".";
  }
  return is_set ? NcclResult::invalid_usage : NcclResult::internal_error;
}

}  // namespace collbench::collectives
