#include "collectives/nccl/nccl_communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "launch/agreement.hpp"

namespace collbench::collectives {

namespace {

constexpr double kAloneSeconds = 0.2;   // twice what blocks are planned to last
constexpr double kBetweenLooks = 1e-4;  // while calls are put on the stream, and ranks ask each other

}  // namespace

NcclCommunicator::NcclCommunicator(const GpuSession& gpu, const launch::CollectiveWait& waiter,
                                   NcclCalls calls, int ctas)
    : gpu_(gpu), waiter_(waiter), pace_(gpu.cuda) {
  launch::Ranks& ranks = waiter.ranks();
  NcclUniqueId id{};
  launch::agreed(ranks, waiter.host(), [&] {
    if (ranks.is_root()) check(gpu.nccl.get_unique_id(&id), "ncclGetUniqueId");
  });
  id = launch::broadcast_value(ranks, id);
  const double before = waiter.clock().seconds();
  try {
    make(id, calls, ctas);
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

void NcclCommunicator::make(NcclUniqueId id, NcclCalls calls, int ctas) {
  const launch::Ranks& ranks = waiter_.ranks();
  NcclConfig config = nccl_config(gpu_.settings);
  if (ctas > 0) config.min_ctas = config.max_ctas = ctas;
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
                           const std::function<void()>& release) {
  std::uint64_t left = 1;
  const CallQueue once{.next = [&] {
    if (left > 0) issue();
    return std::exchange(left, 0);
  }};
  CallIssuer alone(1);
  wait_for(what, alone, 0, once, release, nullptr);
}

void NcclCommunicator::run_calls(const std::string& what, const CallQueue& queue,
                                 const std::function<void()>& release,
                                 const std::function<std::size_t()>& progress) {
  wait_for(what, *gpu_.issuer, gpu_.rank_of_issuer, queue, release, progress);
}

void NcclCommunicator::wait_for(const std::string& what, CallIssuer& issuer, int rank, const CallQueue& queue,
                                const std::function<void()>& release,
                                const std::function<std::size_t()>& progress) {
  const CallIssuer::Means means{.clock = waiter_.clock(),
                                .grouped = [this](const std::function<void()>& issue) { grouped(issue); },
                                .look = [this] { static_cast<void>(settled()); }};
  const auto over = [&] {
    const bool all_put = issuer.go_on(rank, means, kBetweenLooks);
    return settled() && all_put && gpu_.stream->idle();
  };
  const auto come = [&] { return pace_.progress() + (progress ? progress() : 0); };
  pace_.begin();
  try {
    waiter_.wait(
        what, [&] { issuer.begin(rank, queue, pace_, *gpu_.stream, means, kAloneSeconds); }, over,
        [&] { return issuer.meanwhile(come); });
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
  for (const DeviceBuffer* const buffer : buffers) {
    // One at a time: a non-blocking communicator takes the next call when it is done with this one.
    run("registration of the buffers", [&] {
      if (buffer->bytes() == 0) return;
      Registered& made = registered_.emplace_back();
      if (how == BufferRegistration::symmetric) {
        check(nccl.comm_window_register(handle_, buffer->data(), buffer->bytes(), &made.window,
                                        kNcclSymmetricWindow),
              "ncclCommWindowRegister");
      } else {
        check(nccl.comm_register(handle_, buffer->data(), buffer->bytes(), &made.local), "ncclCommRegister");
      }
    });
  }
  has_buffers_ = true;
  try {
    launch::agreed(waiter_.ranks(), waiter_.host(), [&] {
      const bool all = std::ranges::all_of(registered_, [](const Registered& buffer) {
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
  // What NCCL says of an algorithm that it does not have here, and of a GPU used twice; the second of an
  // algorithm that a call asked for.
  const bool is_refused = result == NcclResult::invalid_usage || result == NcclResult::invalid_argument;
  throw gpu_.nccl.error(result, call, is_refused ? ExitStatus::not_here : failure_);
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
