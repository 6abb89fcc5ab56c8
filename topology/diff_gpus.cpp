// diff_gpus() of diff_parts.hpp: what a GPU is and how it is set up; its links are elsewhere.
#include <algorithm>

#include "topology/diff_parts.hpp"
#include "topology/gpu_catalogue.hpp"

namespace collbench {
namespace {

/// Drivers put the maker before the model since release 440 or so.
std::string without_maker(std::string model) {
  for (const std::string_view maker : {"NVIDIA ", "Tesla "}) {
    if (model.starts_with(maker)) model.erase(0, maker.size());
  }
  return model;
}

void diff_model(FindingList& findings, const Twins& twins, const Gpu& a, const Gpu& b) {
  if (a.model.known() && b.model.known()) {
    if (without_maker(*a.model.value) != without_maker(*b.model.value)) {
      findings.add("gpu-model", Side::b, {twins}, instead(Side::b, a.model, b.model, ""));
      return;
    }
  }
  if (lesser(a.sm, b.sm)) {
    findings.add("gpu-model", Side::b, {twins}, "compute capability " + instead(Side::b, a.sm, b.sm, ""));
    return;
  }
  constexpr double kNotable = 0.02;  // what is kept for ECC or by a driver
  const auto in_a = static_cast<double>(a.memory_bytes.value_or(0));
  const auto in_b = static_cast<double>(b.memory_bytes.value_or(0));
  if (in_a <= 0 || in_b <= 0 || std::abs(in_a - in_b) <= kNotable * std::max(in_a, in_b)) return;
  constexpr double kGibibyte = 1 << 30;
  findings.add("gpu-model", in_a < in_b ? Side::a : Side::b, {twins},
               fmt::format("{:.4g} GiB of memory instead of {:.4g}", std::min(in_a, in_b) / kGibibyte,
                           std::max(in_a, in_b) / kGibibyte));
}

void diff_mig(FindingList& findings, const Twins& twins, const Gpu& a, const Gpu& b) {
  if (lesser(a.mig, b.mig)) {
    findings.add("mig-on", a.mig.value_or(false) ? Side::a : Side::b, {twins}, "MIG mode is on");
  } else if (const auto fewer = lesser(a.mig_devices, b.mig_devices)) {
    findings.add("mig-on", other(*fewer), {twins},
                 instead(other(*fewer), a.mig_devices, b.mig_devices, "MIG devices"));
  }
}

bool ready(const Fact<std::string>& fact, std::string_view good) {
  return !fact.known() || *fact.value == good || *fact.value == "N/A";
}

/// A fault by itself, whatever the other machine says.
void look_at_fabric(FindingList& findings, const Twins& twins, Side side, const Gpu& gpu) {
  if (!ready(gpu.fabric_state, "Completed")) {
    findings.add("fabric-state", side, {twins}, "fabric state " + *gpu.fabric_state.value);
  } else if (!ready(gpu.fabric_status, "Success")) {
    findings.add("fabric-state", side, {twins}, "fabric status " + *gpu.fabric_status.value);
  }
}

}  // namespace

void diff_gpus(const HostPair& pair, FindingList& findings) {
  each_pair(pair, pair.match.gpus, &Host::gpus, [&](const Twins& twins, const Gpu& a, const Gpu& b) {
    diff_model(findings, twins, a, b);
    diff_mig(findings, twins, a, b);
    look_at_fabric(findings, twins, Side::a, a);
    look_at_fabric(findings, twins, Side::b, b);
    add_if_different(findings, "partitions", {twins}, a.partitions, b.partitions, "partitions");
    add_if_different(findings, "virtualization", {twins}, a.virtualization, b.virtualization,
                     "virtualization");
  });
}

}  // namespace collbench
