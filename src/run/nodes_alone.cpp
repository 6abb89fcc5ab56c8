#include "src/run/nodes_alone.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analysis/verdict/verdict.hpp"
#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "launch/agreement.hpp"

namespace collbench::program {
namespace {

constexpr std::uint64_t kLargest = kGiB;

bool is_wanted(const RowKey& row) {
  return row.operation == OperationId::all_reduce && row.algorithm == kLibraryChoice &&
         row.size_bytes >= analysis::kLargeSize && row.size_bytes <= kLargest;
}

}  // namespace

std::optional<RowKey> row_of_nodes_alone(const std::vector<RowKey>& plan, const Identities& identities) {
  const std::vector<int> locals = ranks_per_node(identities);
  const bool several = locals.size() > 1 && locals.front() > 1;
  if (!several || std::any_of(locals.begin(), locals.end(), [&](int n) { return n != locals.front(); }))
    return std::nullopt;
  std::optional<RowKey> largest;
  for (const RowKey& row : plan)
    if (is_wanted(row) && (!largest || row.size_bytes > largest->size_bytes)) largest = row;
  return largest;
}

NodeRanks::NodeRanks(const launch::CollectiveWait& all, const RunContext& context,
                     const launch::Session& session)
    : all_(all),
      ranks_(session.ranks_of(context.identities[static_cast<std::size_t>(all.ranks().rank())].node)),
      waiter_(all.among(*ranks_)) {}

std::vector<NodeAlone> NodeRanks::measure(const RunBackend& backend, const RowKey& row,
                                          const collectives::MeasurementLoopOptions& options,
                                          const collectives::MeasurementObserver& observer) const {
  NodeAlone mine{.host = all_.host(), .ranks = ranks_->size(), .row = {}};
  const std::vector<std::string> hosts(static_cast<std::size_t>(ranks_->size()), all_.host());
  std::optional<Error> failed;
  backend.measure_among(waiter_);
  try {
    mine.row.measurement =
        collectives::run_measurement_loop(*ranks_, *backend.backend, {row}, hosts, options, observer)
            .rows.front();
  } catch (const launch::AgreedError& error) {
    failed = Error(error.status(), fmt::format("{} on {} alone", error.where(), all_.host()), error.what(),
                   error.next_step());
  }
  launch::agree_on_groups(all_.ranks(), failed);
  backend.measure_among(all_);
  mine.row.measurement.ranks.clear();  // by their number in the node
  const std::string text = ranks_->is_root() ? json_line(node_alone_to_json(mine)) : std::string();
  std::vector<NodeAlone> nodes;
  for (const std::string& each : all_.ranks().gather(text)) {
    if (each.empty()) continue;
    const nlohmann::json json = parse_json_line(each, "a node alone");
    nodes.push_back(node_alone_from_json(JsonReader(json, "a node alone")));
  }
  return nodes;
}

}  // namespace collbench::program
