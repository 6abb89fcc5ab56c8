// gather_live_texts() and collective_environment() of evidence.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "topology/doctor/evidence.hpp"

namespace collbench::topology {
namespace {

namespace fs = std::filesystem;

constexpr double kSecondsPerCommand = 8;

struct LiveText {
  std::string_view source;
  std::string text;  ///< empty: nothing to go by
};

/// What a command or a file of the kernel says; empty where it is not there, with a note where it is and
/// fails or is cut: half of an output would clear what its other half shows. systemctl prints a state and
/// exits with another status than 0.
LiveText live_text(const EvidenceSource& source, std::vector<std::string>& notes) {
  if (source.live.front().starts_with('/')) {
    std::error_code failure;
    if (!fs::exists(source.live.front(), failure)) return {};
    try {
      return {source.name, read_file(fs::path(source.live.front()), kMaxInputBytes)};
    } catch (const Error& error) {
      notes.push_back(fmt::format("{}: {}", source.live.front(), error.what()));
      return {};
    }
  }
  const std::vector<std::string> arguments(source.live.begin(), source.live.end());
  const ChildLimits limits{.seconds = kSecondsPerCommand, .max_bytes = kMaxInputBytes};
  const ChildResult result = run_child(arguments, limits);
  const bool prints_a_state = source.live.front() == "systemctl" && result.end == ChildEnd::exited;
  if ((result.succeeded() && !result.cut) || (prints_a_state && trim(result.err).empty()))
    return {source.name, result.out};
  // nvidia-smi says on stdout that it has failed: that is evidence, too, and of nothing else.
  if (result.out.starts_with("NVIDIA-SMI has failed")) return {"nvidia-smi-failure", result.out};
  if (result.end != ChildEnd::not_started) {
    const std::string_view said = trim(result.err);
    notes.push_back(fmt::format("{}: {}{}", source.description, describe_end(result, limits),
                                said.empty() ? "" : fmt::format(", \"{}\"", excerpt(said, 80))));
  }
  return {};
}

/// The governors of all CPUs, one line for each that is in use.
std::string live_governors() {
  std::set<std::string> governors;
  std::error_code error;
  for (const auto& cpu : fs::directory_iterator("/sys/devices/system/cpu", error)) {
    const std::string governor = first_line(cpu.path() / "cpufreq" / "scaling_governor");
    if (!governor.empty()) governors.insert(governor);
  }
  std::string text;
  for (const std::string& governor : governors) text += governor + "\n";
  return text;
}

}  // namespace

std::string collective_environment(std::span<const std::string> variables) {
  constexpr std::array<std::string_view, 6> kPrefixes{
      "NCCL_", "UCX_", "FI_", "OMPI_MCA_", "CUDA_VISIBLE_DEVICES=", "CUDA_LAUNCH_BLOCKING="};
  std::vector<std::string> kept;
  for (const std::string& variable : variables) {
    const bool named = std::any_of(kPrefixes.begin(), kPrefixes.end(), [&variable](std::string_view prefix) {
      return std::string_view(variable).starts_with(prefix);
    });
    if (named) kept.push_back(variable);
  }
  std::sort(kept.begin(), kept.end());
  std::string text;
  for (const std::string& variable : kept) text += variable + "\n";
  return text;
}

LiveTexts gather_live_texts(std::span<const std::string> variables) {
  LiveTexts live;
  for (const EvidenceSource& source : evidence_sources()) {
    if (source.live.empty()) continue;
    LiveText answer = live_text(source, live.notes);
    if (!answer.text.empty()) live.texts.emplace(answer.source, std::move(answer.text));
  }
  live.texts.emplace("environment", collective_environment(variables));
  if (std::string governors = live_governors(); !governors.empty())
    live.texts.emplace("governor", std::move(governors));
  return live;
}

}  // namespace collbench::topology
