#include "collectives/nccl/nccl_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <thread>

#include "base/units.hpp"
#include "collectives/buffer_layout.hpp"
#include "collectives/operations.hpp"

namespace collbench::collectives {
namespace {

// An event per sample is taken in the same block as `time` only where it adds no more than 1 %.
constexpr double kEventShare = 0.01;

std::string name_of(const RowKey& key) {
  return fmt::format("{} {}", operation(key.operation).name, format_bytes(key.size_bytes));
}

KernelElements elements_of(const DataPattern::Table* table, DataType type, std::uint64_t iteration) {
  return {.table = table,
          .index = 0,
          .length = 0,
          .iteration = iteration,
          .source = 0,
          .bits = DataPattern::moved_bits(type),
          .type = static_cast<std::uint32_t>(type)};
}

/// For as long as `choice` is there.
NcclCallConfig call_config(const AlgorithmOverride& choice) {
  NcclCallConfig config;
  if (!choice.selection.empty()) config.selection = choice.selection.c_str();
  if (choice.ctas > 0) config.min_ctas = config.max_ctas = config.nvls_ctas = choice.ctas;
  return config;
}

}  // namespace

bool repeats_on_data(DataType type, Reduction reduction) {
  if (traits(type).kind != NumberKind::floating) return true;
  return reduction == Reduction::min || reduction == Reduction::max || reduction == Reduction::avg;
}

BufferWalk buffer_walk(std::uint64_t row_bytes, std::uint64_t walk_bytes) {
  constexpr std::uint64_t kAlignment = 512;  // of cudaMalloc at least 256; of PyTorch's tensors 512
  const std::uint64_t stride = (row_bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (stride == 0) return {};
  return {.stride = stride, .steps = std::max<std::uint64_t>(1, walk_bytes / stride)};
}

NcclRow::NcclRow(const RowKey& key, const RowLayout& layout, const NcclRowContext& context,
                 const NcclRowBuffers& buffers)
    : key_(key),
      layout_(layout),
      at_(context),
      buffers_(buffers),
      transfers_(p2p_schedule(key, layout.call)),
      pattern_(key.type, key.reduction, context.ranks.rank(), context.ranks.size()),
      type_(nccl_type(key.type)) {
  if (key.reduction) {
    reduction_ = nccl_reduction(*key.reduction);
    const auto upload = [this](DataPattern::Table& to, const DataPattern::Table& from) {
      // On the stream that the kernels run on: cudaMemcpy may return before the table is there, and such a
      // stream does not wait for it (CUDA Runtime API, "API synchronization behavior").
      at_.gpu.cuda.check(
          at_.gpu.cuda.copy_async(&to, &from, sizeof from, CudaCopy::host_to_device, at_.gpu.stream->get()),
          "cudaMemcpyAsync");
    };
    upload(buffers_.scratch->own, pattern_.own_table());
    upload(buffers_.scratch->expected, pattern_.expected_table());
  }
  // NCCL makes its connections, and maps registered buffers, at an operation's first call, which is no part
  // of any graph, nor of a block that has no warmup.
  if (at_.in_graphs || at_.registered) wait_for("first call of " + name_of(key_), [this] { issue(); });
}

/// On the communicator, which a graph of this row shall not outlive.
void NcclRow::wait_for(const std::string& what, const std::function<void()>& issue) {
  at_.communicator.run(what, issue, [this] { graph_.reset(); });
}

/// Likewise, for many.
void NcclRow::wait_for_calls(const CallQueue& queue, const std::function<std::size_t()>& progress) {
  at_.communicator.run_calls(name_of(key_), queue, [this] { graph_.reset(); }, progress);
}

void NcclRow::fill(std::uint64_t iteration) {
  put_data(iteration, layout_.elements.send_elements, buffers_.output_bytes);
}

/// Poison where results go, and `input_elements` of data where the operation reads.
void NcclRow::put_data(std::uint64_t iteration, std::uint64_t input_elements, std::uint64_t output_bytes) {
  const CudaLibrary& cuda = at_.gpu.cuda;
  cuda.check(cuda.set_bytes(buffers_.output, std::to_integer<int>(DataPattern::kPoison), output_bytes,
                            at_.gpu.stream->get()),
             "cudaMemsetAsync");
  KernelElements elements =
      elements_of(key_.reduction ? &buffers_.scratch->own : nullptr, key_.type, iteration);
  elements.source = at_.ranks.rank();
  elements.length = input_elements;
  KernelLibrary::check_result(cuda, at_.gpu.kernels.fill(&elements, buffers_.input, at_.gpu.stream->get()),
                              "the kernel that makes data");
}

void NcclRow::fill_to_repeat() {
  // All that timed calls reach; nothing where this rank has no such buffer.
  const BufferWalk& walk = buffers_.walk;
  const bool walks = walk.steps > 1;
  const std::uint64_t output_bytes =
      walks && buffers_.output_bytes > 0 ? walk.bytes() - buffers_.output_offset : buffers_.output_bytes;
  // In place the result is the next input.
  if (!key_.in_place || !key_.reduction || repeats_on_data(key_.type, *key_.reduction)) {
    const std::uint64_t input_bytes = walk.bytes() - buffers_.input_offset;
    put_data(0,
             walks && layout_.elements.send_elements > 0 ? input_bytes / traits(key_.type).bytes
                                                         : layout_.elements.send_elements,
             output_bytes);
    return;
  }
  at_.gpu.cuda.check(at_.gpu.cuda.set_bytes(buffers_.output, 0, output_bytes, at_.gpu.stream->get()),
                     "cudaMemsetAsync");
}

/// Issues the next of so many: one, or a group where groups were asked for. Returns how many it were.
std::uint64_t NcclRow::issue_next(std::uint64_t left) {
  const std::uint64_t group = std::min(left, at_.operations_per_group);
  const auto all = [&] {
    for (std::uint64_t i = 0; i < group; ++i) issue();
  };
  if (at_.operations_per_group > 1 && key_.operation != OperationId::ping_pong) {
    at_.communicator.grouped(all);
  } else {
    all();
  }
  return group;
}

void NcclRow::issue(std::uint64_t times) {
  while (times > 0) times -= issue_next(times);
}

bool has_call(const NcclLibrary& nccl, OperationId operation) {
  switch (operation) {
    case OperationId::all_reduce:
    case OperationId::all_gather:
    case OperationId::reduce_scatter:
    case OperationId::broadcast:
    case OperationId::reduce:
    case OperationId::step:
      return true;
    case OperationId::all_to_all:
      return nccl.all_to_all != nullptr;
    case OperationId::gather:
      return nccl.gather != nullptr;
    case OperationId::scatter:
      return nccl.scatter != nullptr;
    case OperationId::all_to_all_v:
    case OperationId::send_recv:
    case OperationId::ping_pong:
    case OperationId::hypercube:
      return false;
  }
  return false;
}

/// Puts the operation on the stream once.
void NcclRow::issue() {
  const NcclLibrary& nccl = at_.gpu.nccl;
  const NcclHandle handle = at_.communicator.get();
  const CudaStreamHandle stream = at_.gpu.stream->get();
  const std::uint64_t shift = walks_ ? buffers_.walk.stride * (turn_++ % buffers_.walk.steps) : 0;
  NcclRowBuffers b = buffers_;
  for (std::byte** const each : {&b.input, &b.output, &b.result}) *each += shift;
  if (!has_call(nccl, key_.operation) && key_.operation != OperationId::hypercube) {
    exchange(shift);
    return;
  }
  const auto call = [&](const char* name, auto* function, auto... arguments) {
    at_.communicator.check(function(arguments..., handle, stream), name);
  };
  const auto chosen = [&](const char* name, auto* function, auto* with_config, auto... arguments) {
    if (!at_.by_call) return call(name, function, arguments...);
    const NcclCallConfig config = call_config(*at_.by_call);
    at_.communicator.check(with_config(arguments..., handle, stream, &config), name);
  };
  const std::uint64_t count = layout_.elements.count;
  switch (key_.operation) {
    case OperationId::all_gather:
      return chosen("ncclAllGather", nccl.all_gather, nccl.all_gather_config, b.input, b.output, count,
                    type_);
    case OperationId::reduce_scatter:
      return chosen("ncclReduceScatter", nccl.reduce_scatter, nccl.reduce_scatter_config, b.input, b.result,
                    count, type_, reduction_);
    case OperationId::broadcast:
      return call("ncclBroadcast", nccl.broadcast, b.input, b.result, count, type_, layout_.call.root);
    case OperationId::reduce:
      return call("ncclReduce", nccl.reduce, b.input, b.result, count, type_, reduction_, layout_.call.root);
    case OperationId::step:  // its AllReduce
    case OperationId::all_reduce:
      return chosen("ncclAllReduce", nccl.all_reduce, nccl.all_reduce_config, b.input, b.output, count, type_,
                    reduction_);
    case OperationId::all_to_all:
      return call("ncclAlltoAll", nccl.all_to_all, b.input, b.output, count, type_);
    case OperationId::gather:
      return call("ncclGather", nccl.gather, b.input, b.result, count, type_, layout_.call.root);
    case OperationId::scatter:
      return call("ncclScatter", nccl.scatter, b.input, b.result, count, type_, layout_.call.root);
    case OperationId::all_to_all_v:
    case OperationId::send_recv:
    case OperationId::ping_pong:
    case OperationId::hypercube:
      break;
  }
  throw not_measurable(key_.operation);
}

/// Sends and receives, as one group; PingPong's answer waits for what it answers, so each is a group alone.
void NcclRow::exchange(std::uint64_t shift) const {
  const NcclLibrary& nccl = at_.gpu.nccl;
  const NcclHandle handle = at_.communicator.get();
  const CudaStreamHandle stream = at_.gpu.stream->get();
  const std::uint64_t element_bytes = traits(key_.type).bytes;
  const auto put = [&](const P2pOp& each) {
    const std::uint64_t at = shift + each.offset * element_bytes;
    at_.communicator.check(
        each.sends ? nccl.send(buffers_.input + at, each.count, type_, each.peer, handle, stream)
                   : nccl.recv(buffers_.result + at, each.count, type_, each.peer, handle, stream),
        each.sends ? "ncclSend" : "ncclRecv");
  };
  if (key_.operation == OperationId::ping_pong) {
    for (const P2pOp& each : transfers_) at_.communicator.grouped([&] { put(each); });
    return;
  }
  at_.communicator.grouped([&] { std::ranges::for_each(transfers_, put); });
}

/// Puts the next of so many on the stream, as a launch of the graph where there is one. Returns how many it
/// were.
std::uint64_t NcclRow::put_next(std::uint64_t left) {
  const launch::CountedCall counted(at_.calls);
  if (!graph_) return issue_next(left);
  graph_->launch(*at_.gpu.stream);
  return std::min(left, iterations_in_graph_);
}

/// What they take of a stream's queue. How much of it a graph takes is the driver's: all of its calls count.
std::uint64_t NcclRow::launches_of(std::uint64_t iterations) const {
  return key_.operation == OperationId::ping_pong ? iterations * std::max<std::size_t>(1, transfers_.size())
                                                  : iterations;
}

/// Makes the graph of so many operations, which are not run by that.
void NcclRow::capture(std::uint64_t iterations) {
  if (!at_.in_graphs || (graph_ && iterations_in_graph_ == iterations && graph_walks_ == walks_)) return;
  graph_.reset();
  wait_for("graph of " + name_of(key_),
           [&] { graph_.emplace(at_.gpu.cuda, *at_.gpu.stream, [&] { issue(iterations); }); });
  iterations_in_graph_ = iterations;
  graph_walks_ = walks_;
}

/// With an event after each span. Seconds of each.
std::vector<double> NcclRow::time_spans(std::span<const BlockSpan> spans) {
  while (events_.size() < spans.size() + 1) events_.emplace_back(at_.gpu.cuda);
  std::size_t put_spans = 0;
  std::uint64_t put_of_span = 0;
  const auto is_at_end = [&] { return put_of_span == spans[put_spans].iterations; };
  const auto next = [&]() -> std::uint64_t {
    if (put_spans == spans.size()) return 0;
    if (put_spans == 0 && put_of_span == 0) events_[0].record(*at_.gpu.stream);
    const std::uint64_t iterations = put_next(spans[put_spans].iterations - put_of_span);
    put_of_span += iterations;
    return launches_of(iterations) + (is_at_end() ? 1 : 0);  // the event
  };
  const auto behind = [&] {
    if (!is_at_end()) return;
    events_[++put_spans].record(*at_.gpu.stream);
    put_of_span = 0;
  };
  std::size_t passed = 0;
  wait_for_calls({.next = next, .behind = behind}, [&] {
    while (passed < put_spans && events_[passed + 1].is_over()) ++passed;
    return passed;
  });
  std::vector<double> seconds;
  std::uint64_t iterations = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    seconds.push_back(events_[i + 1].seconds_since(events_[i]));
    iterations += spans[i].iterations;
  }
  const double total = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  iteration_seconds_ = total / static_cast<double>(iterations);
  return seconds;
}

/// As nccl-tests' -z: what is issued at once, a call or a group, is waited for before the next, by the clock
/// of the host. Seconds in all.
double NcclRow::time_waited_calls(std::uint64_t iterations) {
  constexpr double kPatienceSeconds = 1;  // then all ranks wait together, which sees who hangs
  double seconds = 0;
  for (std::uint64_t left = iterations; left > 0;) {
    const double before = at_.clock.seconds();
    double own = 0;
    bool is_over = true;
    // All ranks issue the same number: who has lost patience waits no more, but issues on.
    bool patient = true;
    bool has_one = false;
    double issued = 0;
    const auto next = [&]() -> std::uint64_t {
      if (left == 0 || (has_one && at_.call_wait != CallWait::alone)) return 0;
      has_one = true;
      issued = at_.clock.seconds();
      const std::uint64_t now = put_next(left);
      left -= now;
      return launches_of(now);
    };
    const auto behind = [&] {
      while (!(is_over = at_.gpu.stream->idle()) && patient &&
             at_.clock.seconds() - issued < kPatienceSeconds)
        std::this_thread::yield();  // NCCL may need this core for threads of its own
      patient = patient && is_over;
      own = at_.clock.seconds() - before;
    };
    wait_for_calls({.next = next, .behind = behind});
    const bool with_all = at_.call_wait == CallWait::with_all || !is_over;
    seconds += with_all ? at_.clock.seconds() - before : own;
  }
  iteration_seconds_ = seconds / static_cast<double>(iterations);
  return seconds;
}

/// Watched once, and never while something is timed.
void NcclRow::run(std::uint64_t iterations) {
  if (iterations == 0) {
    // Without warmup the data may still be made when the block begins, on some GPUs longer than on others.
    wait_for("data of " + name_of(key_), [] {});
    return;
  }
  const auto work = [&] {
    capture(1);  // NCCL chooses when it is called: in a graph, that is here
    static_cast<void>(time_spans(std::vector<BlockSpan>{{.iterations = iterations}}));
  };
  if (choice_ || at_.observer == nullptr) {
    work();
  } else {
    choice_ = at_.observer->watch(work);
  }
}

std::optional<double> NcclRow::enqueue_seconds(std::uint64_t calls) {
  const std::uint64_t in_graph = graph_ ? iterations_in_graph_ : 1;
  const std::uint64_t iterations = (calls + in_graph - 1) / in_graph * in_graph;
  std::optional<double> before;
  double seconds = 0;
  std::uint64_t left = iterations;
  const auto next = [&] {
    if (!before) before = at_.clock.seconds();
    const std::uint64_t now = left == 0 ? 0 : put_next(left);
    left -= now;
    return now;
  };
  wait_for_calls({.next = next, .behind = [&] { seconds = at_.clock.seconds() - *before; }});
  return seconds / static_cast<double>(iterations);
}

Block NcclRow::time(std::uint64_t iterations, std::uint64_t iterations_per_sample, const GoesOn& goes_on) {
  Block block;
  if (iterations == 0) return block;
  walks_ = true;
  if (at_.in_graphs) {
    capture(iterations_per_sample);
    // The first launch of a graph brings it to the GPU.
    wait_for(name_of(key_), [&] { static_cast<void>(put_next(iterations_per_sample)); });
  }
  // Rank 0 decides for all: the ranks' times differ.
  const bool events_are_free = launch::broadcast_value(
      at_.ranks,
      iteration_seconds_ * static_cast<double>(iterations_per_sample) * kEventShare >= kEventSeconds);
  const bool waits = at_.call_wait != CallWait::none;
  const bool times_twice = iterations > iterations_per_sample && !events_are_free && !waits;
  const auto timed = [this, waits](std::span<const BlockSpan> spans) {
    if (!waits) return time_spans(spans);
    std::vector<double> seconds;
    for (const BlockSpan& span : spans) seconds.push_back(time_waited_calls(span.iterations));
    return seconds;
  };
  const auto take = [&](const auto& spans, const std::vector<double>& seconds) {
    block.elapsed_seconds = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    block.iterations = iterations_of(spans, seconds.size());
  };
  if (times_twice) {
    // Also where nobody is asked: an event that passes every some thousand calls is progress.
    const std::vector<BlockSpan> whole = slice_spans(iterations, iterations_per_sample);
    take(whole, time_slices(whole, goes_on, timed));
    iterations = block.iterations;
  }
  const std::vector<BlockSpan> spans = block_spans(iterations, iterations_per_sample);
  const std::vector<double> seconds = time_slices(spans, goes_on, timed);
  if (!times_twice) take(spans, seconds);
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (spans[i].is_sample) block.samples.push_back(seconds[i] / static_cast<double>(spans[i].iterations));
  }
  if (key_.operation == OperationId::ping_pong) share_half(block);
  walks_ = false;
  return block;
}

/// PingPong's time is half a round trip on rank 0, also for the ranks that look on.
void NcclRow::share_half(Block& round_trips) const {
  const auto share = [this](std::span<double> values) {
    for (double& seconds : values) seconds /= 2;
    at_.ranks.broadcast(std::as_writable_bytes(values), 0);
  };
  share({&round_trips.elapsed_seconds, 1});
  share(round_trips.samples);
}

std::optional<Mismatch> NcclRow::check(std::uint64_t iteration) {
  const CudaLibrary& cuda = at_.gpu.cuda;
  const CudaStreamHandle stream = at_.gpu.stream->get();
  KernelMismatch* const found = &buffers_.scratch->found;
  const std::uint32_t tolerance = key_.reduction ? tolerance_ulp(key_.type, *key_.reduction) : 0;
  const auto segments = collective(key_.operation).result(layout_.elements, layout_.call);
  const auto compare = [&](const Segment& segment, std::uint64_t at) {
    KernelElements elements = elements_of(
        segment.source == Segment::kReduced ? &buffers_.scratch->expected : nullptr, key_.type, iteration);
    elements.source = segment.source;
    elements.index = segment.source_index;
    elements.length = segment.length;
    const std::byte* const received = buffers_.result + at * traits(key_.type).bytes;
    KernelLibrary::check_result(cuda,
                                at_.gpu.kernels.check(&elements, received, at, tolerance, found, stream),
                                "the kernel that checks data");
  };
  wait_for("check of " + name_of(key_), [&] {
    cuda.check(cuda.set_bytes(&found->count, 0, sizeof found->count, stream), "cudaMemsetAsync");
    cuda.check(cuda.set_bytes(&found->first_index, 0xff, sizeof found->first_index, stream),
               "cudaMemsetAsync");
    std::uint64_t at = 0;
    for (const Segment& segment : segments) {
      compare(segment, at);
      at += segment.length;
    }
  });
  KernelMismatch result{};
  cuda.check(cuda.copy(&result, found, sizeof result, CudaCopy::device_to_host), "cudaMemcpy");
  if (result.count == 0) return std::nullopt;
  return described(result, segments, iteration);
}

/// The first wrong element in words: the host's own check of that one element.
Mismatch NcclRow::described(const KernelMismatch& found, const std::vector<Segment>& segments,
                            std::uint64_t iteration) const {
  const std::size_t element_bytes = traits(key_.type).bytes;
  std::array<std::byte, kPatternCellBytes> element{};
  at_.gpu.cuda.check(at_.gpu.cuda.copy(element.data(), buffers_.result + found.first_index * element_bytes,
                                       element_bytes, CudaCopy::device_to_host),
                     "cudaMemcpy");
  std::uint64_t index = found.first_index;
  auto segment = segments.begin();
  for (; index >= segment->length; ++segment) index -= segment->length;
  const Segment one{.source = segment->source, .source_index = segment->source_index + index, .length = 1};
  Mismatch mismatch =
      pattern_.check(std::span(element).first(element_bytes), {one}, iteration).value_or(Mismatch{});
  mismatch.count = found.count;
  mismatch.first_index = found.first_index;
  return mismatch;
}

}  // namespace collbench::collectives
