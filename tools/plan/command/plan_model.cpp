#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/files.hpp"
#include "src/cli/toml_text.hpp"
#include "tools/plan/command/plan_options.hpp"
#include "tools/plan/job/model_catalog.hpp"

namespace collbench::program {
namespace {

bool is_model_file(const std::string& text) {
  return text.ends_with(".toml") || text.find('/') != std::string::npos;
}

std::string value_of(const toml::node& value, const std::string& where) {
  if (const auto* text = value.as_string()) return text->get();
  if (const auto* number = value.as_integer()) return fmt::format("{}", number->get());
  if (const auto* flag = value.as_boolean()) return flag->get() ? "true" : "false";
  throw usage_error(where, "this is no whole number, text, true or false",
                    "write key = value, such as layers = 80");
}

void require_numbers(const analysis::ModelShape& shape) {
  std::vector<std::string> missing;
  const auto need = [&](int value, const char* name) {
    if (value == 0) missing.emplace_back(name);
  };
  need(shape.layers, "--layers"), need(shape.hidden, "--hidden"), need(shape.heads, "--heads");
  need(shape.vocab, "--vocab");
  if (shape.experts.count == 0) need(shape.ffn, "--ffn");
  if (!missing.empty()) {
    throw usage_error("--model", fmt::format("the model needs {}", fmt::join(missing, ", ")),
                      "give them, or a name of the catalog such as llama-3.1-70b");
  }
  if (shape.head_width == 0 && shape.hidden % shape.heads != 0) {
    throw usage_error(
        "--heads", fmt::format("a hidden state of {} does not divide by {} heads", shape.hidden, shape.heads),
        "give heads that divide it, or --head-width");
  }
  if (shape.kv_heads > shape.heads || shape.heads % shape.kv_heads != 0) {
    throw usage_error("--kv-heads", fmt::format("{} heads do not divide by {}", shape.heads, shape.kv_heads),
                      "give a number that divides the heads");
  }
  if (shape.window_layers > (shape.window > 0 ? shape.layers : 0)) {
    throw usage_error("--window-layers", "layers with a window are of --window, and not more than there are",
                      "give --window, and no more than --layers");
  }
  if (shape.experts.count > 0 && (shape.experts.top_k == 0 || shape.experts.ffn == 0)) {
    throw usage_error("--experts", "a mixture needs the experts of a token and their width",
                      "give --top-k and --expert-ffn");
  }
  if (shape.experts.top_k > shape.experts.count || shape.experts.dense_layers > shape.layers) {
    throw usage_error("--experts",
                      "a token cannot pass more experts, nor a model have more dense layers, than there are",
                      "give a smaller --top-k or --dense-layers");
  }
}

}  // namespace

void take_model_text(PlanInput& input, const std::string& text, const std::string& path) {
  PlanInput from_file;
  std::string name = std::filesystem::path(path).stem().string();
  const toml::table document = parse_toml(text, path, "write key = value, such as layers = 80");
  for (const auto& [key, value] : document) {
    const std::string where = fmt::format("{}:{}", path, key.source().begin.line);
    if (key.str() == "name") {
      name = value_of(value, where);
      continue;
    }
    const PlanOption* const option = find_plan_option(key.str());
    if (option == nullptr || (std::string_view(option->theme) != kModelTheme && key.str() != "seq") ||
        key.str() == "model") {
      throw usage_error(
          where, fmt::format("unknown key '{}'", key.str()),
          "keys are name, seq, and the options of the model: layers, hidden, ffn, heads, kv_heads, vocab, …");
    }
    option->take(from_file, value_of(value, where), where);
  }
  input.request.model.name = name;
  const auto keep = [&](auto... members) {
    ((input.*members = input.*members ? input.*members : from_file.*members), ...);
  };
  keep(&PlanInput::layers, &PlanInput::hidden, &PlanInput::ffn, &PlanInput::heads, &PlanInput::kv_heads,
       &PlanInput::head_width, &PlanInput::vocab, &PlanInput::experts, &PlanInput::top_k,
       &PlanInput::expert_ffn, &PlanInput::shared_ffn, &PlanInput::dense_layers, &PlanInput::window,
       &PlanInput::window_layers);
  keep(&PlanInput::gated, &PlanInput::tied, &PlanInput::qk_norm, &PlanInput::parallel_block);
  if (!input.request.sequence) input.request.sequence = from_file.request.sequence;
}

void complete_model(PlanInput& input) {
  analysis::ModelShape& shape = input.request.model;
  shape.name = "the model";
  if (is_model_file(input.model)) {
    take_model_text(input, read_file(input.model, kMaxTomlBytes), input.model);
  } else if (!input.model.empty()) {
    const analysis::CatalogModel& known = analysis::find_model(input.model);
    shape = known.shape;
    input.request.usual_sequence = known.sequence;
  }
  const bool is_known = shape.layers > 0;
  const analysis::ModelShape published = shape;
  shape.layers = input.layers.value_or(shape.layers);
  shape.hidden = input.hidden.value_or(shape.hidden);
  shape.ffn = input.ffn.value_or(shape.ffn);
  shape.heads = input.heads.value_or(shape.heads);
  shape.kv_heads = input.kv_heads.value_or(is_known && !input.heads ? shape.kv_heads : shape.heads);
  shape.head_width = input.head_width.value_or(shape.head_width);
  shape.vocab = input.vocab.value_or(shape.vocab);
  shape.experts.count = input.experts.value_or(shape.experts.count);
  shape.experts.top_k = input.top_k.value_or(shape.experts.top_k);
  shape.experts.ffn = input.expert_ffn.value_or(shape.experts.ffn);
  shape.experts.shared_ffn = input.shared_ffn.value_or(shape.experts.shared_ffn);
  shape.experts.dense_layers = input.dense_layers.value_or(shape.experts.dense_layers);
  shape.gated = input.gated.value_or(is_known ? shape.gated : shape.ffn != 4 * shape.hidden);
  shape.tied = input.tied.value_or(shape.tied);
  shape.qk_norm = input.qk_norm.value_or(shape.qk_norm);
  shape.parallel_block = input.parallel_block.value_or(shape.parallel_block);
  shape.window = input.window.value_or(shape.window);
  shape.window_layers = input.window_layers.value_or(shape.window_layers);
  require_numbers(shape);
  if (is_known && !(shape == published)) shape.name += " (changed)";
}

}  // namespace collbench::program
