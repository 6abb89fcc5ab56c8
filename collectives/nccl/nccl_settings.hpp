#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collbench {

/// The value that a file of NCCL's settings gives to `name`: a line NAME=VALUE; the first such line counts.
/// None when there is none.
[[nodiscard]] std::optional<std::string> setting_in(std::string_view file, std::string_view name);

/// The files that NCCL takes settings from: NCCL_CONF_FILE, or else .nccl.conf in the user's home (not
/// $HOME); then /etc/nccl.conf. Source: NVIDIA/nccl v2.28.9-1, src/misc/param.cc.
[[nodiscard]] std::vector<std::string> nccl_setting_files();

/// A variable as NCCL will read it: from the environment, or from those files. None when it is set nowhere.
[[nodiscard]] std::optional<std::string> nccl_setting(const std::string& name);

}  // namespace collbench
