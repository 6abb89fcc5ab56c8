#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

#include "base/document/svg.hpp"
#include "base/document/text_layout.hpp"
#include "base/units.hpp"
#include "tools/nccl_plan/report/report.hpp"
#include "tools/nccl_plan/report/words.hpp"

// Below the machine a lane for each ring and tree: every node is a column, and a lane passes through it in
// the order in which data visit its ranks. Lines of all channels over one picture of the machine cannot be
// told apart from eight on. Positions are worked out here, since Graphviz keeps neither lanes nor columns.

namespace collbench::analysis {
namespace {

// In pixels.
constexpr double kMargin = 14;
constexpr double kLabels = 104;   ///< what stands left of the first node
constexpr double kStop = 27;      ///< from one rank of a lane to the next
constexpr double kRadius = 11.5;  ///< of its circle
constexpr double kNicBox = 42;    ///< at both ends of a node
constexpr double kGap = 16;       ///< between nodes
constexpr double kRails = 210;    ///< what stands right of the last node
constexpr double kLevel = 15;     ///< of a bracket above the last one
constexpr double kLetter = 6.3;   ///< the width of one, of text in 11 px
constexpr double kMinWidth = 600;

std::string nic_text(const std::optional<int>& nic) { return nic ? fmt::format("NIC {}", *nic) : "NIC ?"; }

class Picture {
 public:
  explicit Picture(const NcclPlanReport& report)
      : report_(report), plan_(report.plan), per_node_(plan_.ranks / plan_.nodes) {
    for (const NcclConnection& each : plan_.connections) {
      connections_[{each.channel, each.from, each.to}] = &each;
      nics_ = std::max({nics_, each.send_nic.value_or(-1) + 1, each.receive_nic.value_or(-1) + 1});
    }
    nics_ = plan_.domains() > 1 ? std::max(nics_, static_cast<int>(plan_.nics.size())) : 0;
    const double ends = plan_.domains() > 1 ? kNicBox + 12 : 8;
    first_stop_ = ends + kStop / 2;
    node_width_ = std::max(2 * ends + per_node_ * kStop, 110.0);
    const double nodes = kMargin + kLabels + plan_.nodes * (node_width_ + kGap);
    width_ = std::max(nodes + (plan_.domains() > 1 ? kRails : 0), kMinWidth);
  }

  std::string draw() {
    svg_ = begin_svg(document_, nccl_plan_title(plan_));
    const pugi::xml_node page = draw_shape(svg_, "rect", "page", 0, 0);
    y_ = kMargin + 12;
    heading();
    columns_ = svg_.append_child("g");  // behind what is in them
    machine();
    const bool one = plan_.domains() == 1;
    lanes(one ? "rings by channel: left to right, and back by the bracket"
              : "rings by channel: left to right in each node, on through its NICs, and back by the bracket",
          ring_lanes(plan_));
    lanes("trees by channel: from the root, which is filled, to its children", tree_lanes(plan_));
    y_ += 22;
    footer();
    set_size(page, width_, y_);
    return finish_svg(document_, width_, y_);
  }

 private:
  /// Lines of text over the whole width.
  void paragraph(const char* style, const std::string& words, double letter = kLetter) {
    const int columns = static_cast<int>((width_ - 2 * kMargin) / letter);
    std::istringstream lines(wrap(one_line(words), columns, "", "   "));
    for (std::string line; std::getline(lines, line); y_ += letter * 2.6)
      draw_text(svg_, style, kMargin, y_, line);
  }

  void heading() {
    paragraph("title", nccl_plan_title(plan_), 9);
    paragraph("faint", plan_.library);
    paragraph("faint", kNcclPlanOrigin);
    for (const std::string& note : report_.notes) paragraph("faint", "note: " + note);
    for (const NcclAlgorithm algorithm : kSearchedAlgorithms) {
      const auto graph = agreed_graph(plan_, algorithm);
      if (!graph) continue;
      const std::string inside = channel_rate(graph->intra_bytes_per_second);
      const std::string between =
          plan_.domains() > 1
              ? fmt::format(" inside a node, {} between nodes; paths {} and, to a NIC, {}",
                            channel_rate(graph->inter_bytes_per_second), graph->intra_type, graph->inter_type)
              : fmt::format("; paths {}", graph->intra_type);
      paragraph("", fmt::format("{}: {} of {} GB/s each{}", name(algorithm),
                                counted(graph->channels, "channel"), inside, between));
    }
    paragraph("", channels_that_run(plan_));
  }

  [[nodiscard]] double node_x(int node) const { return kMargin + kLabels + node * (node_width_ + kGap); }
  [[nodiscard]] double stop_x(int node, std::size_t position) const {
    return node_x(node) + first_stop_ + static_cast<double>(position) * kStop;
  }
  [[nodiscard]] double nic_pitch() const { return std::min(kStop, (node_width_ - 8) / std::max(1, nics_)); }
  [[nodiscard]] double nic_x(int node, int nic) const {
    return node_x(node) + node_width_ / 2 + (nic - (nics_ - 1) / 2.0) * nic_pitch();
  }

  [[nodiscard]] std::string nic_name(int nic) const {
    return std::cmp_less(nic, plan_.nics.size()) ? " " + one_line(plan_.nics[static_cast<std::size_t>(nic)])
                                                 : "";
  }

  void machine() {
    y_ += 10;
    const double gpu_y = y_ + 16;
    const double nic_y = gpu_y + 50;
    draw_text(svg_, "", kMargin, gpu_y + 15, "GPUs, by rank");
    if (nics_ > 0) draw_text(svg_, "", kMargin, nic_y + 15, "NICs");
    for (int node = 0; node < plan_.nodes; ++node) {
      draw_text(svg_, "head mid", node_x(node) + node_width_ / 2, gpu_y - 8, fmt::format("node {}", node));
      if (nics_ > 0) wires(node, gpu_y + 22, nic_y);
      for (int gpu = 0; gpu < per_node_; ++gpu) {
        const int rank = node * per_node_ + gpu;
        const double x = stop_x(node, static_cast<std::size_t>(gpu));
        const pugi::xml_node group = svg_.append_child("g");
        set_tooltip(group, fmt::format("rank {}: GPU {} of node {}{}", rank, gpu, node, head_of(rank)));
        set_size(draw_shape(group, "rect", "gpu", x - 12, gpu_y), 24, 22);
        draw_text(group, "mid", x, gpu_y + 15, fmt::format("{}", rank));
      }
      for (int nic = 0; nic < nics_; ++nic) {
        const pugi::xml_node group = svg_.append_child("g");
        set_tooltip(group, fmt::format("NIC {}{} of node {}", nic, nic_name(nic), node));
        const double size = nic_pitch() - 3;
        set_size(draw_shape(group, "rect", "port", nic_x(node, nic) - size / 2, nic_y), size, 22);
        draw_text(group, "mid nic", nic_x(node, nic), nic_y + 15, fmt::format("{}", nic));
      }
    }
    y_ = (nics_ > 0 ? nic_y : gpu_y) + 22;
    if (nics_ > 0) rails(y_);
    y_ += 12;
    columns(gpu_y - 24);
  }

  /// The nodes, from `top` to here.
  void columns(double top) {
    for (int node = 0; node < plan_.nodes; ++node) {
      pugi::xml_node box =
          set_size(draw_shape(columns_, "rect", "node", node_x(node), top), node_width_, y_ - top);
      box.append_attribute("rx") = 6;
    }
  }

  [[nodiscard]] std::string head_of(int rank) const {
    for (std::size_t head = 0; head < plan_.nvls_heads.size(); ++head) {
      const auto& ranks = plan_.nvls_heads[head];
      if (std::ranges::find(ranks, rank) != ranks.end()) return fmt::format(", NVLS head {}", head);
    }
    return "";
  }

  /// From each GPU to the NICs that carry its connections.
  void wires(int node, double from_y, double to_y) {
    std::set<std::pair<int, int>> pairs;
    for (const NcclConnection& each : plan_.connections) {
      if (each.from / per_node_ == node && each.send_nic) pairs.insert({each.from, *each.send_nic});
      if (each.to / per_node_ == node && each.receive_nic) pairs.insert({each.to, *each.receive_nic});
    }
    for (const auto& [rank, nic] : pairs) {
      const double x = stop_x(node, static_cast<std::size_t>(rank % per_node_));
      set_tooltip(draw_path(svg_, "wire",
                            fmt::format("M{} {}L{} {}", pixels(x), pixels(from_y), pixels(nic_x(node, nic)),
                                        pixels(to_y))),
                  fmt::format("rank {} uses NIC {}{}", rank, nic, nic_name(nic)));
    }
  }

  void rails(double nic_bottom) {
    const std::vector<NcclRail> all = rails_of(plan_);
    y_ += 6;
    if (all.empty()) {
      y_ += 14;
      draw_text(svg_, "faint", kMargin, y_, "no connection between nodes was made");
    }
    for (const NcclRail& rail : all) {
      y_ += 15;
      std::set<int> nics;
      std::string way;
      std::string dots;
      std::vector<double> at;
      for (const auto& [node, nic] : rail.ends) {
        nics.insert(nic);
        at.push_back(nic_x(node, nic));
        way += fmt::format("M{} {}V{}", pixels(at.back()), pixels(nic_bottom), pixels(y_));
        dots += fmt::format("M{} {}h0", pixels(at.back()), pixels(y_));
      }
      way += fmt::format("M{} {}H{}", pixels(*std::ranges::min_element(at)), pixels(y_),
                         pixels(*std::ranges::max_element(at)));
      const std::string name =
          fmt::format("NIC{} {}", nics.size() > 1 ? "s" : "", number_ranges({nics.begin(), nics.end()}));
      const std::string channels = "channels " + number_ranges({rail.channels.begin(), rail.channels.end()});
      const pugi::xml_node group = svg_.append_child("g");
      set_tooltip(group, fmt::format("rail of {}: {}", name, channels));
      draw_path(group, "wire", way);
      draw_path(group, "dot", dots);
      draw_text(group, "", kMargin, y_ + 4, shorten("rail " + name, static_cast<int>(kLabels / kLetter)));
      draw_text(group, "faint", node_x(plan_.nodes), y_ + 4,
                shorten(channels, static_cast<int>(kRails / kLetter)));
    }
  }

  void lanes(const char* title, const std::vector<NcclLane>& all) {
    if (all.empty()) return;
    y_ += 22;
    draw_text(svg_, "head", kMargin, y_, title);
    y_ += 8;
    const double top = y_;
    for (std::size_t i = 0; i < all.size(); ++i) lane(all[i], i % kLaneColors);
    y_ += 9;
    columns(top);
  }

  [[nodiscard]] const NcclConnection* connection(int channel, const NcclHop& hop) const {
    const auto found = connections_.find({channel, hop.from, hop.to});
    return found == connections_.end() ? nullptr : found->second;
  }

  /// Above the lane, from one rank or NIC to another.
  struct Bracket {
    double from;
    double to;
    double from_drop;  ///< how far above the lane's line it begins
    std::string words;
    bool made;  ///< NCCL made the connection
    int level = 0;
  };

  using Stops = std::map<int, std::pair<int, std::size_t>>;  // by rank: its node, its position there

  /// A lane's lines, to be moved to its height, which is not known before the brackets are.
  struct Route {
    std::string solid;
    std::string dashed;
    std::vector<std::pair<double, std::string>> nics;
    std::vector<Bracket> brackets;

    void line(bool made, double from, double to) {
      (made ? solid : dashed) += fmt::format("M{} 0H{}", pixels(from), pixels(to));
    }
  };

  void add_hop(const NcclLane& lane, const Stops& stops, const NcclHop& hop, Route& route) const {
    const auto [from_node, from] = stops.at(hop.from);
    const auto [to_node, to] = stops.at(hop.to);
    const double from_x = stop_x(from_node, from);
    const double to_x = stop_x(to_node, to);
    const bool last = from + 1 == lane.visits[static_cast<std::size_t>(from_node)].size();
    const bool next_node = to_node == from_node + 1;
    if (plan_.in_one_domain(hop.from, hop.to)) {
      const bool next = from_node == to_node ? to == from + 1 : next_node && last && to == 0;
      if (next)
        route.line(true, from_x, to_x);
      else
        route.brackets.push_back({from_x, to_x, kRadius, "", true});
      return;
    }
    const NcclConnection* const connected = connection(lane.channel, hop);
    const bool made = connected != nullptr;
    if (lane.root || !last || to != 0) {
      const std::string words =
          made ? nic_text(connected->send_nic) + " → " + nic_text(connected->receive_nic).substr(4) : "";
      route.brackets.push_back({from_x, to_x, kRadius, words, made});
      return;
    }
    const double out = node_x(from_node) + node_width_ - kNicBox / 2 - 3;
    const double in = node_x(to_node) + kNicBox / 2 + 3;
    route.line(made, from_x, out);
    route.line(made, in, to_x);
    if (made) {
      route.nics.emplace_back(out, nic_text(connected->send_nic));
      route.nics.emplace_back(in, nic_text(connected->receive_nic));
    }
    if (next_node)
      route.line(made, out, in);
    else
      route.brackets.push_back({out, in, made ? 8.0 : 0.0, "", made});
  }

  void lane(const NcclLane& lane, std::size_t color) {
    Stops stops;
    for (int node = 0; node < plan_.nodes; ++node) {
      const auto& ranks = lane.visits[static_cast<std::size_t>(node)];
      for (std::size_t i = 0; i < ranks.size(); ++i) stops[ranks[i]] = {node, i};
    }
    Route route;
    for (const NcclHop& hop : lane.hops) add_hop(lane, stops, hop, route);
    y_ += 12 + kRadius + put_on_levels(route.brackets) * kLevel;
    pugi::xml_node group = svg_.append_child("g");
    group.append_attribute("transform") = fmt::format("translate(0 {})", pixels(y_)).c_str();
    set_tooltip(group, lane.label + ": " + lane.words);
    group.append_attribute("class") = fmt::format("lane c{}", color).c_str();
    for (const Bracket& each : route.brackets) {
      const double top = kRadius + 4 + each.level * kLevel;
      (each.made ? route.solid : route.dashed) +=
          fmt::format("M{} {}V{}H{}V{}", pixels(each.from), pixels(-each.from_drop), pixels(-top),
                      pixels(each.to), pixels(-each.from_drop));
      if (!each.words.empty())
        draw_text(group, "mid nic", (each.from + each.to) / 2, 1 - top - 4, each.words);
    }
    if (!route.solid.empty()) draw_path(group, "", route.solid);
    dashed_ = dashed_ || !route.dashed.empty();
    if (!route.dashed.empty()) draw_path(group, "none", route.dashed);
    for (const auto& [x, words] : route.nics) {
      set_size(draw_shape(group, "rect", "port", x - kNicBox / 2, -8), kNicBox, 16);
      draw_text(group, "mid nic", x, 4, words);
    }
    draw_text(group, "", kMargin, 4, shorten(lane.label, static_cast<int>(kLabels / kLetter)));
    draw_ranks(group, stops, lane.root);
    y_ += kRadius;
  }

  void draw_ranks(pugi::xml_node group, const Stops& stops, std::optional<int> root) const {
    std::string circles;
    std::string insides;  // of all but the root
    pugi::xml_node numbers = draw_text(group, "mid", 0, 4, "");
    for (const auto& [rank, stop] : stops) {
      const std::string x = pixels(stop_x(stop.first, stop.second));
      circles += "M" + x + " 0h0";
      if (rank != root) insides += "M" + x + " 0h0";
      pugi::xml_node number = numbers.append_child("tspan");
      number.append_attribute("x") = x.c_str();
      if (rank == root) number.append_attribute("class") = "root";
      number.text().set(rank);
    }
    group.insert_move_before(draw_path(group, "out", circles), numbers);
    group.insert_move_before(draw_path(group, "in", insides), numbers);
  }

  /// So that no two cross on one level; how many levels that takes.
  static int put_on_levels(std::vector<Bracket>& brackets) {
    std::ranges::sort(brackets, [](const Bracket& a, const Bracket& b) {
      return std::abs(a.to - a.from) < std::abs(b.to - b.from);
    });
    int levels = 0;
    for (std::size_t i = 0; i < brackets.size(); ++i) {
      Bracket& bracket = brackets[i];
      const auto [left, right] = std::minmax(bracket.from, bracket.to);
      for (std::size_t j = 0; j < i; ++j) {
        const auto [other_left, other_right] = std::minmax(brackets[j].from, brackets[j].to);
        if (left <= other_right && other_left <= right)
          bracket.level = std::max(bracket.level, brackets[j].level + 1);
      }
      levels = std::max(levels, bracket.level + 1);
    }
    return levels;
  }

  void footer() {
    if (nics_ > 0 && !plan_.nics.empty()) paragraph("", nic_words(plan_));
    if (!plan_.nvls_heads.empty()) paragraph("", nvls_head_words(plan_));
    if (plan_.domains() > 1) paragraph("faint", "NIC a → b: of the parent's node and of the child's");
    if (dashed_)
      paragraph("faint",
                "dashed: a connection that NCCL did not make, since it chose no algorithm that needs it");
    for (const std::string& warning : plan_.warnings) paragraph("", "NCCL: " + warning);
  }

  const NcclPlanReport& report_;
  const NcclPlan& plan_;
  int per_node_;
  int nics_ = 0;
  std::map<std::tuple<int, int, int>, const NcclConnection*> connections_;
  double first_stop_ = 0;
  double node_width_ = 0;
  double width_ = 0;
  double y_ = 0;         ///< how far down it is drawn
  bool dashed_ = false;  ///< something was
  pugi::xml_document document_;
  pugi::xml_node svg_;
  pugi::xml_node columns_;
};

}  // namespace

std::string nccl_plan_svg(const NcclPlanReport& report) { return Picture(report).draw(); }

}  // namespace collbench::analysis
