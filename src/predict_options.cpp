#include "src/predict_options.hpp"

#include "base/units.hpp"
#include "src/add_option.hpp"
#include "src/option_values.hpp"

namespace collbench {

void add_predict_command(CLI::App& app, PredictOptions& predict) {
  CLI::App* command = app.add_subcommand(
      "predict", "what a machine should give, nothing measured: predict --topology hgx-h100 --nodes 2");
  const std::string theme = "Options";
  add_option(*command, theme, "--topology", "NAME|FILE",
             "a reference machine, or a file that describes a node",
             [&predict](const std::string& text) { predict.topology = text; })
      ->required();
  add_option(*command, theme, "--nodes", "N", "nodes like it (1)", [&predict](const std::string& text) {
    predict.nodes = parse_number(text, "--nodes", 1, 1'000'000);
  });
  add_option(*command, theme, "--ranks-per-node", "N", "GPUs used of each node (all)",
             [&predict](const std::string& text) {
               predict.ranks_per_node = parse_number(text, "--ranks-per-node", 1, 4096);
             });
  add_option(*command, theme, "--transport", "NAME",
             "ib, roce, efa, tcpx, tcpxo, plugin, staged (RDMA without GPUDirect) or sockets",
             [&predict](const std::string& text) { predict.transport = text; });
  add_option(*command, theme, "--ops", "LIST", "operations, or all (the five that a run measures)",
             [&predict](const std::string& text) { predict.operations = parse_operations(text, "--ops"); });
  add_option(*command, theme, "--sizes", "LIST", "sizes (8 B to 8 GiB)",
             [&predict](const std::string& text) { predict.sizes = parse_size_list(text, "--sizes"); });
  add_format_option(*command, theme, predict.format);
}

}  // namespace collbench
