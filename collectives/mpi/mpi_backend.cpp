#include "collectives/mpi/mpi_backend.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "base/units.hpp"
#include "collectives/buffer_layout.hpp"
#include "collectives/mpi/communicator.hpp"
#include "collectives/mpi/mpi_row.hpp"
#include "collectives/mpi/mpi_types.hpp"
#include "launch/mpi/mpi_session.hpp"
#include "launch/real_machine.hpp"

namespace collbench::collectives {
namespace {

/// MPI's buffers where they differ from NCCL's: the in-place result of MPI_Reduce_scatter stands at the
/// beginning, and MPI_Bcast has one buffer, which out of place is the root's send buffer.
void adapt_to_mpi(BufferLayout& buffers, const RowKey& key, const CallContext& call) {
  if (key.operation == OperationId::reduce_scatter) buffers.result.offset = buffers.output.offset;
  if (key.operation == OperationId::broadcast && call.rank == call.root) buffers.result = buffers.input;
}

/// What runs behind the compute of a Step, and what is asked of the library for it.
RowKey library_call(RowKey key) {
  if (key.operation == OperationId::step) key.operation = OperationId::all_reduce;
  return key;
}

/// None where a rank has none: the ranks' arithmetic is to be the same. Collective.
std::unique_ptr<BlasLibrary> blas_of_all_ranks() {
  std::string why;
  std::optional<BlasLibrary> own = BlasLibrary::find(why);
  int all_have_one = own ? 1 : 0;
  launch::check_mpi(MPI_Allreduce(MPI_IN_PLACE, &all_have_one, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD),
                    "MPI_Allreduce");
  return all_have_one != 0 ? std::make_unique<BlasLibrary>(*std::move(own)) : nullptr;
}

constexpr std::uint64_t kMaxCallsAlone = 32;

/// What the kernel counts of this thread's work: less than the clock's where another had the core.
double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// A training step on host memory: a compute kernel and an AllReduce in turn. Its data and checks are those
/// of the AllReduce.
class StepRow : public PreparedRow {
 public:
  /// `kernel` and `clock` outlive it.
  StepRow(std::unique_ptr<MpiRow> all_reduce, const StepKernel& kernel, const Clock& clock)
      : all_reduce_(std::move(all_reduce)), kernel_(kernel), clock_(clock) {}

  void fill(std::uint64_t iteration) override { all_reduce_->fill(iteration); }
  void fill_to_repeat() override { all_reduce_->fill_to_repeat(); }
  void run(std::uint64_t iterations) override {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      kernel_.run();
      all_reduce_->run(1);
    }
  }
  /// With the times of the parts, and those of the AllReduce alone, in a row without compute, behind the
  /// block.
  [[nodiscard]] Block time(std::uint64_t iterations, std::uint64_t iterations_per_sample,
                           const GoesOn& goes_on) override {
    StepTimes sum;
    const auto step = [&] {
      MPI_Pcontrol(1);  // a step begins, for a profiler that listens
      const double begin = clock_.seconds();
      const double cpu_begin = thread_seconds();
      kernel_.run();
      sum.compute_cpu_seconds += thread_seconds() - cpu_begin;
      const double entry = clock_.seconds();
      sum.compute_seconds += entry - begin;
      all_reduce_->run(1);
      sum.inside_seconds += clock_.seconds() - entry;
    };
    Block block =
        time_block([this] { return clock_.seconds(); }, iterations, iterations_per_sample, step, goes_on);
    if (block.iterations == 0) return block;
    sum.between_seconds = std::max(0.0, block.elapsed_seconds - sum.compute_seconds - sum.inside_seconds);
    for (double StepTimes::* const part : {&StepTimes::compute_seconds, &StepTimes::compute_cpu_seconds,
                                           &StepTimes::between_seconds, &StepTimes::inside_seconds})
      sum.*part /= static_cast<double>(block.iterations);
    sum.alone_seconds = seconds_alone(block.iterations);
    block.step = sum;
    return block;
  }
  [[nodiscard]] std::optional<Mismatch> check(std::uint64_t iteration) override {
    return all_reduce_->check(iteration);
  }

 private:
  /// Of an AllReduce among others; the first ends the ranks' differences and is not timed.
  [[nodiscard]] double seconds_alone(std::uint64_t steps) {
    const std::uint64_t calls = std::clamp<std::uint64_t>(steps / 4, 1, kMaxCallsAlone);
    all_reduce_->run(1);
    return all_reduce_->time(calls, calls, {}).elapsed_seconds / static_cast<double>(calls);
  }

  std::unique_ptr<MpiRow> all_reduce_;
  const StepKernel& kernel_;
  const Clock& clock_;
};

}  // namespace

struct MpiBackend::Handles {
  ReductionOps ops;
  std::map<std::pair<OperationId, std::string>, Communicator> communicators;

  /// The communicator on which the library runs `operation` by `algorithm`. Collective when there is none
  /// yet.
  [[nodiscard]] MPI_Comm communicator(AlgorithmControl& control, OperationId operation,
                                      const std::string& algorithm) {
    // The library's own choice is the same communicator for all operations.
    const bool chosen = algorithm != kLibraryChoice;
    const auto key = std::pair(chosen ? operation : OperationId::all_reduce, algorithm);
    if (const auto known = communicators.find(key); known != communicators.end()) return known->second.get();
    if (chosen) control.select(operation, algorithm);
    Communicator made = Communicator::duplicate(MPI_COMM_WORLD);
    if (chosen) control.select(operation, kLibraryChoice);
    return communicators.emplace(key, std::move(made)).first->second.get();
  }
};

MpiBackend::MpiBackend(const Clock& clock, TrafficMatrix traffic, launch::CallCounters counters,
                       const BufferUse& buffers, int step_matrix)
    : clock_(clock),
      counters_(counters),
      handles_(std::make_unique<Handles>()),
      traffic_(std::move(traffic)),
      buffer_use_(buffers) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  if (step_matrix > 0 && !launch::time_is_simulated()) {
    const launch::CountedCall waiting(counters_.exchanges);
    step_kernel_ = std::make_unique<StepKernel>(step_matrix, blas_of_all_ranks());
  }
}

MpiBackend::~MpiBackend() = default;

double MpiBackend::clock_read_seconds() const {
  constexpr int kReads = 20;
  constexpr int kRounds = 5;  // the shortest is believed: the others may have waited for a core
  double shortest = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const double before = clock_.seconds();
    double after = before;
    for (int i = 0; i < kReads; ++i) after = clock_.seconds();
    shortest = std::min(shortest, (after - before) / kReads);
  }
  return shortest;
}

std::vector<std::string> MpiBackend::algorithms(OperationId operation) const {
  return control_.available(operation == OperationId::step ? OperationId::all_reduce : operation);
}

std::optional<std::string> MpiBackend::unsupported_type_reason(DataType type) const {
  if (!is_float8(type)) return std::nullopt;
  return fmt::format("{} is a GPU data type that MPI does not have", traits(type).name);
}

std::optional<std::string> MpiBackend::unsupported_reason(const RowKey& key) const {
  if (operation(key.operation).needs_two_ranks && ranks_ < 2) return "needs two ranks";
  if (auto why = unsupported_type_reason(key.type)) return why;
  if (key.operation == OperationId::step && !step_kernel_) return "its compute has no simulated time";
  if (key.algorithm == kLibraryChoice) return std::nullopt;
  return control_.unsupported_reason(library_call(key).operation, key.algorithm, ranks_);
}

std::string MpiBackend::algorithm_ran(const RowKey& key) const {
  return control_.ran(key.algorithm, {.operation = library_call(key).operation,
                                      .count = key.count,
                                      .element_bytes = traits(key.type).bytes,
                                      .ranks = ranks_,
                                      .commutative = true,
                                      .in_place = key.in_place});
}

std::string MpiBackend::note(const RowKey& key) const {
  if (key.operation == OperationId::step && step_kernel_) return "compute: " + step_kernel_->name();
  if (!key.reduction) return {};
  if (needs_own_op(key.type)) return "reduced by collbench";
  return *key.reduction == Reduction::avg ? "reduced by collbench: sum, then scaled" : "";
}

RowLayout MpiBackend::layout(const RowKey& key) const {
  RowLayout layout = row_layout(key, call_context(key, rank_, ranks_, traffic_, buffer_use_));
  adapt_to_mpi(layout.buffers, key, layout.call);
  return layout;
}

BackendCapabilities MpiBackend::capabilities() const {
  return {.memory = MemoryKind::host,
          .calibrates = true,
          .has_links_to_probe = true,
          .eager = control_.eager_limits()};
}

BackendLimits MpiBackend::limits() const {
  return {.elements_per_call = std::numeric_limits<int>::max(),
          .default_largest_bytes = 64 * kMiB,
          // Open MPI's AllReduce takes up to one, the butterfly of its ReduceScatter two.
          .library_buffers = 2};
}

void MpiBackend::allocate(const BufferBytes& bytes) {
  send_ = HostBuffer();
  receive_ = HostBuffer();
  send_ = HostBuffer(bytes.send);
  receive_ = HostBuffer(bytes.receive);
}

const DataPattern& MpiBackend::pattern(const RowKey& key) {
  const auto kind = std::pair(key.type, key.reduction);
  const auto known = patterns_.find(kind);
  if (known != patterns_.end()) return known->second;
  return patterns_.emplace(kind, DataPattern(key.type, key.reduction, rank_, ranks_)).first->second;
}

void MpiBackend::renew_communicators() { handles_->communicators.clear(); }

std::optional<MachineProbe> MpiBackend::probe_machine() {
  if (launch::time_is_simulated()) return std::nullopt;
  const launch::CountedCall waiting(counters_.exchanges);
  if (!prober_) prober_ = std::make_unique<MachineProber>(clock_);
  return prober_->probe();
}

std::unique_ptr<PreparedRow> MpiBackend::prepare(const RowKey& key, const RowLayout& layout) {
  std::unique_ptr<MpiRow> row = mpi_row(library_call(key), layout);
  if (key.operation != OperationId::step) return row;
  return std::make_unique<StepRow>(std::move(row), *step_kernel_, clock_);
}

std::unique_ptr<MpiRow> MpiBackend::mpi_row(const RowKey& key, const RowLayout& layout) {
  const auto part = [this](const BufferRange& range) {
    return (range.of_receive_buffer ? receive_ : send_).part(range.offset, range.length);
  };
  const MpiRowBuffers buffers{.input = part(layout.buffers.input),
                              .output = part(layout.buffers.output),
                              .result = part(layout.buffers.result)};
  // MPI_IN_PLACE stands for the smaller buffer. A rooted operation has both buffers on its root only, and
  // there the root's own block of a Scatter is what stays where it is.
  const bool has_both = !operation(key.operation).has_root || layout.call.rank == layout.call.root;
  const bool in_place = key.in_place && has_both;
  const bool scatters = key.operation == OperationId::scatter;
  const auto communicator = [&] {  // made where it is the first of its kind
    const launch::CountedCall waiting(counters_.exchanges);
    return handles_->communicator(control_, key.operation, key.algorithm);
  };
  const MpiArguments arguments{
      .communicator = communicator(),
      .type = mpi_type(key.type),
      .op = key.reduction ? handles_->ops.get(key.type, *key.reduction) : MPI_OP_NULL,
      .count = static_cast<int>(key.count),
      .send = in_place && !scatters ? MPI_IN_PLACE : buffers.input.data(),
      .receive = in_place && scatters ? MPI_IN_PLACE : buffers.output.data()};
  return std::make_unique<MpiRow>(key, layout, arguments, buffers, pattern(key), clock_, counters_);
}

}  // namespace collbench::collectives
