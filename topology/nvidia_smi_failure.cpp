#include "topology/nvidia_smi_failure.hpp"

#include <fmt/format.h>

#include <array>

namespace collbench {

std::optional<Line> find_nvidia_smi_error(const std::vector<Line>& lines) {
  constexpr std::array<std::string_view, 4> kErrors{"ERROR: ", "NVIDIA-SMI has failed",
                                                    "Failed to initialize NVML", "No devices were found"};
  for (const Line& line : lines) {
    for (const std::string_view error : kErrors) {
      if (trim(line.text).substr(0, error.size()) == error) return line;
    }
  }
  return std::nullopt;
}

Error without_nvidia_smi_output(const std::vector<Line>& lines, std::string_view file, const Error& missing) {
  const auto error = find_nvidia_smi_error(lines);
  if (!error) return missing;
  return usage_error(place(file, error->number),
                     fmt::format("nvidia-smi failed: '{}'", excerpt(error->text, 120)),
                     "run nvidia-smi by hand and see to that first");
}

}  // namespace collbench
