#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "topology/text_input.hpp"

namespace collbench {

/// The line where nvidia-smi says that it failed ("ERROR: …", "NVIDIA-SMI has failed …"); none when it
/// worked.
[[nodiscard]] std::optional<Line> find_nvidia_smi_error(const std::vector<Line>& lines);

/// Why these lines of `file` are not what was to be read: nvidia-smi's own words when it failed, `missing`
/// otherwise.
[[nodiscard]] Error without_nvidia_smi_output(const std::vector<Line>& lines, std::string_view file,
                                              const Error& missing);

}  // namespace collbench
