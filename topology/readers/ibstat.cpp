#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text_input.hpp"
#include "topology/graph/nics.hpp"
#include "topology/readers/readers.hpp"

namespace collbench::topology {
namespace {

constexpr std::string_view kSaveIbstat = "save it again with: ibstat > FILE";

/// ibstat's words for the states that /sys spells as ibv_port_state does.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kIbstatStates{
    {{"Active", "ACTIVE"}, {"Down", "DOWN"}, {"Initializing", "INIT"}, {"Armed", "ARMED"}}};

/// "mlx5_0" of "CA 'mlx5_0'"; none for another line.
std::optional<std::string> device_name(std::string_view text) {
  if (!text.starts_with("CA '") || text.size() < 6 || text.back() != '\'') return std::nullopt;
  return std::string(text.substr(4, text.size() - 5));
}

/// The device and port of ibstatus, "Infiniband device 'mlx5_0' port 1 status:"; none for another line.
struct PortHeading {
  std::string device;
  int port = 0;
};
std::optional<PortHeading> port_heading(std::string_view text) {
  constexpr std::string_view kBefore = "Infiniband device '";
  if (!text.starts_with(kBefore)) return std::nullopt;
  text.remove_prefix(kBefore.size());
  const std::size_t close = text.find("' port ");
  if (close == std::string_view::npos) return std::nullopt;
  const auto number = leading_number(text.substr(close + 7));
  if (!number || *number < 0 || *number > 255) return std::nullopt;
  return PortHeading{std::string(text.substr(0, close)), static_cast<int>(*number)};
}

/// What stands behind `key`; empty for another line.
std::string_view value_of(std::string_view text, std::string_view key) {
  return text.starts_with(key) ? trim(text.substr(key.size())) : std::string_view();
}

void read_device_line(std::string_view text, Nic& nic) {
  if (const auto value = value_of(text, "Firmware version:"); !value.empty())
    nic.firmware.value = std::string(value);
  if (const auto value = value_of(text, "Node GUID:"); !value.empty()) nic.guid.value = canonical_guid(value);
  if (const auto value = value_of(text, "System image GUID:"); !value.empty())
    nic.system_guid.value = canonical_guid(value);
}

void read_port_line(std::string_view text, NicPort& port) {
  if (const auto value = value_of(text, "State:"); !value.empty()) {
    const auto* const known =
        std::ranges::find_if(kIbstatStates, [value](const auto& state) { return state.first == value; });
    port.state.value = std::string(known == kIbstatStates.end() ? value : known->second);
  }
  if (const auto value = value_of(text, "Physical state:"); !value.empty())
    port.physical_state.value = std::string(value);
  if (const auto value = value_of(text, "Rate:"); !value.empty())
    port.gigabits_per_second.value = leading_number(value);
  if (const auto value = value_of(text, "Link layer:"); !value.empty())
    port.link_layer.value = std::string(value);
}

/// Of ibstatus: "state:  4: ACTIVE", "rate:  200 Gb/sec (4X HDR)", as /sys has them.
void read_status_line(std::string_view text, NicPort& port) {
  const auto behind_number = [](std::string_view value) {
    const std::size_t colon = value.find(": ");
    return std::string(colon == std::string_view::npos ? value : trim(value.substr(colon + 2)));
  };
  if (const auto value = value_of(text, "state:"); !value.empty()) port.state.value = behind_number(value);
  if (const auto value = value_of(text, "phys state:"); !value.empty())
    port.physical_state.value = behind_number(value);
  if (const auto value = value_of(text, "rate:"); !value.empty())
    port.gigabits_per_second.value = leading_number(value);
  if (const auto value = value_of(text, "link_layer:"); !value.empty())
    port.link_layer.value = std::string(value);
}

/// "Port 1:" begins a port.
std::optional<int> port_number(std::string_view text) {
  if (!text.starts_with("Port ") || text.back() != ':') return std::nullopt;
  const auto number = parse_integer(text.substr(5, text.size() - 6), 0, 255);
  return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

void begin_device(const std::string& name, const Line& line, std::string_view file, Host& host) {
  const bool twice = std::ranges::any_of(host.nics, [&](const Nic& nic) { return nic.name.value == name; });
  if (twice) {
    throw usage_error(location(file, line.number), fmt::format("{} is listed twice", excerpt(name)),
                      "save the output of each machine to its own file");
  }
  host.nics.emplace_back().name.value = name;
}

/// Whether the text holds such an output, at least in part.
bool has_ibstat(std::string_view text) {
  return (text.find("CA '") != std::string_view::npos &&
          text.find("Physical state:") != std::string_view::npos) ||
         (text.find("Infiniband device '") != std::string_view::npos &&
          text.find("phys state:") != std::string_view::npos);
}

bool is_ibstat(const ReaderInput& input) { return !input.xml && has_ibstat(input.text); }

}  // namespace

Host read_ibstat(std::string_view text, std::string_view file) {
  require_text(text, file, "the output of ibstat");
  Host host;
  host.sources.push_back(kIbstatReader.source(file));
  for (const Line& line : clean_lines(text)) {
    const std::string_view words = trim(line.text);
    if (words.empty()) continue;
    if (const auto heading = port_heading(words)) {
      // A device of two ports has two headings, one behind the other.
      if (host.nics.empty() || host.nics.back().name.value != heading->device)
        begin_device(heading->device, line, file, host);
      host.nics.back().ports.emplace_back().number = heading->port;
    } else if (const auto name = device_name(words)) {
      begin_device(*name, line, file, host);
    } else if (host.nics.empty()) {
      continue;  // a prompt, or another command's output
    } else if (const auto number = port_number(words)) {
      host.nics.back().ports.emplace_back().number = *number;
    } else if (host.nics.back().ports.empty()) {
      read_device_line(words, host.nics.back());
    } else {
      read_port_line(words, host.nics.back().ports.back());
      read_status_line(words, host.nics.back().ports.back());
    }
  }
  if (host.nics.empty()) {
    throw usage_error(std::string(file),
                      "no line like \"CA 'mlx5_0'\"; expected the output of ibstat or ibstatus",
                      std::string(kSaveIbstat));
  }
  return host;
}

constexpr TopologyReader kIbstatReader{
    .name = "ibstat",
    .coverage = {.gpus = false, .nics = true, .nvswitches = false},
    .recognizes = is_ibstat,
    .read = read_ibstat,
};

}  // namespace collbench::topology
