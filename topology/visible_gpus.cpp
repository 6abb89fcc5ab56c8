#include "topology/visible_gpus.hpp"

#include "topology/text_input.hpp"

namespace collbench {

bool is_gpu_index(std::string_view entry) { return parse_integer(entry, 0, 9999).has_value(); }

std::optional<std::vector<std::string>> visible_gpus(const char* cuda_visible_devices) {
  if (cuda_visible_devices == nullptr) return std::nullopt;
  std::vector<std::string> visible;
  for (const std::string& entry : split_cells(cuda_visible_devices, ',')) {
    if (!is_gpu_index(entry) && entry.substr(0, 4) != "GPU-" && entry.substr(0, 4) != "MIG-") break;
    visible.push_back(entry);
  }
  return visible;
}

}  // namespace collbench
