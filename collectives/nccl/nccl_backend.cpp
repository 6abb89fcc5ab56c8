#include "collectives/nccl/nccl_backend.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/units.hpp"
#include "collectives/buffer_layout.hpp"
#include "launch/agreement.hpp"

namespace collbench::collectives {
namespace {

constexpr int kStrictAboutAlgorithms = 22400;
/// Between two calls on the same addresses so much else goes through the L2, of each buffer.
constexpr std::uint64_t kWalkOfL2 = 4;
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

void require_own_gpu(const GpuSession& gpu) {
  if (!gpu.shared) return;
  throw usage_error("-M", "ranks share a GPU, and what is free on it is by all of them",
                    "leave -M out, or start one rank for each GPU");
}

/// Of the current GPU; none where CUDA does not say.
std::optional<std::uint64_t> free_gpu_bytes(const CudaLibrary& cuda) {
  std::size_t free = 0;
  std::size_t total = 0;
  if (cuda.memory_info(&free, &total) != CudaResult::success) return std::nullopt;
  return free;
}

void require_registration(const NcclLibrary& nccl, BufferRegistration how) {
  const auto lacks = [&](const char* function, const char* since) {
    return Error(
        ExitStatus::not_here, fmt::format("-R {}", name(how)),
        fmt::format("NCCL {} has no {}; {} and newer do", nccl_version_text(nccl.version), function, since),
        "leave -R out, or name a newer libnccl in COLLBENCH_NCCL");
  };
  if (how == BufferRegistration::none) return;
  if (nccl.memory_allocate == nullptr || nccl.memory_free == nullptr) throw lacks("ncclMemAlloc", "2.19");
  const bool symmetric = how == BufferRegistration::symmetric;
  if (!symmetric && (nccl.comm_register == nullptr || nccl.comm_deregister == nullptr)) {
    throw lacks("ncclCommRegister", "2.19");
  }
  if (symmetric && (nccl.comm_window_register == nullptr || nccl.comm_window_deregister == nullptr)) {
    throw lacks("ncclCommWindowRegister", "2.27");
  }
}

/// Bytes of each rank's part, where it is one of a whole and NCCL has to move it in pieces of less than 16
/// bytes.
std::optional<std::uint64_t> uneven_part(const RowKey& key) {
  const std::uint64_t bytes = key.count * traits(key.type).bytes;
  const bool is_even = bytes % kPackBytes == 0;
  if (is_even || operation(key.operation).size_meaning != SizeMeaning::total) return std::nullopt;
  return bytes;
}

/// NCCL_ALGO and NCCL_PROTO win over what a call asks for, also those of NCCL's own files, which it has put
/// into the environment by its first call. The same on all ranks.
OverrideBy override_of(const NcclLibrary& nccl, launch::Ranks& ranks) {
  const bool is_free = std::getenv("NCCL_ALGO") == nullptr && std::getenv("NCCL_PROTO") == nullptr;
  std::array<double, 1> by_call{nccl.all_reduce_config != nullptr && is_free ? 1.0 : 0.0};
  ranks.reduce(by_call, launch::RankAggregate::minimum);
  return by_call[0] > 0 ? OverrideBy::call : OverrideBy::communicator;
}

/// Of what a row has in common with its trial.
RowKey trial_key(const RowKey& row) {
  return {
      .operation = row.operation, .type = row.type, .reduction = row.reduction, .algorithm = row.algorithm};
}

/// One row of 1 KiB for each operation, type and reduction that is wanted.
std::vector<RowKey> trial_keys(const PlanRequest& request, const std::string& algorithm) {
  std::vector<RowKey> keys;
  for (const OperationId id : request.operations) {
    std::vector<std::optional<Reduction>> reductions{std::nullopt};
    if (operation(id).reduces) reductions.assign(request.reductions.begin(), request.reductions.end());
    for (const DataType type : request.types)
      for (const auto& reduction : reductions)
        keys.push_back({.operation = id,
                        .size_bytes = kKiB,
                        .count = kKiB / traits(type).bytes,
                        .type = type,
                        .reduction = reduction,
                        .algorithm = algorithm});
  }
  return keys;
}

}  // namespace

NcclBackend::NcclBackend(const launch::CollectiveWait& waiter, NcclProcess& process,
                         const Identities& machines, launch::CallCounter& calls, const NcclOptions& options)
    : all_(waiter),
      waiter_(&waiter),
      options_(options),
      process_(process),
      rank_in_process_(waiter.ranks().rank() % process.ranks()),
      gpu_(waiter, machines, options.share_gpu, options.inside_slurm,
           [&process](int version) { process.open_log(version); }),
      memory_use_(options.memory ? [this] { return free_gpu_bytes(gpu_.cuda); }
                                 : std::function<std::optional<std::uint64_t>()>()),
      observer_(process.observer(gpu_.nccl.version, options.settings)),
      calls_(calls),
      walk_bytes_(options.hot ? 0 : kWalkOfL2 * gpu_.l2_bytes) {
  gpu_.settings = options.settings;
  gpu_.issuer = &process.issuer(rank_in_process_);
  gpu_.rank_of_issuer = rank_in_process_ % process.ranks_of_thread();
  gpu_.nccl.warnings = [&process] { return process.log().warnings(); };
  launch::agreed(waiter.ranks(), waiter.host(), [&] {
    if (options_.graph_launches > 0) require_graphs(gpu_.cuda);
    if (options.memory) require_own_gpu(gpu_);
    require_registration(gpu_.nccl, options_.registration);
    require_settings(options.settings, gpu_.nccl.version);
  });
  note_made(try_nccl(gpu_, *waiter_, options_.registration));
  try_algorithms();
}

/// NCCL refuses a choice only when an operation is called: from 2.24 on with an error, and before by taking
/// another one in silence. Which it refuses depends on type and reduction, too (NVLS multiplies nothing), and
/// on no size.
void NcclBackend::try_algorithms() {
  override_by_ = override_of(gpu_.nccl, waiter_->ranks());
  std::unique_ptr<NcclCommunicator> communicator;
  for (const std::string& algorithm : options_.request.algorithms) {
    const auto forced = algorithm_override(algorithm);
    if (!forced) continue;
    const std::vector<RowKey> wanted = trial_keys(options_.request, algorithm);
    std::vector<std::string> reasons;
    for (const RowKey& key : wanted) reasons.push_back(unsupported_reason(key).value_or(""));
    reasons = launch::agreed_texts(waiter_->ranks(), reasons);
    std::vector<RowKey> trials;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (reasons[i].empty()) trials.push_back(wanted[i]);
    }
    try_algorithm(*forced, trials, communicator);
    if (override_by_ == OverrideBy::call || !communicator) continue;
    communicator->finalize();
    communicator.reset();
    process_.meet();
  }
  if (communicator) communicator->finalize();
}

/// On non-blocking communicators of their own, which can be given up: an algorithm that some host cannot set
/// up is what hangs here. One serves until NCCL refuses a trial. The variables stay set meanwhile: NCCL reads
/// them again to say why it has no algorithm, and without them calls it an internal error (v2.30.7-1,
/// src/enqueue.cc, topoGetAlgoInfo).
void NcclBackend::try_algorithm(const AlgorithmOverride& forced, const std::vector<RowKey>& trials,
                                std::unique_ptr<NcclCommunicator>& communicator) {
  const AlgorithmOverride at_start = of_communicator(forced);
  const auto environment = process_.environment(at_start);
  for (const RowKey& key : trials) {
    const RowLayout row = layout(key);
    launch::agreed(waiter_->ranks(), waiter_->host(), [&] { allocate_exactly(row.bytes); });
    try {
      if (!communicator) {
        communicator =
            std::make_unique<NcclCommunicator>(gpu_, *waiter_, NcclCalls::non_blocking, at_start.ctas);
        note_made(communicator->seconds());
      }
      // Kernels for symmetric windows are refused without these.
      if (options_.registration == BufferRegistration::symmetric)
        communicator->register_buffers(options_.registration, send_, receive_);
      row_on(*communicator, key, row, {}, false)->run(1);
      launch::agreed(waiter_->ranks(), waiter_->host(), [&] { communicator->deregister_buffers(); });
    } catch (const launch::AgreedError& error) {
      if (error.status() != ExitStatus::not_here) {
        leave_buffers();
        throw;
      }
      declined_[trial_key(key)] = error.what();
      communicator.reset();
      process_.meet();
    }
  }
}

/// What a communicator is made for where `choice` is asked for.
AlgorithmOverride NcclBackend::of_communicator(const AlgorithmOverride& choice) const {
  return override_by_ == OverrideBy::call ? AlgorithmOverride{} : choice;
}

NcclBackend::~NcclBackend() {
  const bool failed =
      std::ranges::any_of(communicators_, [](const auto& each) { return each.second->failed(); });
  if (failed) leave_buffers();
  if (std::uncaught_exceptions() > 0) return;  // the other ranks of the process may not come here
  communicators_.clear();
  process_.meet();
}

void NcclBackend::leave_buffers() {
  for (DeviceBuffer* buffer : {&send_, &receive_, &scratch_}) buffer->leave();
}

void NcclBackend::describe(Run& run) const {
  run.backend = BackendId::nccl;
  run.gpus_simulated = gpu_.cuda.is_simulated;
  run.nccl_observer_status = observer_.status();
  run.nccl_networks = {.used = networks_, .unknown_reason = process_.log().unknown_reason()};
  run.versions.nccl = nccl_version_text(gpu_.nccl.version);
  run.versions.cuda = cuda_version_text(gpu_.cuda.version);
  run.communicator_seconds = communicator_seconds_;
  run.init_steps = init_steps_;
  run.graph_launches = options_.graph_launches;
  const bool registered = options_.registration != BufferRegistration::none;
  run.buffers.allocator = registered ? "ncclMemAlloc" : "cudaMalloc";
  run.buffers.registration = options_.registration;
  run.buffers.kept_passes = kept_passes_;
  run.buffers.walk_bytes = walk_bytes_;
}

double NcclBackend::clock_read_seconds() const { return kEventSeconds; }

std::vector<std::string> NcclBackend::algorithms(OperationId operation) const {
  std::vector<std::string> names = override_names(operation, override_by_);
  for (const std::string& asked : options_.request.algorithms)
    if (has_override(operation, override_by_, asked)) names.push_back(asked);
  return names;
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
  if (key.operation == OperationId::step) return "a step on GPUs is not measured; --backend mpi measures one";
  if (key.operation == OperationId::ping_pong && process_.ranks_of_thread() > 1)
    return "one thread issues the calls of several GPUs at a time, and an answer waits for its question";
  if (operation(key.operation).needs_two_ranks && waiter_->ranks().size() < 2) return "needs two ranks";
  // Its kernel for one rank knows no such type (NCCL 2.28.9, src/device/onerank.cu); seen with 2.28.3 on an
  // H200.
  if (waiter_->ranks().size() < 2 && key.reduction == Reduction::avg && is_float8(key.type)) {
    return fmt::format("NCCL refuses an average of {} on one rank", traits(key.type).name);
  }
  if (key.algorithm == kLibraryChoice) return std::nullopt;
  if (options_.registration == BufferRegistration::symmetric && override_by_ == OverrideBy::communicator) {
    return "with -R symmetric NCCL may run its kernels for symmetric windows, whatever NCCL_ALGO says";
  }
  if (!has_override(key.operation, override_by_, key.algorithm)) {
    return fmt::format("NCCL has no {} for {}", key.algorithm, operation(key.operation).name);
  }
  const AskedAlgorithm asked = asked_algorithm(key.algorithm);
  const bool is_of_ctas_alone = asked.algorithm == kLibraryChoice && asked.protocol.empty();
  if (gpu_.nccl.version < kStrictAboutAlgorithms && !is_of_ctas_alone) {
    return fmt::format("NCCL {} may silently use another algorithm; 2.24 and newer refuse",
                       nccl_version_text(gpu_.nccl.version));
  }
  const auto declined = declined_.find(trial_key(key));
  if (declined != declined_.end()) return "declined: " + declined->second;
  return std::nullopt;
}

std::string NcclBackend::algorithm_ran(const RowKey& key) const { return key.algorithm; }

std::string NcclBackend::note(const RowKey& key) const {
  std::vector<std::string> notes;
  if (gpu_.shared) notes.emplace_back("correctness only: ranks share a GPU");
  const bool grouped = options_.operations_per_group > 1 && key.operation != OperationId::ping_pong;
  if (grouped) notes.push_back(fmt::format("{} in one group", options_.operations_per_group));
  if (const auto bytes = uneven_part(key))
    notes.push_back(fmt::format("parts of {} B, no multiple of 16", *bytes));
  if (!gpu_.settings.empty()) notes.push_back(settings_text(gpu_.settings));
  if (options_.call_wait != CallWait::none)
    notes.push_back(fmt::format("each call waited for (-z {})", static_cast<int>(options_.call_wait)));
  const bool newer_have_it = key.operation == OperationId::all_to_all ||
                             key.operation == OperationId::gather || key.operation == OperationId::scatter;
  if (newer_have_it && !has_call(gpu_.nccl, key.operation))
    notes.emplace_back("grouped ncclSend and ncclRecv");
  return fmt::format("{}", fmt::join(notes, "; "));
}

RowLayout NcclBackend::layout(const RowKey& key) const {
  const launch::Ranks& ranks = waiter_->ranks();
  return row_layout(
      key, call_context(key, ranks.rank(), ranks.size(), options_.traffic, options_.request.buffers));
}

BackendLimits NcclBackend::limits() const {
  return {.elements_per_call = std::numeric_limits<std::size_t>::max(),
          .default_largest_bytes = 4 * kGiB,
          .smallest_buffer_bytes = walk_bytes_,
          .library_buffers = 0};
}

void NcclBackend::allocate(const BufferBytes& bytes) {
  const auto to_walk = [this](std::uint64_t each) { return each == 0 ? 0 : std::max(each, walk_bytes_); };
  memory_use_.end_pass();
  free_buffers();  // of trials, and of nodes alone
  if (waiter_ == &all_) memory_use_.begin_pass();
  allocate_exactly({.send = to_walk(bytes.send), .receive = to_walk(bytes.receive)});
  memory_use_.count(&GpuMemory::buffer_bytes);
}

void NcclBackend::free_buffers() {
  for (const auto& [algorithm, communicator] : communicators_) communicator->deregister_buffers();
  send_ = DeviceBuffer();
  receive_ = DeviceBuffer();
}

void NcclBackend::allocate_exactly(const BufferBytes& bytes) {
  free_buffers();
  send_ = allocate_buffer(gpu_, options_.registration, bytes.send);
  receive_ = allocate_buffer(gpu_, options_.registration, bytes.receive);
  if (scratch_.data() == nullptr) scratch_ = DeviceBuffer(gpu_.cuda, sizeof(NcclRowScratch));
}

/// NCCL frees what the ranks of a process share when the last of them ends its communicator: buffers that it
/// knows stay until then.
void NcclBackend::renew_communicators() {
  memory_use_.end_pass();
  communicators_.clear();
  process_.meet();
}

std::optional<GpuMemory> NcclBackend::memory_use() {
  memory_use_.end_pass();
  const GpuMemory mine = memory_use_.bytes().value_or(GpuMemory{});
  std::array most{memory_use_.bytes() ? 0.0 : 1.0, static_cast<double>(mine.init_bytes),
                  static_cast<double>(mine.buffer_bytes), static_cast<double>(mine.collective_bytes)};
  all_.ranks().reduce(most, launch::RankAggregate::maximum);
  if (most[0] > 0) return std::nullopt;
  return GpuMemory{.init_bytes = static_cast<std::int64_t>(most[1]),
                   .buffer_bytes = static_cast<std::int64_t>(most[2]),
                   .collective_bytes = static_cast<std::int64_t>(most[3])};
}

void NcclBackend::measure_among(const launch::CollectiveWait& some) {
  renew_communicators();
  waiter_ = &some;
}

NcclCommunicator& NcclBackend::communicator(std::string algorithm) {
  if (override_by_ == OverrideBy::call) algorithm = kLibraryChoice;
  const auto found = communicators_.find(algorithm);
  if (found != communicators_.end()) return *found->second;
  const AlgorithmOverride forced = algorithm_override(algorithm).value_or(AlgorithmOverride{});
  const auto environment = process_.environment(forced);
  memory_use_.count(&GpuMemory::collective_bytes);
  auto made =
      std::make_unique<NcclCommunicator>(gpu_, *waiter_, NcclCalls::blocking, forced.ctas);  // or it throws
  memory_use_.count(&GpuMemory::init_bytes);
  NcclCommunicator& communicator = *communicators_.emplace(algorithm, std::move(made)).first->second;
  note_made(communicator.seconds());
  return communicator;
}

/// Of a communicator that all ranks have just made. One network that some rank took is enough to be named.
void NcclBackend::note_made(double seconds) {
  if (waiter_ != &all_) return;
  communicator_seconds_.push_back(seconds);
  std::vector<std::vector<std::pair<std::string, double>>> timings;
  for (const std::string& log :
       waiter_->ranks().all_gather(is_first_of_process() ? process_.log().newest() : "")) {
    const std::string network = network_in(log).value_or("");
    const bool known = std::ranges::find(networks_, network) != networks_.end();
    if (!network.empty() && !known) networks_.push_back(network);
    timings.push_back(init_timings_in(log));
  }
  if (communicator_seconds_.size() == 1) init_steps_ = slowest_steps(timings);
}

std::unique_ptr<PreparedRow> NcclBackend::prepare(const RowKey& key, const RowLayout& layout) {
  NcclCommunicator& of_row = communicator(key.algorithm);
  memory_use_.count(&GpuMemory::collective_bytes);
  of_row.register_buffers(options_.registration, send_, receive_);
  memory_use_.count(&GpuMemory::buffer_bytes);
  // The same on all ranks, of which a root takes more: symmetric windows are used at the same offset.
  std::vector<double> most{static_cast<double>(std::max(layout.bytes.send, layout.bytes.receive))};
  waiter_->ranks().reduce(most, launch::RankAggregate::maximum);
  const BufferWalk walk = buffer_walk(static_cast<std::uint64_t>(most[0]), walk_bytes_);
  return row_on(of_row, key, layout, walk, options_.graph_launches > 0);
}

std::unique_ptr<PreparedRow> NcclBackend::row_on(NcclCommunicator& communicator, const RowKey& key,
                                                 const RowLayout& layout, const BufferWalk& walk,
                                                 bool in_graphs) const {
  const auto at = [this](const BufferRange& range) {
    return (range.of_receive_buffer ? receive_ : send_).data() + range.offset;
  };
  const NcclRowBuffers buffers{.input = at(layout.buffers.input),
                               .output = at(layout.buffers.output),
                               .result = at(layout.buffers.result),
                               .output_bytes = layout.buffers.output.length,
                               .input_offset = layout.buffers.input.offset,
                               .output_offset = layout.buffers.output.offset,
                               .walk = walk,
                               .scratch = reinterpret_cast<NcclRowScratch*>(scratch_.data())};
  return std::make_unique<NcclRow>(
      key, layout,
      NcclRowContext{
          .gpu = gpu_,
          .communicator = communicator,
          .ranks = waiter_->ranks(),
          .observer = is_first_of_process() ? &observer_ : nullptr,
          .operations_per_group = options_.operations_per_group,
          .clock = waiter_->clock(),
          .calls = waiter_ == &all_ ? calls_ : calls_among_some_,
          .in_graphs = in_graphs,
          .call_wait = options_.call_wait,
          .registered = communicator.has_buffers(),
          .by_call = override_by_ == OverrideBy::call ? algorithm_override(key.algorithm) : std::nullopt},
      buffers);
}

}  // namespace collbench::collectives
