#include "src/run/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/units.hpp"
#include "launch/agreement.hpp"

namespace collbench::program {
namespace {

/// Buffers of the largest row, and what the library takes for itself.
std::uint64_t memory_needed(const std::vector<RowKey>& rows, const collectives::Backend& backend) {
  std::uint64_t send = 0;
  std::uint64_t receive = 0;
  for (const RowKey& row : rows) {
    const collectives::BufferBytes bytes = backend.layout(row).bytes;
    const std::uint64_t least = backend.limits().smallest_buffer_bytes;
    if (bytes.send > 0) send = std::max({send, bytes.send, least});
    if (bytes.receive > 0) receive = std::max({receive, bytes.receive, least});
  }
  return send + receive + backend.limits().library_buffers * std::max(send, receive);
}

std::string_view memory_owner(collectives::MemoryKind memory) {
  switch (memory) {
    case collectives::MemoryKind::host:
      return "host (or its job's limit there)";
    case collectives::MemoryKind::device:
      return "GPU";
  }
  return "";
}

/// Of rows that need more than there is.
Error too_little_memory(std::uint64_t needed, std::uint64_t available, const std::vector<RowKey>& rows,
                        const collectives::Backend& backend) {
  const auto needs_less = [&](const RowKey& a, const RowKey& b) {
    return memory_needed({a}, backend) < memory_needed({b}, backend);
  };
  const RowKey& largest = *std::ranges::max_element(rows, needs_less);
  return usage_error(
      "-e",
      fmt::format("the largest row, {} {}, needs about {} per rank, but its {} has {} for each",
                  operation(largest.operation).name, format_bytes(largest.size_bytes), format_bytes(needed),
                  memory_owner(backend.capabilities().memory), format_bytes(available)),
      fmt::format("give an -e of at most {}, or start fewer ranks there", format_bytes(available / 4)));
}

/// Throws when an algorithm that was asked for exists for none of the operations.
void require_known_algorithms(const collectives::PlanRequest& request, const collectives::Backend& backend) {
  std::set<std::string> known{kLibraryChoice};
  for (const OperationId id : request.operations) {
    for (const std::string& name : backend.algorithms(id)) known.insert(name);
  }
  for (const std::string& asked : request.algorithms) {
    if (known.contains(asked)) continue;
    if (known.size() == 1) {
      RowKey any;
      any.operation = request.operations.front();
      any.algorithm = asked;
      throw Error(ExitStatus::not_here, "--algo " + asked,
                  backend.unsupported_reason(any).value_or("no algorithm can be chosen here"),
                  "measure --algo auto");
    }
    throw usage_error("--algo",
                      fmt::format("'{}' is not an algorithm of this library for these operations", asked),
                      fmt::format("choose among {}", fmt::join(known, ", ")));
  }
}

/// Throws for a type that was asked for by name and that nothing here has; of "all", what there is not is
/// left out, and its rows say why.
void require_known_types(const collectives::PlanRequest& request, const collectives::Backend& backend) {
  if (request.types.size() == data_types().size()) return;
  for (const DataType type : request.types) {
    const auto why = backend.unsupported_type_reason(type);
    if (why)
      throw Error(ExitStatus::not_here, fmt::format("-d {}", traits(type).name), *why, "choose another -d");
  }
}

/// Plans the rows, and says why they cannot be run on some rank; the same on all ranks. Collective.
std::optional<Error> obstacle_to_rows(const collectives::PlanRequest& request, const RunBackend& measured,
                                      launch::Ranks& ranks, const TrafficMatrix& traffic, RunPlan& plan) {
  try {
    plan.rows = collectives::plan_rows(request, ranks.size(), traffic);
  } catch (const Error& error) {
    return error;
  }
  const std::uint64_t available = measured.memory_per_rank_bytes;
  const std::uint64_t needed = memory_needed(plan.rows, *measured.backend);
  const bool lacks = available != 0 && needed > available;
  // A root holds more than the others; a double is exact enough for any memory.
  std::array<double, 2> most{static_cast<double>(needed), lacks ? 1.0 : 0.0};
  ranks.reduce(most, launch::RankAggregate::maximum);
  plan.memory_bytes = static_cast<std::uint64_t>(most[0]);
  if (most[1] == 0) return std::nullopt;
  return too_little_memory(plan.memory_bytes, available, plan.rows, *measured.backend);
}

}  // namespace

void measure_once(collectives::MeasurementLoopOptions& loop) {
  loop.simulated = true;
  if (!loop.fixed.iterations) loop.fixed.iterations = 1;
  if (std::holds_alternative<collectives::Precision>(loop.stopping.passes))
    loop.stopping.passes = collectives::FixedPasses{1};
}

RunPlan plan_run(const RunOptions& options, const std::string& host, const RunBackend& measured,
                 launch::Ranks& ranks, const TrafficMatrix& traffic) {
  const collectives::Backend& backend = *measured.backend;
  collectives::PlanRequest request = options.request;
  const collectives::BackendLimits limits = backend.limits();
  request.elements_per_call = limits.elements_per_call;
  std::uint64_t largest = limits.default_largest_bytes;
  if (measured.memory_per_rank_bytes != 0) largest = std::min(largest, measured.memory_per_rank_bytes / 4);
  RunPlan plan;
  launch::agreed(ranks, host, [&] {
    require_known_algorithms(options.request, backend);
    require_known_types(options.request, backend);
    request.sizes_bytes = sizes_bytes(options.sizes, largest);
  });
  while (const auto obstacle = obstacle_to_rows(request, measured, ranks, traffic, plan)) {
    const bool may_go = options.sizes.fit && request.sizes_bytes.size() > 1;
    launch::agreed(ranks, host, [&] {
      if (!may_go) throw Error(*obstacle);
    });
    request.sizes_bytes.pop_back();
    plan.left_out = fmt::format("sizes above {} are left out: {}", format_bytes(request.sizes_bytes.back()),
                                obstacle->what());
  }
  return plan;
}

bool needs_calibration(const RunPlan& plan) {
  return std::ranges::any_of(plan.rows,
                             [](const RowKey& row) { return operation(row.operation).has_bandwidth; });
}

std::string plan_text(const RunPlan& plan, const std::vector<GroupStep>& before, std::optional<double> stress,
                      const RunOptions& options, const collectives::Backend& backend, std::size_t ranks) {
  const double seconds = run_seconds(options, backend.capabilities().memory);
  std::string text = fmt::format(
      "# {} on {}, about {} of memory on each rank, {}\n", counted(plan.rows.size(), "row"),
      counted(ranks, "rank"), format_bytes(plan.memory_bytes),
      std::isinf(seconds) ? "measured until interrupted"
                          : fmt::format("at most about {} of measuring", format_seconds(seconds)));
  if (const std::string note = process_note(options.process); !note.empty()) text += "# " + note + "\n";
  text += options.loop.fixed.iterations ? "# (with -n the first pass has no time limit)\n" : "";
  std::vector<std::string> steps;
  for (const GroupStep& step : before) {
    std::string words = fmt::format("{} {} {}", operation(step.row.operation).name,
                                    format_bytes(step.row.size_bytes), step.where);
    if (steps.empty() || steps.back() != words) steps.push_back(std::move(words));
  }
  if (!steps.empty())
    text += fmt::format("# and before these rows {} (--no-nodes-alone: not)\n", fmt::join(steps, ", "));
  if (stress)
    text += fmt::format(
        "# and each GPU alone before these rows, the worst of them again after: about {} each, {} in all "
        "(--no-stress: neither)\n",
        format_seconds(*stress), format_seconds(seconds + 2 * *stress));
  for (const RowKey& row : plan.rows) {
    text += fmt::format(
        "{:<14} {:>12} B {:>12} {:<9} {:<5} {:<4} {}{}\n", operation(row.operation).name, row.size_bytes,
        row.count, traits(row.type).name, row.reduction ? name(*row.reduction) : "–",
        row.in_place ? "in" : "out",
        row.root ? fmt::format("{} root {}", row.algorithm, *row.root) : row.algorithm,
        backend.unsupported_reason(row) ? "  not available: " + *backend.unsupported_reason(row) : "");
  }
  return text;
}

std::string progress_text(const collectives::MeasurementProgress& at, const std::vector<RowKey>& rows) {
  const RowKey& row = rows[at.row];
  const std::string left = std::isinf(at.max_seconds_left) ? "until interrupted"
                           : at.max_seconds_left > 0
                               ? "at most " + format_seconds(at.max_seconds_left) + " left"
                               : "time is up: the rest of the first pass takes little";
  return fmt::format("pass {}: {} {}, {} of {} rows done, {}", at.pass, operation(row.operation).name,
                     format_bytes(row.size_bytes), at.rows_done, at.rows, left);
}

}  // namespace collbench::program
