#include "collectives/mpi/open_mpi/algorithm_control.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/error.hpp"
#include "collectives/mpi/open_mpi/mpi_t_variable.hpp"
#include "launch/mpi/mpi_session.hpp"

namespace collbench::collectives {
namespace {

/// The variable that a communicator's choice for an operation is taken from when it is made
/// (coll_tuned_module.c, tuned_module_enable).
struct AlgorithmVariable {
  OperationId operation;
  const char* name;
};
constexpr std::array<AlgorithmVariable, 4> kAlgorithmVariables{{
    {OperationId::all_reduce, "coll_tuned_allreduce_algorithm"},
    {OperationId::all_gather, "coll_tuned_allgather_algorithm"},
    {OperationId::reduce_scatter, "coll_tuned_reduce_scatter_algorithm"},
    {OperationId::all_to_all, "coll_tuned_alltoall_algorithm"},
}};

/// The value of every such variable that leaves the choice to the library.
constexpr int kLibraryChooses = 0;

std::optional<MpiTVariable> algorithm_variable(OperationId operation) {
  const auto* const known = std::ranges::find(kAlgorithmVariables, operation, &AlgorithmVariable::operation);
  if (known == kAlgorithmVariables.end()) return std::nullopt;
  return MpiTVariable::find(known->name);
}

std::optional<long long> integer_variable(const std::string& name) {
  const auto variable = MpiTVariable::find(name);
  return variable ? variable->integer() : std::nullopt;
}

/// The component of Open MPI that serves collectives in the place of coll/tuned; empty when none does. The
/// highest priority wins (coll_base_comm_select.c). self (one rank), inter (intercommunicators), sync and
/// monitoring (both call the next one) stand above tuned without being in its way.
std::string component_before_tuned() {
  const long long tuned = integer_variable("coll_tuned_priority").value_or(0);
  for (const char* const component : {"hcoll", "ucc", "fca", "ml", "portals4", "han", "sm", "cuda", "adapt",
                                      "basic", "libnbc", "acoll", "xhc"}) {
    const auto priority = integer_variable(fmt::format("coll_{}_priority", component));
    if (priority && *priority > tuned) return component;
  }
  return {};
}

/// Why coll/tuned decides nothing; empty where it does, by its own rules or by what is selected.
std::string reason_tuned_does_not_decide() {
  const auto obeyed = integer_variable("coll_tuned_use_dynamic_rules");
  if (!obeyed)
    return "this MPI library does not let programs choose an algorithm (Open MPI does, with its component "
           "coll/tuned)";
  const auto rules = MpiTVariable::find("coll_tuned_dynamic_rules_filename");
  if (*obeyed != 0 && rules && !rules->text().empty()) {
    // coll_tuned_decision_dynamic.c: a rule of the file comes before a forced algorithm
    return fmt::format("Open MPI's rules file {} chooses", rules->text());
  }
  const std::string other = component_before_tuned();
  if (!other.empty())
    return fmt::format(
        "Open MPI's component coll/{} takes priority over coll/tuned; OMPI_MCA_coll=^{} leaves it out", other,
        other);
  return {};
}

/// The number that the library has for `algorithm`; none when it lacks it.
std::optional<int> value_of(const MpiTVariable& variable, const std::string& algorithm) {
  if (algorithm == kLibraryChoice) return kLibraryChooses;
  for (const auto& [value, name] : variable.named_values()) {
    if (name == algorithm && value != kLibraryChooses) return value;
  }
  return std::nullopt;
}

Error not_taken(const std::string& algorithm, const std::string& reason) {
  return {ExitStatus::not_here, "--algo " + algorithm, reason, "leave it out, or use --algo auto"};
}

/// `algorithm`, or what "auto" means where the environment of the run names one.
const std::string& meaning(const std::map<OperationId, std::string>& configured, OperationId operation,
                           const std::string& algorithm) {
  const auto found = configured.find(operation);
  return algorithm == kLibraryChoice && found != configured.end() ? found->second : algorithm;
}

/// Bytes of payload in the largest eager message of a byte transfer layer; 0 when it is not in use. Its limit
/// counts the largest header of pml/ob1, 56 bytes on 64-bit machines (pml_ob1_sendreq.h,
/// mca_pml_ob1_send_request_start_btl; pml_ob1_hdr.h, mca_pml_ob1_hdr_t).
std::uint64_t eager_payload_bytes(const char* layer) {
  constexpr long long kHeaderBytes = 56;
  const auto limit = integer_variable(fmt::format("btl_{}_eager_limit", layer));
  return limit && *limit > kHeaderBytes ? static_cast<std::uint64_t>(*limit - kHeaderBytes) : 0;
}

}  // namespace

void allow_forced_algorithms() {
  constexpr int kKeepWhatIsSet = 0;
  ::setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", kKeepWhatIsSet);
}

AlgorithmControl::AlgorithmControl() {
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  unsupported_reason_ = reason_tuned_does_not_decide();
  knows_rules_ = unsupported_reason_.empty() && has_open_mpi_rules(launch::MpiSession::library_version());
  if (unsupported_reason_.empty() && integer_variable("coll_tuned_use_dynamic_rules") == 0) {
    unsupported_reason_ = "coll_tuned_use_dynamic_rules is 0 in the settings of Open MPI";
  }
  if (!unsupported_reason_.empty()) return;
  for (const auto& [operation, name] : kAlgorithmVariables) {
    const auto variable = algorithm_variable(operation);
    if (!variable) continue;
    for (const auto& [value, algorithm] : variable->named_values()) {
      if (value != kLibraryChooses && variable->integer() == value) configured_[operation] = algorithm;
    }
  }
}

AlgorithmControl::~AlgorithmControl() { MPI_T_finalize(); }

std::vector<std::string> AlgorithmControl::available(OperationId operation) const {
  std::vector<std::string> result;
  const auto variable = unsupported_reason_.empty() ? algorithm_variable(operation) : std::nullopt;
  if (!variable) return result;
  for (const auto& [value, algorithm] : variable->named_values()) {
    if (value != kLibraryChooses) result.push_back(algorithm);
  }
  return result;
}

std::optional<std::string> AlgorithmControl::unsupported_reason(OperationId operation,
                                                                const std::string& algorithm,
                                                                int ranks) const {
  if (algorithm == kLibraryChoice) return std::nullopt;
  if (!unsupported_reason_.empty()) return unsupported_reason_;
  const std::vector<std::string> names = available(operation);
  const std::string_view what = collbench::operation(operation).name;
  if (names.empty()) return fmt::format("no algorithm can be selected for {} here", what);
  if (std::ranges::find(names, algorithm) == names.end()) {
    return fmt::format("the MPI library has no such algorithm for {}, only {}", what, fmt::join(names, ", "));
  }
  return open_mpi_refuses(operation, algorithm, ranks);
}

void AlgorithmControl::select(OperationId operation, const std::string& algorithm) {
  const std::string& name = meaning(configured_, operation, algorithm);
  if (name == kLibraryChoice && available(operation).empty()) return;  // nothing else was ever selected
  constexpr int kAnyRanks = 2;
  if (const auto reason = unsupported_reason(operation, name, kAnyRanks)) throw not_taken(algorithm, *reason);
  const auto variable = algorithm_variable(operation);
  const auto value = variable ? value_of(*variable, name) : std::nullopt;
  if (!value || !variable->set(*value)) {
    throw not_taken(algorithm, fmt::format("the MPI library did not accept it for {}",
                                           collbench::operation(operation).name));
  }
}

std::string AlgorithmControl::ran(const std::string& algorithm, const CollectiveCall& call) const {
  const std::string& selected = meaning(configured_, call.operation, algorithm);
  if (selected == kLibraryChoice) {
    constexpr std::uint64_t kNoSegments = 0;  // the rules leave what is set for a selected algorithm aside
    const auto chosen = knows_rules_ ? open_mpi_chooses(call) : std::nullopt;
    return chosen ? open_mpi_runs(*chosen, call, kNoSegments) : selected;
  }
  const auto segment_bytes = integer_variable("coll_tuned_allreduce_algorithm_segmentsize").value_or(0);
  return open_mpi_runs(selected, call, static_cast<std::uint64_t>(segment_bytes));
}

EagerLimits AlgorithmControl::eager_limits() const {
  EagerLimits limits;
  if (!integer_variable("pml_ob1_priority")) return limits;  // another transport: UCX, or a matching network
  for (const char* const layer : {"vader", "sm", "tcp"}) {   // sm is vader's name in Open MPI 5
    if (limits.within_host_bytes == 0) limits.within_host_bytes = eager_payload_bytes(layer);
  }
  for (const char* const layer : {"openib", "uct", "ofi", "ugni", "usnic", "portals4"}) {
    if (integer_variable(fmt::format("btl_{}_eager_limit", layer)))
      return limits;  // set by device, not known
  }
  limits.across_hosts_bytes = eager_payload_bytes("tcp");
  return limits;
}

}  // namespace collbench::collectives
