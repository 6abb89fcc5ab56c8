#include "collectives/nccl/algorithm_override.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/environment.hpp"
#include "base/record/measurement.hpp"
#include "base/record/nccl_algorithm.hpp"
#include "base/record/nccl_selection.hpp"

namespace collbench::collectives {
namespace {

/// NCCL's names as of 2.32 (NCCL_ALGO and ncclCollConfig_t of its user guide), and the operations that it has
/// them for (tuning.cc).
struct Algorithm {
  std::string_view name;       ///< ours
  std::string_view value;      ///< of NCCL_ALGO; empty: kernels that only a call can ask for, and no protocol
  std::string_view selection;  ///< of ncclCollConfig_t, before the protocol
  bool for_all_reduce;
  bool for_halves;     ///< AllGather and ReduceScatter
  bool has_protocols;  ///< beside Simple
};

constexpr std::array kAlgorithms{
    Algorithm{name(NcclAlgorithm::ring), "Ring", "RING", true, true, true},
    Algorithm{name(NcclAlgorithm::tree), "Tree", "TREE", true, false, true},
    Algorithm{name(NcclAlgorithm::nvls), "NVLS", "NVLS", true, true, false},
    Algorithm{name(NcclAlgorithm::nvls_tree), "NVLSTree", "NVLSTREE", true, false, false},
    Algorithm{name(NcclAlgorithm::collnet_direct), "CollNetDirect", "COLLNET_DIRECT", true, true, false},
    Algorithm{name(NcclAlgorithm::collnet_chain), "CollNetChain", "COLLNET_CHAIN", true, false, false},
    Algorithm{name(NcclAlgorithm::pat), "PAT", "PAT", false, true, false},
    Algorithm{"symmetric", "", "SYMK", true, true, false},
};

struct Protocol {
  NcclProtocol id;
  std::string_view selection;
  std::string_view name = collbench::name(id);
};

constexpr std::array kProtocols{Protocol{NcclProtocol::ll, "LL"}, Protocol{NcclProtocol::ll128, "LL128"},
                                Protocol{NcclProtocol::simple, "SIMPLE"}};

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

/// A name selects all that begin so: "RING_" the ring by every protocol, and "RING_LL" that by LL128, too.
std::string selection_of(const Algorithm& algorithm, const Protocol* protocol) {
  std::string selection = std::string(algorithm.selection) + "_";
  if (protocol == nullptr) return selection;
  selection += protocol->selection;
  if (protocol->id == NcclProtocol::ll) selection += "+^" + selection + "128";
  return selection;
}

/// Of every algorithm that has this protocol: a name that NCCL does not know is an error, also in a list.
std::string selection_of_all(const Protocol& protocol) {
  std::string selection;
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.value.empty() || (protocol.id != NcclProtocol::simple && !algorithm.has_protocols))
      continue;
    selection += (selection.empty() ? "" : ",") + selection_of(algorithm, &protocol);
  }
  return selection;
}

}  // namespace

std::vector<std::string> override_names(OperationId operation, OverrideBy by) {
  std::vector<std::string> names;
  std::vector<std::string> with_protocols{std::string(kLibraryChoice)};
  for (const Algorithm& algorithm : kAlgorithms) {
    if (!has(operation, algorithm) || (algorithm.value.empty() && by == OverrideBy::communicator)) continue;
    names.emplace_back(algorithm.name);
    if (!algorithm.value.empty()) with_protocols.emplace_back(algorithm.name);
  }
  if (names.empty()) return {};
  for (const std::string& algorithm : with_protocols) {
    for (const Protocol& protocol : kProtocols) names.push_back(algorithm + "/" + std::string(protocol.name));
  }
  return names;
}

bool has_override(OperationId operation, OverrideBy by, std::string_view name) {
  const AskedAlgorithm asked = asked_algorithm(name);
  if (asked.ctas > 0) name = name.substr(0, name.rfind('/'));
  const std::vector<std::string> names = override_names(operation, by);
  return (name == kLibraryChoice && !names.empty()) || std::ranges::find(names, name) != names.end();
}

std::optional<AlgorithmOverride> algorithm_override(std::string_view name) {
  const AskedAlgorithm asked = asked_algorithm(name);
  const Algorithm* const algorithm = find_by_name(kAlgorithms, asked.algorithm);
  const Protocol* const protocol = find_by_name(kProtocols, asked.protocol);
  if (algorithm == nullptr && asked.algorithm != kLibraryChoice) return std::nullopt;
  if (protocol == nullptr && !asked.protocol.empty()) return std::nullopt;
  AlgorithmOverride choice;
  choice.ctas = asked.ctas;
  if (algorithm != nullptr) {
    choice.algorithm = algorithm->value;
    choice.selection = selection_of(*algorithm, protocol);
  } else if (protocol != nullptr) {
    choice.selection = selection_of_all(*protocol);
  }
  if (protocol != nullptr) choice.protocol = nccl_word(protocol->id);
  if (choice == AlgorithmOverride{}) return std::nullopt;
  return choice;
}

ScopedEnvironment::ScopedEnvironment(const AlgorithmOverride& choice) {
  const auto set = [this](const char* variable, const std::string& value) {
    if (value.empty()) return;
    const char* const old = std::getenv(variable);
    before_.push_back({variable, old == nullptr ? std::nullopt : std::optional<std::string>(old)});
    change_variable(variable, value);
  };
  set("NCCL_ALGO", choice.algorithm);
  set("NCCL_PROTO", choice.protocol);
}

ScopedEnvironment::~ScopedEnvironment() {
  for (const Before& before : before_) change_variable(before.variable, before.value);
}

}  // namespace collbench::collectives
