#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text_input.hpp"
#include "topology/graph/pci.hpp"
#include "topology/readers/nvidia_smi/fields.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

constexpr std::string_view kSaveQuery =
    "save it again with: nvidia-smi --query-gpu=index,name,uuid,pci.bus_id --format=csv";

/// "memory.total [MiB]" to "memory.total".
std::vector<std::string> field_names(std::string_view header) {
  std::vector<std::string> names = split_cells(header, ',');
  for (std::string& name : names) name = std::string(trim(std::string_view(name).substr(0, name.find('['))));
  return names;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// "9.0" to 90.
std::optional<int> compute_capability(const std::optional<std::string>& text) {
  const std::vector<std::string> parts = split_cells(text.value_or(""), '.');
  if (parts.size() != 2) return std::nullopt;
  const auto major = parse_integer(parts[0], 1, 99);
  const auto minor = parse_integer(parts[1], 0, 9);
  if (!major || !minor) return std::nullopt;
  return static_cast<int>(*major * 10 + *minor);
}

/// One GPU: its fields by name.
class Row {
 public:
  Row(const std::vector<std::string>& names, const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < names.size(); ++i) fields_[names[i]] = known_field(cells[i]);
  }
  [[nodiscard]] std::optional<std::string> operator[](const char* name) const {
    const auto found = fields_.find(name);
    return found == fields_.end() ? std::nullopt : found->second;
  }

 private:
  std::map<std::string, std::optional<std::string>> fields_;
};

Gpu read_gpu(const Row& row) {
  Gpu gpu;
  if (const auto index = parse_integer(row["index"].value_or(""), 0, 9999))
    gpu.index.value = static_cast<int>(*index);
  gpu.pci_address.value = canonical_pci_address(row["pci.bus_id"].value_or(""));
  gpu.uuid.value = row["uuid"];
  gpu.serial.value = row["serial"];
  gpu.model.value = row["name"];
  gpu.sm.value = compute_capability(row["compute_cap"]);
  gpu.memory_bytes.value = memory_bytes(row["memory.total"]);
  gpu.mig.value = switched_on(row["mig.mode.current"]);
  gpu.fabric_state.value = row["fabric.state"];
  gpu.fabric_status.value = row["fabric.status"];
  return gpu;
}

PciDevice read_pci(const Row& row, const std::string& address) {
  PciDevice device;
  device.address = address;
  read_pci_device_id(row["pci.device_id"], device.vendor, device.device);
  read_pci_device_id(row["pci.sub_device_id"], device.subsystem_vendor, device.subsystem_device);
  device.link_now = pcie_link(row["pcie.link.gen.current"], row["pcie.link.width.current"]);
  device.link_max = pcie_link(row["pcie.link.gen.max"], row["pcie.link.width.max"]);
  return device;
}

/// Whether the line is the header of such a table.
bool is_csv_header(std::string_view line) {
  const std::vector<std::string> names = field_names(line);
  const bool query =
      std::ranges::any_of(names, [](const std::string& name) { return name.find(' ') != std::string::npos; });
  return !query && names.size() >= 2 &&
         (contains(names, "uuid") || contains(names, "pci.bus_id") || contains(names, "index"));
}

bool is_nvidia_smi_csv(const ReaderInput& input) {
  return std::ranges::any_of(input.lines, [](const Line& line) { return is_csv_header(line.text); });
}

}  // namespace

Host read_nvidia_smi_csv(std::string_view text, std::string_view file) {
  require_text(text, file, "the output of nvidia-smi --query-gpu=… --format=csv");
  const std::vector<Line> lines = clean_lines(text);
  auto line = std::ranges::find_if(lines, [](const Line& l) { return is_csv_header(l.text); });
  if (line == lines.end()) {
    throw without_nvidia_smi_output(
        lines, file,
        usage_error(location(file, 1), "no header line with uuid, pci.bus_id or index (was noheader used?)",
                    std::string(kSaveQuery)));
  }
  const std::vector<std::string> names = field_names(line->text);
  Host host;
  host.sources.push_back(kNvidiaSmiCsvReader.source(file));
  for (++line; line != lines.end() && !trim(line->text).empty() && line->text.front() != '#'; ++line) {
    const std::vector<std::string> cells = split_cells(line->text, ',');
    if (cells.size() != names.size()) {
      throw usage_error(location(file, line->number),
                        fmt::format("the row has {} cells, the header has {}", cells.size(), names.size()),
                        std::string(kSaveQuery));
    }
    const Row row(names, cells);
    host.gpus.push_back(read_gpu(row));
    if (const auto& address = host.gpus.back().pci_address.value)
      host.pci_devices.push_back(read_pci(row, *address));
    if (!host.driver_version.known()) host.driver_version.value = row["driver_version"];
  }
  if (host.gpus.empty()) {
    throw usage_error(location(file, lines.back().number), "no GPU follows the header",
                      std::string(kSaveQuery));
  }
  host.sources[0].version = host.driver_version.value_or("");
  return host;
}

constexpr TopologyReader kNvidiaSmiCsvReader{
    .name = "nvidia-smi --query-gpu",
    .coverage = {.gpus = true, .nics = false, .nvswitches = false},
    .recognizes = is_nvidia_smi_csv,
    .read = read_nvidia_smi_csv,
};

}  // namespace collbench::topology
