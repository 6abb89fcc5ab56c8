#include "collectives/nccl/nccl_communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "launch/agreement.hpp"

namespace collbench::collectives {

NcclCommunicator::NcclCommunicator(const GpuSession& gpu, const launch::CollectiveWait& waiter,
                                   NcclCalls calls)
    : gpu_(gpu), waiter_(waiter) {
  launch::Ranks& ranks = waiter.ranks();
  NcclUniqueId id{};
  launch::agreed(ranks, waiter.host(), [&] {
    if (ranks.is_root()) check(gpu.nccl.get_unique_id(&id), "ncclGetUniqueId");
  });
  id = launch::broadcast_value(ranks, id);
  const double before = waiter.clock().seconds();
  try {
    make(id, calls);
  } catch (const Error&) {
    give_up();
    throw;
  }
  std::array<double, 1> seconds{waiter.clock().seconds() - before};
  ranks.reduce(seconds, launch::RankAggregate::maximum);
  seconds_ = seconds[0];
  failure_ = ExitStatus::rank_lost;
}

NcclCommunicator::~NcclCommunicator() {
  if (handle_ == nullptr) return;
  for (const Registered& buffer : registered_) static_cast<void>(deregister(buffer));
  gpu_.nccl.comm_destroy(handle_);
}

void NcclCommunicator::make(NcclUniqueId id, NcclCalls calls) {
  const launch::Ranks& ranks = waiter_.ranks();
  NcclConfig config = nccl_config(gpu_.settings);
  config.blocking = calls == NcclCalls::blocking ? 1 : 0;
  waiter_.wait(
      "creation of a communicator",
      [&] {
        check(gpu_.nccl.comm_init_rank_config(&handle_, ranks.size(), id, ranks.rank(), &config),
              "ncclCommInitRankConfig");
      },
      [this] { return settled(); });
}

void NcclCommunicator::run(const std::string& what, const std::function<void()>& issue,
                           const std::function<void()>& release,
                           const std::function<std::size_t()>& progress) {
  try {
    waiter_.wait(what, issue, [this] { return settled() && gpu_.stream->idle(); }, progress);
  } catch (const Error&) {
    if (release) release();
    give_up();
    throw;
  }
}

void NcclCommunicator::register_buffers(BufferRegistration how, const DeviceBuffer& send,
                                        const DeviceBuffer& receive) {
  if (how == BufferRegistration::none || has_buffers_) return;
  const NcclLibrary& nccl = gpu_.nccl;
  const std::array buffers{&send, &receive};
  registered_.reserve(buffers.size());
  run("registration of the buffers", [&] {
    for (const DeviceBuffer* const buffer : buffers) {
      if (buffer->bytes() == 0) continue;
      Registered& made = registered_.emplace_back();
      if (how == BufferRegistration::symmetric) {
        check(nccl.comm_window_register(handle_, buffer->data(), buffer->bytes(), &made.window,
                                        kNcclSymmetricWindow),
              "ncclCommWindowRegister");
      } else {
        check(nccl.comm_register(handle_, buffer->data(), buffer->bytes(), &made.local), "ncclCommRegister");
      }
    }
  });
  has_buffers_ = true;
  try {
    launch::agreed(waiter_.ranks(), waiter_.host(), [&] {
      const bool all = std::all_of(registered_.begin(), registered_.end(), [](const Registered& buffer) {
        return buffer.local != nullptr || buffer.window != nullptr;
      });
      if (all) return;
      throw Error(
          ExitStatus::not_here, fmt::format("-R {}", name(how)),
          fmt::format("NCCL {} accepts the buffer and does not register it", nccl_version_text(nccl.version)),
          "NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,REG says why; NCCL_LOCAL_REGISTER, "
          "NCCL_CUMEM_ENABLE and NCCL_WIN_ENABLE must not be 0");
    });
  } catch (const Error&) {
    give_up();
    throw;
  }
}

NcclResult NcclCommunicator::deregister(const Registered& buffer) const {
  if (buffer.window != nullptr) return gpu_.nccl.comm_window_deregister(handle_, buffer.window);
  if (buffer.local != nullptr) return gpu_.nccl.comm_deregister(handle_, buffer.local);
  return NcclResult::success;
}

void NcclCommunicator::deregister_buffers() {
  while (!registered_.empty()) {
    const Registered last = registered_.back();
    registered_.pop_back();
    check(deregister(last), "the deregistration of a buffer");
  }
  has_buffers_ = false;
}

void NcclCommunicator::grouped(const std::function<void()>& issue) const {
  check(gpu_.nccl.group_start(), "ncclGroupStart");
  try {
    issue();
  } catch (const Error&) {
    gpu_.nccl.group_end();  // what it says is what `issue` has said
    throw;
  }
  check(gpu_.nccl.group_end(), "ncclGroupEnd");
}

void NcclCommunicator::check(NcclResult result, const char* call) const {
  if (result == NcclResult::success || result == NcclResult::in_progress) return;
  // Invalid usage is what NCCL says of an algorithm that it does not have here, and of a GPU used twice.
  throw gpu_.nccl.error(result, call, result == NcclResult::invalid_usage ? ExitStatus::not_here : failure_);
}

void NcclCommunicator::finalize() {
  run("end of a communicator", [this] { check(gpu_.nccl.comm_finalize(handle_), "ncclCommFinalize"); });
}

/// Whether NCCL is done with the calls themselves; what they put on the stream may go on.
bool NcclCommunicator::settled() const {
  NcclResult state = NcclResult::success;
  check(gpu_.nccl.comm_get_async_error(handle_, &state), "ncclCommGetAsyncError");
  check(state, "the communicator");
  return state == NcclResult::success;
}

void NcclCommunicator::give_up() noexcept {
  if (handle_ != nullptr) gpu_.nccl.comm_abort(handle_);
  handle_ = nullptr;
  registered_.clear();
}

DeviceBuffer allocate_buffer(const GpuSession& gpu, BufferRegistration registration, std::uint64_t bytes) {
  return registration == BufferRegistration::none ? DeviceBuffer(gpu.cuda, bytes)
                                                  : DeviceBuffer(gpu.nccl, bytes);
}

double try_nccl(const GpuSession& gpu, const launch::CollectiveWait& waiter,
                BufferRegistration registration) {
  NcclCommunicator trial(gpu, waiter, NcclCalls::non_blocking);
  DeviceBuffer element;
  launch::agreed(waiter.ranks(), waiter.host(),
                 [&] { element = allocate_buffer(gpu, registration, sizeof(float)); });
  const CudaStreamHandle stream = gpu.stream->get();
  try {
    trial.register_buffers(registration, DeviceBuffer(), element);
    trial.run("first AllReduce", [&] {
      gpu.cuda.check(gpu.cuda.set_bytes(element.data(), 0, sizeof(float), stream), "cudaMemsetAsync");
      trial.check(gpu.nccl.all_reduce(element.data(), element.data(), 1, NcclType::float32,
                                      NcclReduction::sum, trial.get(), stream),
                  "ncclAllReduce");
    });
  } catch (const Error&) {
    element.leave();  // cudaFree would wait for what may never end
    throw;
  }
  launch::agreed(waiter.ranks(), waiter.host(), [&] { trial.deregister_buffers(); });
  trial.finalize();
  return trial.seconds();
}

}  // namespace collbench::collectives
