#include "topology/doctor/gpu_query.hpp"

#include "base/text_input.hpp"

namespace collbench::topology {

std::vector<QueryLine> query_lines(const Evidence& evidence) {
  std::vector<QueryLine> lines;
  std::string gpu;
  std::string section;
  for (const EvidenceLine& each : evidence.of("nvidia-smi-q")) {
    const std::string_view text = each.text;
    const std::size_t colon = text.find(" : ");
    const std::size_t close = text.find("</");
    if (text.starts_with("GPU 00")) {  // of nvidia-smi -L it is "GPU 0: "
      gpu = text;
    } else if (text.starts_with("<gpu id=")) {
      gpu = "GPU " + std::string(text.substr(9, text.find('"', 9) - 9));
    } else if (colon != std::string_view::npos) {
      lines.push_back({gpu, section, std::string(trim(text.substr(0, colon))),
                       std::string(trim(text.substr(colon + 3))), &each});
    } else if (text.starts_with('<') && close != std::string_view::npos && close > 0) {
      const std::size_t open = text.find('>');
      lines.push_back({gpu, section, std::string(text.substr(1, open - 1)),
                       std::string(text.substr(open + 1, close - open - 1)), &each});
    } else if (!text.starts_with("</")) {
      section = lower(text.starts_with('<') ? text.substr(1, text.find('>') - 1) : text);
    }
  }
  return lines;
}

}  // namespace collbench::topology
