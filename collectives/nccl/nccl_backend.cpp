#include "collectives/nccl/nccl_backend.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/units.hpp"
#include "collectives/buffer_layout.hpp"
#include "collectives/nccl/algorithm_override.hpp"
#include "collectives/nccl/nccl_row.hpp"
#include "launch/agreement.hpp"

namespace collbench::collectives {
namespace {

constexpr int kStrictAboutAlgorithms = 22400;
constexpr int kFirstWithFloat8 = 22400;  // nccl.h of 2.24: ncclFloat8e4m3, ncclFloat8e5m2
constexpr int kFirstGpuWithFloat8 =
    90;  // NCCL reduces them on Hopper and newer; nccl-tests 2.19.6 leaves them out below

void require_graphs(const CudaLibrary& cuda) {
  if (cuda.graph_instantiate != nullptr) return;
  throw Error(
      ExitStatus::not_here, "-G",
      fmt::format("{} ({}) lacks cudaGraphInstantiateWithFlags", cuda.path, cuda_version_text(cuda.version)),
      "leave -G out, or name a CUDA runtime of 11.4 or newer in COLLBENCH_CUDART");
}

}  // namespace

NcclBackend::NcclBackend(const launch::CollectiveWait& waiter, const Identities& machines,
                         const NcclOptions& options)
    : waiter_(waiter),
      gpu_(waiter, machines, options.share_gpu, options.inside_slurm),
      observer_(gpu_.nccl.version),
      traffic_(options.traffic),
      operations_per_group_(options.operations_per_group),
      graph_launches_(options.graph_launches) {
  if (graph_launches_ > 0) launch::agreed(waiter.ranks(), waiter.host(), [&] { require_graphs(gpu_.cuda); });
  communicator_seconds_.push_back(try_nccl(gpu_, waiter_));
  try_algorithms(options);
}

/// NCCL refuses a choice only when an operation is called: from 2.24 on with an error, and before by taking
/// another one in silence.
void NcclBackend::try_algorithms(const NcclOptions& options) {
  for (const std::string& algorithm : options.algorithms) {
    if (!algorithm_override(algorithm)) continue;
    for (const OperationId id : options.operations) {
      RowKey key;
      key.operation = id;
      key.size_bytes = kKiB;
      key.count = kKiB / traits(key.type).bytes;
      key.algorithm = algorithm;
      if (operation(id).reduces) key.reduction = Reduction::sum;
      if (unsupported_reason(key)) continue;
      const RowLayout row = layout(key);
      launch::agreed(waiter_.ranks(), waiter_.host(), [&] { allocate(row.bytes); });
      try {
        try_algorithm(key, row);
      } catch (const launch::AgreedError& error) {
        if (error.status() != ExitStatus::not_here) {
          leave_buffers();
          throw;
        }
        declined_[{id, algorithm}] = error.what();
      }
    }
  }
}

/// On a non-blocking communicator of its own, which can be given up: an algorithm that some host cannot set
/// up is what hangs here.
void NcclBackend::try_algorithm(const RowKey& key, const RowLayout& layout) {
  const ScopedEnvironment forced(algorithm_override(key.algorithm).value_or(AlgorithmOverride{}));
  NcclCommunicator trial(gpu_, waiter_, NcclCalls::non_blocking);
  communicator_seconds_.push_back(trial.seconds());
  row_on(trial, key, layout, false)->run(1);
  trial.finalize();
}

NcclBackend::~NcclBackend() {
  const bool failed = std::any_of(communicators_.begin(), communicators_.end(),
                                  [](const auto& each) { return each.second->failed(); });
  if (failed) leave_buffers();
}

void NcclBackend::leave_buffers() {
  for (DeviceBuffer* buffer : {&send_, &receive_, &scratch_}) buffer->leave();
}

void NcclBackend::describe(Run& run) const {
  run.backend = BackendId::nccl;
  run.nccl_observer_status = observer_.status();
  run.versions.nccl = nccl_version_text(gpu_.nccl.version);
  run.versions.cuda = cuda_version_text(gpu_.cuda.version);
  run.communicator_seconds = communicator_seconds_;
  run.graph_launches = graph_launches_;
}

double NcclBackend::clock_read_seconds() const { return kEventSeconds; }

std::vector<std::string> NcclBackend::algorithms(OperationId operation) const {
  return override_names(operation);
}

std::optional<std::string> NcclBackend::unsupported_type_reason(DataType type) const {
  if (!is_float8(type)) return std::nullopt;
  const std::string_view name = traits(type).name;
  if (gpu_.nccl.version < kFirstWithFloat8) {
    return fmt::format("NCCL {} does not support {}; 2.24 and newer do", nccl_version_text(gpu_.nccl.version),
                       name);
  }
  if (gpu_.compute_capability >= kFirstGpuWithFloat8) return std::nullopt;
  return fmt::format("the GPU does not support {}: its compute capability is {}.{}, and 9.0 is needed", name,
                     gpu_.compute_capability / 10, gpu_.compute_capability % 10);
}

std::optional<std::string> NcclBackend::unsupported_reason(const RowKey& key) const {
  if (auto why = unsupported_type_reason(key.type)) return why;
  if (operation(key.operation).needs_two_ranks && waiter_.ranks().size() < 2) return "needs two ranks";
  if (key.algorithm == kLibraryChoice) return std::nullopt;
  const std::vector<std::string> names = algorithms(key.operation);
  if (std::find(names.begin(), names.end(), key.algorithm) == names.end()) {
    return fmt::format("NCCL has no {} for {}", key.algorithm, operation(key.operation).name);
  }
  if (gpu_.nccl.version < kStrictAboutAlgorithms) {
    return fmt::format("NCCL {} may silently use another algorithm; 2.24 and newer refuse",
                       nccl_version_text(gpu_.nccl.version));
  }
  const auto declined = declined_.find({key.operation, key.algorithm});
  if (declined != declined_.end()) return "declined: " + declined->second;
  return std::nullopt;
}

std::string NcclBackend::algorithm_ran(const RowKey& key) const { return key.algorithm; }

std::string NcclBackend::note(const RowKey& key) const {
  std::vector<std::string> notes;
  if (gpu_.shared) notes.emplace_back("correctness only: ranks share a GPU");
  const bool grouped = operations_per_group_ > 1 && key.operation != OperationId::ping_pong;
  if (grouped) notes.push_back(fmt::format("{} in one group", operations_per_group_));
  if (key.operation == OperationId::all_to_all && gpu_.nccl.all_to_all == nullptr) {
    notes.emplace_back("grouped ncclSend and ncclRecv");
  }
  return fmt::format("{}", fmt::join(notes, "; "));
}

RowLayout NcclBackend::layout(const RowKey& key) const {
  const launch::Ranks& ranks = waiter_.ranks();
  return row_layout(key, call_context(key, ranks.rank(), ranks.size(), traffic_));
}

BackendLimits NcclBackend::limits() const {
  return {.elements_per_call = std::numeric_limits<std::size_t>::max(),
          .default_largest_bytes = 4 * kGiB,
          .library_buffers = 0};
}

void NcclBackend::allocate(const BufferBytes& bytes) {
  send_ = DeviceBuffer();
  receive_ = DeviceBuffer();
  send_ = DeviceBuffer(gpu_.cuda, bytes.send);
  receive_ = DeviceBuffer(gpu_.cuda, bytes.receive);
  if (scratch_.data() == nullptr) scratch_ = DeviceBuffer(gpu_.cuda, sizeof(NcclRowScratch));
}

void NcclBackend::renew_communicators() { communicators_.clear(); }

NcclCommunicator& NcclBackend::communicator(const std::string& algorithm) {
  auto& made = communicators_[algorithm];
  if (!made) {
    const ScopedEnvironment forced(algorithm_override(algorithm).value_or(AlgorithmOverride{}));
    made = std::make_unique<NcclCommunicator>(gpu_, waiter_, NcclCalls::blocking);
    communicator_seconds_.push_back(made->seconds());
  }
  return *made;
}

std::unique_ptr<PreparedRow> NcclBackend::prepare(const RowKey& key, const RowLayout& layout) {
  return row_on(communicator(key.algorithm), key, layout, graph_launches_ > 0);
}

std::unique_ptr<PreparedRow> NcclBackend::row_on(NcclCommunicator& communicator, const RowKey& key,
                                                 const RowLayout& layout, bool in_graphs) const {
  const auto at = [this](const BufferRange& range) {
    return (range.of_receive_buffer ? receive_ : send_).data() + range.offset;
  };
  const NcclRowBuffers buffers{.input = at(layout.buffers.input),
                               .output = receive_.data(),
                               .result = at(layout.buffers.result),
                               .output_bytes = layout.bytes.receive,
                               .scratch = reinterpret_cast<NcclRowScratch*>(scratch_.data())};
  return std::make_unique<NcclRow>(key, layout,
                                   NcclRowContext{.gpu = gpu_,
                                                  .communicator = communicator,
                                                  .ranks = waiter_.ranks(),
                                                  .observer = observer_,
                                                  .operations_per_group = operations_per_group_,
                                                  .clock = waiter_.clock(),
                                                  .in_graphs = in_graphs},
                                   buffers);
}

}  // namespace collbench::collectives
