#include "collectives/nccl/nccl_backend.hpp"

#include <limits>

#include "base/units.hpp"
#include "collectives/nccl/nccl_row.hpp"
#include "collectives/row_layout.hpp"

namespace collbench {

NcclBackend::NcclBackend(const Together& together, const Identities& machines, const NcclOptions& options)
    : together_(together), gpu_(together, machines, options.share_gpu, options.inside_slurm) {
  communicator_seconds_.push_back(try_nccl(gpu_, together_));
}

NcclBackend::~NcclBackend() {
  if (!communicator_ || !communicator_->failed()) return;
  for (DeviceBuffer* buffer : {&send_, &receive_, &scratch_}) buffer->leave();
}

void NcclBackend::describe(Run& run) const {
  run.backend = "nccl";
  run.versions.nccl = nccl_version_text(gpu_.nccl.version);
  run.versions.cuda = cuda_version_text(gpu_.cuda.version);
  run.communicator_seconds = communicator_seconds_;
}

std::vector<std::string> NcclBackend::algorithms(OperationId /*operation*/) const { return {}; }

std::optional<std::string> NcclBackend::why_not(const RowKey& key) const {
  if (operation(key.operation).needs_two_ranks && together_.ranks().size() < 2) return "needs two ranks";
  if (key.algorithm != kLibraryChoice) return "NCCL's algorithm cannot be chosen yet";
  return std::nullopt;
}

std::string NcclBackend::algorithm_ran(const RowKey& /*key*/) const { return kLibraryChoice; }

std::string NcclBackend::note(const RowKey& key) const {
  std::string note = gpu_.shared ? "correctness only: ranks share a GPU" : "";
  if (key.operation == OperationId::all_to_all && gpu_.nccl.all_to_all == nullptr) {
    note += note.empty() ? "grouped ncclSend and ncclRecv" : "; grouped ncclSend and ncclRecv";
  }
  return note;
}

BufferBytes NcclBackend::buffer_bytes(const RowKey& key) const {
  return buffer_bytes_of(key, together_.ranks().size());
}

BackendLimits NcclBackend::limits() const {
  return {.elements_per_call = std::numeric_limits<std::size_t>::max(),
          .default_largest_bytes = 4 * kGiB,
          .memory_of = "GPU",
          .library_buffers = 0};
}

void NcclBackend::allocate(const BufferBytes& bytes) {
  send_ = DeviceBuffer();
  receive_ = DeviceBuffer();
  send_ = DeviceBuffer(gpu_.cuda, bytes.send);
  receive_ = DeviceBuffer(gpu_.cuda, bytes.receive);
  if (scratch_.data() == nullptr) scratch_ = DeviceBuffer(gpu_.cuda, sizeof(NcclRowScratch));
}

void NcclBackend::renew_communicators() { communicator_.reset(); }

std::unique_ptr<PreparedRow> NcclBackend::prepare(const RowKey& key) {
  if (!communicator_) {
    communicator_ = std::make_unique<NcclCommunicator>(gpu_, together_, NcclCalls::blocking);
    communicator_seconds_.push_back(communicator_->seconds());
  }
  const Layout layout = layout_of(key, together_.ranks().size());
  NcclRowBuffers buffers{.input = send_.data(),
                         .output = receive_.data(),
                         .result = receive_.data(),
                         .output_bytes = buffer_bytes(key).receive,
                         .scratch = reinterpret_cast<NcclRowScratch*>(scratch_.data())};
  if (key.in_place) {
    // NCCL's in-place forms: a rank's own block of the larger buffer is the smaller one.
    const std::uint64_t own_block =
        static_cast<std::uint64_t>(together_.ranks().rank()) * layout.count * traits(key.type).bytes;
    buffers.input = receive_.data() + (key.operation == OperationId::all_gather ? own_block : 0);
    buffers.result = receive_.data() + (key.operation == OperationId::reduce_scatter ? own_block : 0);
  }
  return std::make_unique<NcclRow>(
      key, NcclRowContext{.gpu = gpu_, .communicator = *communicator_, .ranks = together_.ranks()}, buffers);
}

}  // namespace collbench
