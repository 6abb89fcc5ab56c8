#include "topology/render/render.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <ranges>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text_input.hpp"
#include "base/text_sinks.hpp"
#include "topology/catalog/finding_kinds.hpp"
#include "topology/catalog/gpus.hpp"
#include "topology/catalog/links.hpp"
#include "topology/graph/device_slots.hpp"
#include "topology/graph/lookup.hpp"
#include "topology/graph/path.hpp"

namespace collbench::topology {
namespace {

constexpr const char* kText = "#1f2328";
constexpr const char* kFaint = "#6e7781";
constexpr const char* kNumaFill = "#f6f8fa";
constexpr const char* kSwitchFill = "#eaeef2";
constexpr const char* kGpuFill = "#c8e6c9";
constexpr const char* kNicFill = "#cfe2ff";
constexpr const char* kNvSwitchFill = "#e9d8fd";
constexpr const char* kNvLink = "#8250df";
constexpr const char* kBrokenFill = "#ffb3b8";
constexpr const char* kDegradedFill = "#ffd8a8";
constexpr const char* kDiffersFill = "#fff3a3";
constexpr const char* kPage = "#ffffff";

constexpr int kNoNumaNode = std::numeric_limits<int>::max();  // a NUMA node: drawn last
constexpr std::size_t kMaxSwitchesDrawn = 6;  // of an NVLink rack a node sees 18: they become one box

const char* fill_of(Severity severity) {
  switch (severity) {
    case Severity::broken:
      return kBrokenFill;
    case Severity::degraded:
      return kDegradedFill;
    case Severity::differs:
    case Severity::cosmetic:
      break;
  }
  return kDiffersFill;
}

/// Devices that meet below one switch; a device that meets none is alone.
struct Box {
  std::optional<int> numa_node;
  std::vector<Device> gpus;
  std::vector<Device> nics;
};

class Drawing {
 public:
  Drawing(const Host& host, const std::vector<DrawingMark>& marks) : host_(host), marks_(marks) {
    for (const Device& device : in_order()) put(device);
  }

  std::string draw(const std::string& title) {
    line("digraph machine {{");
    line(R"(  graph [fontname="Helvetica,Arial,sans-serif", fontsize=12, fontcolor="{}", bgcolor="{}",)",
         kText, kPage);
    line(R"(    rankdir=TB, newrank=true, nodesep=0.15, ranksep=0.9, splines=true, labelloc=b, label=<{}>];)",
         marks());
    line(R"(  node [fontname="Helvetica,Arial,sans-serif", fontsize=12, fontcolor="{}", shape=plain];)",
         kText);
    line(
        R"(  edge [fontname="Helvetica,Arial,sans-serif", fontsize=10, fontcolor="{0}", color="{0}", dir=none];)",
        kNvLink);
    line(R"(  subgraph cluster_machine {{ label="{}"; labelloc=t; fontsize=15; peripheries=0;)",
         dot_text(title));
    draw_numa_nodes();
    draw_nvswitches();
    draw_nvlinks();
    line("  }}\n}}");
    return std::move(text_);
  }

 private:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += fmt::format(format, std::forward<Arguments>(arguments)...) + "\n";
  }

  [[nodiscard]] std::vector<Device> in_order() const {
    std::vector<Device> devices;
    for (const DeviceSlot& slot : slot_plan(host_).slots) {
      if (slot.device.kind != DeviceKind::nvswitch) devices.push_back(slot.device);
    }
    return devices;
  }

  void put(const Device& device) {
    const auto below_one_switch = [&](const Box& box) {
      const auto near = [&](const Device& other) {
        return nearness(host_, device, other) == Nearness::one_switch;
      };
      return std::ranges::any_of(box.gpus, near) || std::ranges::any_of(box.nics, near);
    };
    auto box = std::ranges::find_if(boxes_, below_one_switch);
    if (box == boxes_.end()) {
      boxes_.push_back({numa_node_of(host_, device), {}, {}});
      box = boxes_.end() - 1;
    }
    (device.kind == DeviceKind::gpu ? box->gpus : box->nics).push_back(device);
    box_of_.emplace_back(device, box - boxes_.begin());
  }

  /// " [1] [3]", and the color of the worst.
  [[nodiscard]] std::pair<std::string, const char*> mark_of(const Device& device,
                                                            const char* otherwise) const {
    std::string numbers;
    std::optional<Severity> worst;
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      const auto& devices = marks_[i].devices;
      if (std::ranges::find(devices, device) == devices.end()) continue;
      numbers += fmt::format(" <b>[{}]</b>", i + 1);
      worst = std::min(worst.value_or(Severity::cosmetic), marks_[i].severity);
    }
    return {numbers, worst ? fill_of(*worst) : otherwise};
  }

  [[nodiscard]] std::string pcie_of(const Device& device) const {
    const PciDevice* pci = find_pci_device(host_, device);
    if (pci == nullptr) return {};
    const int generation = pcie_generation(pci->link_max.gigatransfers_per_second.value_or(0));
    const int width = pci->link_now.width.value_or(pci->link_max.width.value_or(0));
    if (generation == 0 || width == 0) return {};
    return fmt::format("Gen{} x{}", generation, width);
  }

  /// The second line of a device.
  [[nodiscard]] std::string details(const Device& device) const {
    std::string first;
    if (device.kind == DeviceKind::gpu) {
      const std::string name = host_.gpus.at(static_cast<std::size_t>(device.index)).model.value_or("");
      const GpuModel* model = find_gpu_model(name);
      first = model != nullptr ? std::string(model->name) : name;
    } else {
      double gigabits = 0;
      for (const NicPort& port : host_.nics.at(static_cast<std::size_t>(device.index)).ports)
        gigabits += port.gigabits_per_second.value_or(0);
      if (gigabits > 0) first = fmt::format("{:g} Gb/s", gigabits);
    }
    const std::string pcie = pcie_of(device);
    return first + (first.empty() || pcie.empty() ? "" : " · ") + pcie;
  }

  /// The third line of a GPU.
  [[nodiscard]] std::string nvlink_text(const Device& device) const {
    const int links = device.kind == DeviceKind::gpu ? nvlinks_of(host_, device) : 0;
    return links == 0 ? "" : fmt::format("{} NVLink{}", links, links == 1 ? "" : "s");
  }

  [[nodiscard]] std::string cell(const Device& device) const {
    const bool gpu = device.kind == DeviceKind::gpu;
    const auto [numbers, fill] = mark_of(device, gpu ? kGpuFill : kNicFill);
    std::string words = "<b>" + xml_text(device_label(host_, device)) + "</b>" + numbers;
    for (const std::string& more : {details(device), nvlink_text(device)}) {
      if (!more.empty()) words += fmt::format(R"(<br/><font point-size="9">{}</font>)", xml_text(more));
    }
    return fmt::format(R"(<td port="{}{}" bgcolor="{}" cellpadding="5">{}</td>)", gpu ? "g" : "n",
                       device.index, fill, words);
  }

  /// NICs first, so that NVLinks leave from below the GPUs.
  void draw_box(std::size_t index) {
    const Box& box = boxes_[index];
    const std::size_t devices = box.gpus.size() + box.nics.size();
    const std::size_t columns =
        std::max({box.gpus.size(), std::size_t{devices > 6 ? 2U : 1U}, std::size_t{1}});
    std::string rows;
    if (devices > 1) {
      rows += fmt::format(
          R"(<tr><td border="0" colspan="{}"><font point-size="9" color="{}">PCIe switch</font></td></tr>)",
          columns, kFaint);
    }
    for (std::size_t i = 0; i < box.nics.size(); i += columns) {
      rows += "<tr>";
      for (std::size_t j = i; j < std::min(i + columns, box.nics.size()); ++j) rows += cell(box.nics[j]);
      rows += "</tr>";
    }
    if (!box.gpus.empty()) {
      rows += "<tr>";
      for (const Device& gpu : box.gpus) rows += cell(gpu);
      rows += "</tr>";
    }
    line(
        R"(    box{} [label=<<table border="0" cellborder="1" cellspacing="3" color="{}" bgcolor="{}">{}</table>>];)",
        index, kFaint, devices > 1 ? kSwitchFill : kNumaFill, rows);
  }

  [[nodiscard]] std::string numa_label(std::optional<int> index) const {
    if (!index) return "NUMA node unknown";
    for (int i = 0; i < static_cast<int>(host_.numa_nodes.size()); ++i) {
      const NumaNode& node = host_.numa_nodes[static_cast<std::size_t>(i)];
      if (node.index != *index) continue;
      std::string label = fmt::format("NUMA {}", *index);
      if (node.cpus.known()) label += "  CPUs " + *node.cpus.value;
      for (std::size_t mark = 0; mark < marks_.size(); ++mark) {
        const auto& devices = marks_[mark].devices;
        if (std::ranges::find(devices, Device{DeviceKind::numa_node, i}) != devices.end())
          label += fmt::format(" [{}]", mark + 1);
      }
      return label;
    }
    return fmt::format("NUMA {}", *index);
  }

  void draw_numa_nodes() {
    std::map<int, std::vector<std::size_t>> by_node;
    for (std::size_t i = 0; i < boxes_.size(); ++i)
      by_node[boxes_[i].numa_node.value_or(kNoNumaNode)].push_back(i);
    // Graphviz lays clusters of clusters out from the right.
    for (const auto& [node, boxes] : std::views::reverse(by_node)) {
      line("  subgraph cluster_numa{} {{ peripheries=1;", node);
      line(R"(    style="filled,rounded"; color="{}"; fillcolor="{}"; margin=10; label="{}";)", kFaint,
           kNumaFill, dot_text(numa_label(node == kNoNumaNode ? std::nullopt : std::optional<int>(node))));
      for (const std::size_t box : boxes) draw_box(box);
      line("  }}");
    }
    // Each NUMA node by itself: a chain across them turns them round.
    for (const auto& [node, boxes] : by_node) {
      std::vector<std::string> in_a_row;
      for (const std::size_t box : boxes) in_a_row.push_back(fmt::format("box{}", box));
      keep_order(in_a_row);
    }
  }

  /// On one level, from left to right.
  void keep_order(const std::vector<std::string>& nodes) {
    if (nodes.size() > 1) line("  {{ rank=same; {} [style=invis]; }}", fmt::join(nodes, " -> "));
  }

  [[nodiscard]] bool one_box_of_switches() const {
    return host_.nvswitches.size() > kMaxSwitchesDrawn || host_.nvswitches.empty();
  }

  [[nodiscard]] std::size_t switches_drawn() const {
    if (!has_nvswitch(host_)) return 0;
    return one_box_of_switches() ? 1 : host_.nvswitches.size();
  }

  void draw_nvswitches() {
    for (std::size_t i = 0; i < switches_drawn(); ++i) {
      const auto [numbers, fill] = mark_of({DeviceKind::nvswitch, static_cast<int>(i)}, kNvSwitchFill);
      const std::string name = !one_box_of_switches() ? fmt::format("NVSwitch {}", i)
                               : host_.nvswitches.empty()
                                   ? std::string("NVSwitches")
                                   : fmt::format("{} NVSwitches", host_.nvswitches.size());
      line(
          R"(  nvswitch{} [label=<<table border="0" cellborder="1" cellspacing="0" color="{}"><tr><td bgcolor="{}" cellpadding="7"><b>{}</b>{}</td></tr></table>>];)",
          i, kFaint, fill, name, numbers);
    }
  }

  [[nodiscard]] std::string port_of(const Device& gpu) const {
    const auto found = std::ranges::find_if(box_of_, [&](const auto& each) { return each.first == gpu; });
    return fmt::format("box{}:g{}", found->second, gpu.index);
  }

  void draw_nvlinks() {
    const int gpus = static_cast<int>(host_.gpus.size());
    for (int i = 0; i < gpus; ++i) {
      const Device from{DeviceKind::gpu, i};
      if (switches_drawn() > 0) {
        draw_links_to_switches(from);
      } else {
        for (int j = i + 1; j < gpus; ++j) draw_pair(from, {DeviceKind::gpu, j});
      }
    }
  }

  void draw_links_to_switches(const Device& from) {
    for (std::size_t i = 0; i < switches_drawn(); ++i) {
      const bool linked = one_box_of_switches() ||
                          wired_nvlinks(host_, from, {DeviceKind::nvswitch, static_cast<int>(i)}) > 0;
      if (linked) line("  {}:s -> nvswitch{};", port_of(from), i);
    }
  }

  /// Below both, a point with the number of links; where the two directions disagree, both numbers.
  void draw_pair(const Device& from, const Device& to) {
    const int there = wired_nvlinks(host_, from, to);
    const int back = wired_nvlinks(host_, to, from);
    if (there == 0 && back == 0) return;
    const std::string label = there == back ? fmt::format("{}", there) : fmt::format("{} / {}", there, back);
    const std::string name = fmt::format("link{}_{}", from.index, to.index);
    line(
        R"(  {} [shape=box, style="rounded,filled", height=0.2, width=0.2, margin="0.05,0.02", fontsize=10, color="{}", fillcolor="{}", label="{}"];)",
        name, kNvLink, kNvSwitchFill, label);
    line("  {}:s -> {}; {}:s -> {};", port_of(from), name, port_of(to), name);
  }

  /// A browser's font may be some per cent wider than the one that Graphviz measures with.
  static std::string room_for(const std::string& text) {
    std::string room;
    for (std::size_t i = 0; i <= text.size() / 20; ++i) room += "&#160;";
    return room;
  }

  /// The list below the drawing; Graphviz wants something in a label.
  [[nodiscard]] std::string marks() const {
    std::string rows;
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      rows += fmt::format(R"(<tr><td bgcolor="{}" align="left"><b>[{}]</b>&#160; {} {}{}</td></tr>)",
                          fill_of(marks_[i].severity), i + 1, severity_name(marks_[i].severity),
                          xml_text(marks_[i].text), room_for(marks_[i].text));
    }
    if (rows.empty()) return " ";
    return fmt::format(R"(<table border="0" cellborder="0" cellspacing="3" cellpadding="4">{}</table>)",
                       rows);
  }

  const Host& host_;
  const std::vector<DrawingMark>& marks_;
  std::vector<Box> boxes_;
  std::vector<std::pair<Device, std::ptrdiff_t>> box_of_;
  std::string text_;
};

}  // namespace

const std::vector<DrawingColor>& drawing_colors() {
  static const std::vector<DrawingColor> colors{
      {kText, "#e6edf3"},         {kFaint, "#8d96a0"},       {kNumaFill, "#161b22"},
      {kSwitchFill, "#21262d"},   {kGpuFill, "#1d4428"},     {kNicFill, "#12325c"},
      {kNvSwitchFill, "#3c1e70"}, {kNvLink, "#b392f0"},      {kBrokenFill, "#8e1519"},
      {kDegradedFill, "#7a4100"}, {kDiffersFill, "#5c4a00"}, {kPage, "#0d1117"}};
  return colors;
}

std::string draw_dot(const Host& host, const std::string& title, const std::vector<DrawingMark>& marks) {
  return Drawing(host, marks).draw(title);
}

std::string svg_of(const std::string& dot) {
  const ScratchFolder folder;
  const std::string file = folder.file("machine.dot");
  write_file_by_rename(file, dot);
  const ChildLimits limits{.seconds = 60};
  const ChildResult result = run_child({"dot", "-Tsvg", file}, limits);
  if (result.end == ChildEnd::not_started) {
    throw Error(ExitStatus::not_here, "topo draw",
                "Graphviz' dot was not found: " + describe_end(result, limits),
                "install the package graphviz, or write the graph itself with -o FILE.dot");
  }
  if (!result.succeeded() || result.cut) {
    throw usage_error("dot -Tsvg",
                      fmt::format("{}: {}", describe_end(result, limits), excerpt(result.err, 200)),
                      "write the graph itself with -o FILE.dot, and run dot on it to see the error");
  }
  return with_dark_colors(result.out);
}

std::string with_dark_colors(std::string svg) {
  const std::size_t open = svg.find("<svg");
  const std::size_t close = open == std::string::npos ? open : svg.find('>', open);
  if (close == std::string::npos) return svg;
  std::string style = "\n<style>@media (prefers-color-scheme: dark) {\n";
  for (const DrawingColor& color : drawing_colors()) {
    for (const char* attribute : {"fill", "stroke"})
      style += fmt::format("[{0}=\"{1}\"] {{ {0}: {2} }}\n", attribute, color.light, color.dark);
  }
  // Graphviz gives its own black no attribute.
  style += fmt::format("text:not([fill]) {{ fill: {} }}\n}}</style>", drawing_colors().front().dark);
  return svg.insert(close + 1, style);
}

}  // namespace collbench::topology
