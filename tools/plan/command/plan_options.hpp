#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/plan/step/plan.hpp"

namespace collbench::program {

/// What the command line, a model file or a line of a table say of one plan.
struct PlanInput {
  analysis::PlanRequest request;
  std::string model;  ///< --model: a name of the catalog, or a file
  /// Numbers of the model, in place of the catalog's.
  std::optional<int> layers, hidden, ffn, heads, kv_heads, head_width, vocab;
  std::optional<int> experts, top_k, expert_ffn, shared_ffn, dense_layers, window, window_layers;
  std::optional<bool> gated, tied, qk_norm, parallel_block;
  std::string topology;
  std::optional<int> nodes, gpus_per_node;
};

/// One option; its name is the column of a table and, for a model's numbers, the key of a model file.
struct PlanOption {
  const char* theme;
  const char* name;  ///< "kv-heads"
  const char* value;
  const char* help;
  /// Throws Error (usage) that names `where`.
  void (*take)(PlanInput& input, const std::string& text, const std::string& where);
};

[[nodiscard]] std::span<const PlanOption> plan_options();

/// Of a table: nothing, or what published ones write where a model has none of it ("n/a", "NA", "-").
[[nodiscard]] bool is_empty_cell(const std::string& cell);

/// By name, '_' as '-'; none for another.
[[nodiscard]] const PlanOption* find_plan_option(std::string_view name);

/// The themes of the help.
inline constexpr const char* kModelTheme = "The model (a catalog's, a TOML file, or numbers)";
inline constexpr const char* kSplitTheme = "The step and how it is split (columns of a table of plans)";
inline constexpr const char* kMachineTheme = "The machine";
inline constexpr const char* kRunTheme = "The whole run";

/// The text of a model file, whose keys are options of the model. Numbers that `input` has already stay.
/// Throws Error (usage) with `path` and the line.
void take_model_text(PlanInput& input, const std::string& text, const std::string& path);

/// Fills the model of the request in: from the catalog or the model file, then the numbers. Throws Error
/// (usage).
void complete_model(PlanInput& input);

}  // namespace collbench::program
