#include "collectives/nccl/algorithm_override.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/record/measurement.hpp"

namespace collbench::collectives {
namespace {

/// NCCL's names as of 2.30 (docs env.rst, NCCL_ALGO), and the operations that it has them for (tuning.cc).
struct Algorithm {
  std::string_view name;   ///< ours
  std::string_view value;  ///< of NCCL_ALGO
  bool for_all_reduce;
  bool for_halves;  ///< AllGather and ReduceScatter
};

constexpr std::array kAlgorithms{
    Algorithm{"ring", "Ring", true, true},
    Algorithm{"tree", "Tree", true, false},
    Algorithm{"nvls", "NVLS", true, true},
    Algorithm{"nvls_tree", "NVLSTree", true, false},
    Algorithm{"collnet_direct", "CollNetDirect", true, true},
    Algorithm{"collnet_chain", "CollNetChain", true, false},
    Algorithm{"pat", "PAT", false, true},
};

struct Protocol {
  std::string_view name;
  std::string_view value;  ///< of NCCL_PROTO
};

constexpr std::array kProtocols{Protocol{"ll", "LL"}, Protocol{"ll128", "LL128"},
                                Protocol{"simple", "Simple"}};

bool has(OperationId operation, const Algorithm& algorithm) {
  if (operation == OperationId::all_reduce) return algorithm.for_all_reduce;
  const bool half = operation == OperationId::all_gather || operation == OperationId::reduce_scatter;
  return half && algorithm.for_halves;
}

template <typename All>
const typename All::value_type* find_by_name(const All& all, std::string_view name) {
  const auto found = std::ranges::find_if(all, [&](const auto& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> override_names(OperationId operation) {
  std::vector<std::string> bare;
  for (const Algorithm& algorithm : kAlgorithms) {
    if (has(operation, algorithm)) bare.emplace_back(algorithm.name);
  }
  if (bare.empty()) return {};
  std::vector<std::string> names = bare;
  bare.insert(bare.begin(), kLibraryChoice);
  for (const std::string& algorithm : bare) {
    for (const Protocol& protocol : kProtocols) names.push_back(algorithm + "/" + std::string(protocol.name));
  }
  return names;
}

std::optional<AlgorithmOverride> algorithm_override(std::string_view name) {
  AlgorithmOverride choice;
  const std::size_t slash = name.find('/');
  if (const std::string_view algorithm = name.substr(0, slash); algorithm != kLibraryChoice) {
    const Algorithm* const known = find_by_name(kAlgorithms, algorithm);
    if (known == nullptr) return std::nullopt;
    choice.algorithm = known->value;
  }
  if (slash != std::string_view::npos) {
    const Protocol* const known = find_by_name(kProtocols, name.substr(slash + 1));
    if (known == nullptr) return std::nullopt;
    choice.protocol = known->value;
  }
  if (choice == AlgorithmOverride{}) return std::nullopt;
  return choice;
}

ScopedEnvironment::ScopedEnvironment(const AlgorithmOverride& choice) {
  const auto set = [this](const char* variable, const std::string& value) {
    if (value.empty()) return;
    const char* const old = std::getenv(variable);
    before_.push_back({variable, old == nullptr ? std::nullopt : std::optional<std::string>(old)});
    ::setenv(variable, value.c_str(), 1);
  };
  set("NCCL_ALGO", choice.algorithm);
  set("NCCL_PROTO", choice.protocol);
}

ScopedEnvironment::~ScopedEnvironment() {
  for (const Before& before : before_) {
    if (before.value) {
      ::setenv(before.variable, before.value->c_str(), 1);
    } else {
      ::unsetenv(before.variable);
    }
  }
}

}  // namespace collbench::collectives
