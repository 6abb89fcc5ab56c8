#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analysis/models/nccl/cluster_of_run.hpp"
#include "analysis/verdict/verdict.hpp"
#include "base/error.hpp"
#include "base/record/run_stream.hpp"
#include "tools/plan/command/plan_options.hpp"
#include "tools/plan/step/fault_cost.hpp"
#include "tools/plan/step/measured_collectives.hpp"
#include "tools/plan/step/plan.hpp"
#include "topology/machines/resolve.hpp"

namespace collbench {
namespace {

const topology::ResolvedMachine& machine() {
  static const topology::ResolvedMachine known = topology::resolve_machine("hgx-h100");
  return known;
}

analysis::GpuCluster node() { return analysis::gpu_cluster(machine(), 1, 0); }

void require_finite(double seconds) {
  if (!std::isfinite(seconds) || seconds <= 0) std::abort();
}

/// Two nodes: some groups of a step cross them.
analysis::PlanRequest small_request() {
  program::PlanInput input;
  input.model = "llama-3.1-8b";
  program::complete_model(input);
  input.request.n_gpus = 16;
  input.request.tp = 8;
  input.request.global_batch = 2;
  return input.request;
}

void plan_model(const std::string& text) {
  program::PlanInput input;
  program::take_model_text(input, text, "model.toml");
  program::complete_model(input);
  input.request.n_gpus = 8;
  input.request.may_exceed_memory = true;
  require_finite(analysis::training_plan(input.request, node()).step_seconds);
}

void price_fault(const std::string& words) {
  const topology::Host& healthy = machine().first_host();
  const analysis::SlowNic slow = analysis::parse_slow_nic(words, "--fault");
  const topology::Host faulty = analysis::with_slow_nic(healthy, slow, 2, "--fault");
  const analysis::PlanRequest request = small_request();
  const analysis::TrainingPlan plan = analysis::training_plan(request, node());
  const auto cost = analysis::fault_cost(request, plan, node(), healthy, faulty, words, "--fault");
  if (cost.price) require_finite(cost.price->step_seconds);
}

void plan_with_record(const std::string& text) {
  const Run run = run_from_text(text, "input");
  const analysis::GpuCluster cluster = analysis::cluster_of_run(run, machine(), "input", false);
  analysis::PlanRequest request = small_request();
  request.measured = std::make_shared<const analysis::MeasuredCollectives>(
      analysis::measured_collectives(analysis::judged_on_gpus(run, cluster), cluster, "input"));
  const analysis::TrainingPlan plan = analysis::training_plan(request, node());
  require_finite(plan.step_seconds);
  if (const auto cost = analysis::measured_cost(request, plan, node())) require_finite(cost->step_seconds);
}

/// "tp-cp-ep-dp-pp rail-optimized,leaf=8".
void locate_ranks(const std::string& text) {
  const std::size_t space = text.find(' ');
  analysis::PlanRequest request = small_request();
  request.order = analysis::parse_rank_order(text.substr(0, space), "--order");
  if (space != std::string::npos) request.fabric = analysis::parse_fabric(text.substr(space + 1), "--fabric");
  require_finite(analysis::training_plan(request, node()).step_seconds);
}

}  // namespace
}  // namespace collbench

/// What the readers of `plan` owe for any bytes: an Error with a message, or a step of finite seconds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto read : {collbench::plan_model, collbench::price_fault, collbench::plan_with_record,
                          collbench::locate_ranks}) {
    try {
      read(text);
    } catch (const collbench::Error& error) {
      if (describe(error).empty()) std::abort();
    }
  }
  return 0;
}
