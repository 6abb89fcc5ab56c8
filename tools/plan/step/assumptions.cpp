#include "base/text_input.hpp"
#include "tools/plan/step/layer_time.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.hpp"

namespace collbench::analysis {
namespace {

constexpr std::array<Assumption, 18> kAssumptions{{
    {"gemm_sustained", &Assumptions::gemm_sustained, 0.1, 1.2, "BF16 products, of the best measured alone"},
    {"fp8_sustained", &Assumptions::fp8_sustained, 0.1, 1.2,
     "FP8 products on Hopper, of the best measured alone"},
    {"blackwell_sustained", &Assumptions::blackwell_sustained, 0.1, 1.2,
     "products on Blackwell, of the best measured alone"},
    {"blocking_seconds", &Assumptions::blocking_seconds, 0, 1,
     "of a layer's forward pass where the host waits for kernels"},
    {"launch_seconds", &Assumptions::launch_seconds, 0, 0.01,
     "of the host, for a kernel of a layer with experts"},
    {"launch_exposed", &Assumptions::launch_exposed, 0, 1, "of the shorter of launches and kernels there"},
    {"attention_sustained", &Assumptions::attention_sustained, 0.1, 1.2,
     "fused attention, of the best measured alone"},
    {"small_product", &Assumptions::small_product, 0.05, 1,
     "products of heads without fused attention, of GEMM"},
    {"elementwise_rate", &Assumptions::elementwise_rate, 0.1, 1.2, "kernels bound by memory, of a copy"},
    {"eager_passes", &Assumptions::eager_passes, 1, 5, "passes over memory without fusion, of those with it"},
    {"tp_exposed", &Assumptions::tp_exposed, 0, 1, "of overlapped tensor-parallel collectives"},
    {"pp_exposed", &Assumptions::pp_exposed, 0, 1, "of sends between stages that are issued ahead"},
    {"overlap_window", &Assumptions::overlap_window, 0, 1, "of a computation, that can hide collectives"},
    {"nccl_share", &Assumptions::nccl_share, 0, 0.5, "of the GPU, that hidden collectives take"},
    {"zero3_rate", &Assumptions::zero3_rate, 0.01, 1, "ZeRO-3 of the stacks of 2021, of FSDP's rate"},
    {"jitter", &Assumptions::jitter, 0, 0.05, "of the step, for each doubling beyond 8 GPUs"},
    {"step_overhead", &Assumptions::step_overhead, 0, 10, "seconds of a step outside of kernels"},
    {"power_exponent", &Assumptions::power_exponent, 0, 1, "clock by power limit"},
}};

}  // namespace

std::span<const Assumption> assumption_list() { return kAssumptions; }

void assume(Assumptions& assumptions, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const auto* const found = std::ranges::find(kAssumptions, name, &Assumption::name);
  if (equals == std::string::npos || found == kAssumptions.end()) {
    std::vector<std::string_view> names;
    for (const Assumption& each : kAssumptions) names.push_back(each.name);
    throw usage_error("--assume", fmt::format("'{}' is not NAME=VALUE of a known constant", text),
                      fmt::format("the constants are {}", fmt::join(names, ", ")));
  }
  const std::string given = text.substr(equals + 1);
  const auto value = whole_number<double>(given);
  if (!value || !(*value >= found->minimum && *value <= found->maximum))  // as a NaN
    throw usage_error("--assume", fmt::format("'{}' is no value of {}", given, name),
                      fmt::format("give {} to {}", found->minimum, found->maximum));
  assumptions.*(found->value) = *value;
}

}  // namespace collbench::analysis
