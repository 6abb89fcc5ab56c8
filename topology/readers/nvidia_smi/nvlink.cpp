#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text_input.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

constexpr std::string_view kNvlinkOutput = "the output of nvidia-smi nvlink -s";
constexpr std::string_view kSaveNvlink = "save it again with: nvidia-smi nvlink -s > FILE";

/// "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-…)".
std::optional<Gpu> read_gpu_line(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::size_t uuid = text.find(" (UUID: ");
  if (text.substr(0, 4) != "GPU " || colon == std::string_view::npos || uuid == std::string_view::npos ||
      uuid < colon || text.back() != ')') {
    return std::nullopt;
  }
  const auto index = parse_integer(text.substr(4, colon - 4), 0, 9999);
  if (!index) return std::nullopt;
  Gpu gpu;
  gpu.index.value = static_cast<int>(*index);
  gpu.model.value = std::string(trim(text.substr(colon + 1, uuid - colon - 1)));
  gpu.uuid.value = std::string(text.substr(uuid + 8, text.size() - uuid - 9));
  return gpu;
}

/// "Link 3…"; not "Link Width", which nvidia-smi -q has.
bool is_link_line(std::string_view text) {
  return text.size() > 5 && text.substr(0, 5) == "Link " && text[5] >= '0' && text[5] <= '9';
}

/// "Link 3: 26.562 GB/s" or "Link 3: <inactive>".
void read_link_line(std::string_view text, Gpu& gpu, std::set<std::int64_t>& seen, std::string_view where) {
  const auto refuse = [&](std::string_view what) {
    return usage_error(std::string(where), fmt::format("'{}' {}", excerpt(text), what),
                       std::string(kSaveNvlink));
  };
  const std::size_t colon = text.find(':');
  const auto number =
      colon == std::string_view::npos ? std::nullopt : parse_integer(text.substr(5, colon - 5), 0, 999);
  if (!number) throw refuse("has no link number");
  if (!seen.insert(*number).second) throw refuse("lists a link a second time");
  const std::string_view value = trim(text.substr(colon + 1));
  if (value == "<inactive>") {
    gpu.nvlinks_inactive.value = gpu.nvlinks_inactive.value_or(0) + 1;
    return;
  }
  const auto rate = leading_number(value);
  if (!rate || value.find("GB/s") == std::string_view::npos)
    throw refuse("has no rate in GB/s and is not <inactive>");
  gpu.nvlinks_active.value = gpu.nvlinks_active.value_or(0) + 1;
  gpu.nvlink_gigabytes_per_second.value = std::min(gpu.nvlink_gigabytes_per_second.value_or(*rate), *rate);
}

/// Sentences that stand in place of the links.
bool is_state(std::string_view text) {
  const std::string small = lower(text);
  return small.find("nvlink") != std::string::npos &&
         (small.find("unable to") != std::string::npos || small.find("not supported") != std::string::npos ||
          small.find("does not have") != std::string::npos);
}

void read_state_line(std::string_view text, Gpu& gpu) {
  gpu.nvlink_state.value = std::string(text);
  const std::string small = lower(text);
  if (small.find("inactive") != std::string::npos) gpu.nvlinks_active.value = 0;
  if (small.find("mig mode") != std::string::npos) gpu.mig.value = true;
}

/// The entry of the GPU, which `nvidia-smi -L` may have listed before; none when its links are there already.
Gpu* gpu_entry(Host& host, Gpu found) {
  const auto same = std::ranges::find_if(host.gpus, [&found](const Gpu& gpu) {
    return gpu.index == found.index && gpu.uuid == found.uuid;  // another UUID: of another machine
  });
  if (same == host.gpus.end()) return &host.gpus.emplace_back(std::move(found));
  const bool listed =
      same->nvlinks_active.known() || same->nvlinks_inactive.known() || same->nvlink_state.known();
  return listed ? nullptr : &*same;
}

bool is_nvidia_smi_nvlink(const ReaderInput& input) {
  const std::vector<Line>& lines = input.lines;
  const bool gpu = std::ranges::any_of(lines, [](const Line& line) {
    return trim(line.text).substr(0, 4) == "GPU " && line.text.find("(UUID: ") != std::string::npos;
  });
  return gpu && std::ranges::any_of(lines, [](const Line& line) {
           const std::string_view text = trim(line.text);
           return text.substr(0, 5) == "Link " || lower(text).find("nvlink") != std::string::npos;
         });
}

}  // namespace

Host read_nvidia_smi_nvlink(std::string_view text, std::string_view file) {
  require_text(text, file, std::string(kNvlinkOutput) + " (it prints nothing where no GPU has NVLink)");
  Host host;
  host.sources.push_back(kNvidiaSmiNvlinkReader.source(file));
  const std::vector<Line> lines = clean_lines(text);
  std::set<std::int64_t> seen;
  Gpu* current = nullptr;
  for (const Line& line : lines) {
    const std::string_view trimmed = trim(line.text);
    if (trimmed.empty()) continue;
    if (auto found = read_gpu_line(trimmed)) {
      current = gpu_entry(host, std::move(*found));
      if (current == nullptr) break;  // a second listing, as in a file of several commands: the first is read
      seen.clear();
    } else if (current != nullptr && is_link_line(trimmed)) {
      read_link_line(trimmed, *current, seen, location(file, line.number));
    } else if (current != nullptr && is_state(trimmed)) {
      read_state_line(trimmed, *current);
    }
  }
  // A GPU whose links are all listed as inactive has 0 active ones: that is known, not unknown.
  for (Gpu& gpu : host.gpus) {
    if (gpu.nvlinks_inactive.known() && !gpu.nvlinks_active.known()) gpu.nvlinks_active.value = 0;
    if (gpu.nvlinks_active.value_or(0) > 0 && !gpu.nvlinks_inactive.known()) gpu.nvlinks_inactive.value = 0;
  }
  if (!host.gpus.empty()) return host;
  throw without_nvidia_smi_output(
      lines, file,
      usage_error(std::string(file), fmt::format("no GPU found; expected {}", kNvlinkOutput),
                  std::string(kSaveNvlink)));
}

constexpr TopologyReader kNvidiaSmiNvlinkReader{
    .name = "nvidia-smi nvlink -s",
    .coverage = {.gpus = true, .nics = false, .nvswitches = false},
    .recognizes = is_nvidia_smi_nvlink,
    .read = read_nvidia_smi_nvlink,
};

}  // namespace collbench::topology
