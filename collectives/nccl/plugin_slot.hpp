#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collbench::collectives {

/// The value that a file of NCCL's settings gives to `name`: a line NAME=VALUE; the first such line counts.
/// None when there is none.
[[nodiscard]] std::optional<std::string> setting_in(std::string_view file, std::string_view name);

/// The files that NCCL takes settings from: NCCL_CONF_FILE, or else .nccl.conf in the user's home (not
/// $HOME); then /etc/nccl.conf. Source: NVIDIA/nccl v2.28.9-1, src/misc/param.cc.
[[nodiscard]] std::vector<std::string> nccl_setting_files();

/// A variable as NCCL will read it: from the environment, or from those files. None when it is set nowhere.
[[nodiscard]] std::optional<std::string> nccl_setting(const std::string& name);

/// A slot of NCCL's for a plugin: there is one of each kind, and a user's own plugin comes before ours.
struct PluginSlot {
  const char* name;      ///< in words
  const char* variable;  ///< of the environment, that names the plugin
  const char* file;      ///< that NCCL loads when nothing is named
  const char* symbol;    ///< the beginning of what the plugin exports, before its version
  int first_nccl;        ///< the first NCCL whose plugins are given what we want to know
};

/// Source of the files and symbols: NVIDIA/nccl v2.30.7-1, src/plugin; of the versions: when NCCL's cost
/// table (tuner version 3) and its profiler came.
inline constexpr PluginSlot kTunerSlot{"tuner plugin", "NCCL_TUNER_PLUGIN", "libnccl-tuner.so",
                                       "ncclTunerPlugin_v", 22200};
inline constexpr PluginSlot kProfilerSlot{"profiler plugin", "NCCL_PROFILER_PLUGIN", "libnccl-profiler.so",
                                          "ncclProfiler_v", 22300};

/// What there is on this machine; functions, so that tests can say.
struct PluginSearchEnvironment {
  /// A variable as NCCL reads it.
  std::function<std::optional<std::string>(const std::string& name)> setting;
  /// Whether `library` can be loaded and has a symbol `symbol` followed by a version; any, when it is empty.
  std::function<bool(const std::string& library, const std::string& symbol)> offers;
};

[[nodiscard]] PluginSearchEnvironment plugin_search_environment();

/// Why our plugin stays out of `slot` in NCCL of `version`: there is no such slot, or a user has taken it.
/// Empty when it is free. A network plugin that is a tuner as well (as that of AWS is) counts: NCCL would
/// take it.
[[nodiscard]] std::string plugin_slot_conflict(const PluginSlot& slot, int version,
                                               const PluginSearchEnvironment& environment);

}  // namespace collbench::collectives
