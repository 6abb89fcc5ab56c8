#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/document/svg.hpp"
#include "base/units.hpp"
#include "tools/burnin/attribution/blame_words.hpp"
#include "tools/burnin/attribution/burnin_text.hpp"
#include "tools/burnin/report/burnin_report.hpp"
#include "tools/burnin/report/direction_rates.hpp"

namespace collbench::analysis {
namespace {

constexpr int kMaxMatrix = 256;      // hosts whose pairs are drawn one by one
constexpr double kMinCovered = 0.5;  // of them; else a matrix is mostly empty
constexpr int kMaxHosts = 1024;      // rows of a map of hosts
constexpr int kRatesInCells = 16;    // hosts up to which a cell has room for its rate
constexpr double kMargin = 16;
constexpr double kPageWidth = 1500;
constexpr double kLetter = 6;  // at most, of the 10 px of a label
constexpr std::size_t kMaxLabel = 24;

constexpr const char* kLightColors =
    ".h0{fill:#fff;stroke:#d0d7de}.h1{fill:#24292f}.h2{fill:#800026}.h3{fill:#e31a1c}.h4{fill:#fd8d3c}.h5{"
    "fill:#fecc5c}"
    ".h6{fill:#ffffb2}.h7{fill:#c7e9c0}.h8{fill:#9ecae1}.map{fill:#eaeef2}.on2,.on3,.on1{fill:#fff}.cell{"
    "font-size:10px}"
    ".leaf{stroke:#24292f;stroke-width:.5;fill:none}.bad{fill:#cf222e}.suspect{fill:#bc4c00}.end{text-anchor:"
    "end}"
    ".cells{shape-rendering:crispEdges}";
constexpr const char* kDarkColors =
    ".h0{fill:#0d1117;stroke:#484f58}.map{fill:#30363d}.leaf{stroke:#e6edf3}.bad{fill:#ff7b72}.suspect{fill:#"
    "ffa657}.cells "
    "text{fill:#24292f}.cells .on1,.cells .on2,.cells .on3{fill:#fff}.h1{fill:#010409;stroke:#f85149}";

std::string label_of(const std::string& host) {
  return host.size() <= kMaxLabel ? host : host.substr(0, kMaxLabel - 1) + "…";
}

const char* bucket_style(Bucket bucket) {
  constexpr std::array<const char*, 4> kStyles{"nic", "nic suspect", "nic bad", "nic faint"};
  return kStyles.at(static_cast<std::size_t>(bucket));
}

/// Cells of one shade are one path; neighbors in a row are one rectangle.
class CellPainter {
 public:
  CellPainter(double x, double y, double side) : x_(x), y_(y), side_(side) {}

  void add_row(std::size_t row, const std::vector<Shade>& shades) {
    for (std::size_t start = 0; start < shades.size();) {
      std::size_t end = start + 1;
      while (end < shades.size() && shades[end] == shades[start]) ++end;
      if (shades[start] != Shade::unmeasured) {
        ways_.at(static_cast<std::size_t>(shades[start])) +=
            fmt::format("M{:g} {:g}h{:g}v{:g}h{:g}z", x_ + static_cast<double>(start) * side_,
                        y_ + static_cast<double>(row) * side_, static_cast<double>(end - start) * side_,
                        side_, -static_cast<double>(end - start) * side_);
      }
      start = end;
    }
  }

  void draw(pugi::xml_node into) const {
    for (std::size_t shade = 0; shade < ways_.size(); ++shade) {
      if (!ways_.at(shade).empty()) draw_path(into, fmt::format("h{}", shade).c_str(), ways_.at(shade));
    }
  }

 private:
  double x_;
  double y_;
  double side_;
  std::array<std::string, kShades> ways_{};
};

class HeatMap {
 public:
  explicit HeatMap(const BurninRecord& record)
      : record_(record),
        found_(attribute(record)),
        rates_(direction_rates(record)),
        hosts_(static_cast<int>(record.table.nodes.size())) {}

  std::string svg() {
    const bool is_matrix = hosts_ <= kMaxMatrix && rates_.covered >= kMinCovered;
    pugi::xml_document document;
    page_ = begin_svg(document, "Burn-in", {kLightColors, kDarkColors});
    const pugi::xml_node background = draw_shape(page_, "rect", "page", 0, 0);
    y_ = kMargin + 14;
    draw_text(page_, "title", kMargin, y_, headline());
    y_ += 20;
    draw_text(
        page_, "faint", kMargin, y_,
        is_matrix
            ? "rows send, columns receive; color: the rate of the direction over the usual one of its rail"
            : "what each host sends (left) and receives (right) at on each rail, over the others");
    width_ = kMargin + kLetter * 84;
    draw_legend();
    draw_findings();
    if (is_matrix)
      draw_matrices();
    else
      draw_hosts();
    set_size(background, width_ + kMargin, y_ + kMargin);
    return finish_svg(document, width_ + kMargin, y_ + kMargin);
  }

 private:
  [[nodiscard]] Bucket bucket(int node) const { return found_.nodes[slot_of(node)].bucket; }
  [[nodiscard]] const std::string& host(int node) const { return record_.table.nodes[slot_of(node)]; }

  [[nodiscard]] std::string headline() const {
    return fmt::format("Burn-in on {}: {}", counted(slot_of(record_.table.rails), "rail"),
                       summary(record_, found_));
  }

  void draw_legend() {
    y_ += 12;
    double x = kMargin;
    for (const Shade shade : {Shade::faster, Shade::usual, Shade::below_99, Shade::below_95, Shade::below_90,
                              Shade::below_75, Shade::below_50, Shade::failed, Shade::unmeasured}) {
      const std::string style = fmt::format("h{}", static_cast<int>(shade));
      set_size(draw_shape(page_, "rect", shade == Shade::unmeasured ? "map" : style.c_str(), x, y_), 12, 12);
      const std::string words = name(shade);
      draw_text(page_, "nic", x + 16, y_ + 10, words);
      x += 16 + kLetter * static_cast<double>(words.size()) + 12;
    }
    width_ = std::max(width_, x);
    y_ += 24;
  }

  void draw_findings() {
    constexpr std::size_t kShown = 8;
    const std::vector<Blame> blames = with_such_paths_last(found_);
    for (std::size_t i = 0; i < std::min(kShown, blames.size()); ++i) {
      const Blame& blame = blames[i];
      std::vector<std::string> who = names_of(record_, blame.nodes);
      if (who.size() > 4) who = {fmt::format("{} and {} others", who.front(), who.size() - 1)};
      const std::string words = fmt::format(
          "{}{}{}: {}{}", name(blame.kind), who.empty() ? "" : fmt::format(", {}", fmt::join(who, " and ")),
          blame.rail ? record_.table.of_rail(*blame.rail, ",") : "", measure_words(blame),
          blame.confirmed || blame.kind == BlameKind::busy ? "" : ", not confirmed alone");
      draw_text(page_, blame.confirmed ? "bad" : "suspect", kMargin, y_, words);
      width_ = std::max(width_, kMargin + kLetter * static_cast<double>(words.size()));
      y_ += 14;
    }
    if (blames.size() > kShown) {
      draw_text(page_, "faint", kMargin, y_, fmt::format("and {} more findings", blames.size() - kShown));
      y_ += 14;
    }
    y_ += 8;
  }

  [[nodiscard]] double label_width() const {
    std::size_t longest = 0;
    for (int node = 0; node < hosts_; ++node) longest = std::max(longest, label_of(host(node)).size());
    return kLetter * static_cast<double>(std::min(longest, kMaxLabel)) + 8;
  }

  [[nodiscard]] std::string rail_words(int rail) const {
    const double rate = median_rate(rates_, rail);
    const bool is_slow = std::ranges::any_of(found_.blames, [rail](const Blame& blame) {
      return blame.kind == BlameKind::rail && blame.rail == rail;
    });
    const std::string what = record_.table.rails > 1 ? fmt::format("rail {}", rail) : "pairs";
    return rate > 0 ? fmt::format("{}: median {:.4g} GB/s{}", what, rate / kGigabyte,
                                  is_slow ? ", slow as a whole" : "")
                    : what + ": nothing measured";
  }

  void draw_matrices() {
    const double side = hosts_ <= kRatesInCells ? 34 : std::clamp(std::floor(1300.0 / hosts_) / 2, 2.5, 12.0);
    const double labels = label_width();
    const double header = side >= 10 ? labels : 0;  // of the columns, turned
    const double panel_width = std::max(labels + side * hosts_, kLetter * 44.0) + 24;
    const double panel_height = 20 + header + side * hosts_ + 20;
    const int in_a_line = std::max(1, static_cast<int>((kPageWidth - kMargin) / panel_width));
    const double top = y_;
    for (int rail = 0; rail < record_.table.rails; ++rail) {
      const int line = rail / in_a_line;
      const double x = kMargin + panel_width * (rail % in_a_line);
      const double y = top + panel_height * line;
      draw_text(page_, "head", x, y + 10, rail_words(rail));
      draw_matrix(rail, x + labels, y + 20 + header, side);
      width_ = std::max(width_, x + panel_width - 24);
      y_ = y + panel_height;
    }
  }

  void draw_matrix(int rail, double x, double y, double side) {
    pugi::xml_node cells = page_.append_child("g");
    cells.append_attribute("class") = "cells";
    set_size(draw_shape(cells, "rect", "map", x, y), side * hosts_, side * hosts_);
    const auto matrix = rate_matrix(rates_, hosts_, rail);
    CellPainter painter(x, y, side);
    for (int from = 0; from < hosts_; ++from) {
      std::vector<Shade> shades;
      for (int to = 0; to < hosts_; ++to)
        shades.push_back(shade_of(matrix[slot_of(from) * slot_of(hosts_) + slot_of(to)]));
      painter.add_row(slot_of(from), shades);
    }
    painter.draw(cells);
    for (const auto& rate : matrix) {
      if (rate) draw_cell(cells, *rate, x + side * rate->to, y + side * rate->from, side);
    }
    draw_leaves(cells, x, y, side);
    draw_labels(x, y, side);
  }

  /// The rate where there is room, and a tooltip where something stands out.
  void draw_cell(pugi::xml_node cells, const DirectionRate& rate, double x, double y, double side) {
    const Shade shade = shade_of(std::optional(rate));
    const std::string words = rate.bytes_per_second > 0
                                  ? fmt::format("{:.3g}", rate.bytes_per_second / kGigabyte)
                                  : std::string("–");
    if (hosts_ <= kRatesInCells)
      draw_text(cells, fmt::format("cell mid on{}", static_cast<int>(shade)).c_str(), x + side / 2,
                y + side / 2 + 4, words);
    if (shade == Shade::usual || shade == Shade::below_99 || shade == Shade::faster) return;
    pugi::xml_node spot = set_size(draw_shape(cells, "rect", "", x, y), side, side);
    spot.append_attribute("fill-opacity") = "0";
    set_tooltip(spot,
                fmt::format("{} to {}: {}", host(rate.from), host(rate.to),
                            rate.bytes_per_second > 0
                                ? fmt::format("{} GB/s, {:.1f} % of the usual rate", words, 100 * rate.share)
                                : "no time"));
  }

  void draw_leaves(pugi::xml_node cells, double x, double y, double side) {
    const std::vector<int>& leaves = record_.table.leaf_of_node;
    std::string way;
    for (std::size_t node = 1; node < leaves.size(); ++node) {
      if (leaves[node] == leaves[node - 1]) continue;
      const double at = side * static_cast<double>(node);
      way +=
          fmt::format("M{:g} {:g}h{:g}M{:g} {:g}v{:g}", x, y + at, side * hosts_, x + at, y, side * hosts_);
    }
    if (!way.empty()) draw_path(cells, "leaf", way);
  }

  /// All names where there is room; else those of hosts that are not good, as far apart as letters are high.
  void draw_labels(double x, double y, double side) {
    constexpr double kApart = 10;
    double last = -kApart;
    for (int node = 0; node < hosts_; ++node) {
      const double at = side * (node + 0.5);
      const bool is_shown = side >= kApart || (bucket(node) != Bucket::good && at >= last + kApart);
      if (!is_shown) continue;
      last = at;
      const std::string style = bucket_style(bucket(node));
      draw_text(page_, (style + " end").c_str(), x - 4, y + at + 3.5, label_of(host(node)));
      if (side < kApart) continue;
      pugi::xml_node column = draw_text(page_, style.c_str(), x + at + 3.5, y - 4, label_of(host(node)));
      column.append_attribute("transform") =
          fmt::format("rotate(-90 {} {})", pixels(x + at + 3.5), pixels(y - 4)).c_str();
    }
  }

  /// Rows of hosts in blocks beside each other; for each rail a column as sender and one as receiver.
  void draw_hosts() {
    std::vector<int> shown;
    for (int node = 0; node < hosts_; ++node) {
      if (hosts_ <= kMaxHosts || bucket(node) != Bucket::good) shown.push_back(node);
    }
    if (std::cmp_greater(shown.size(), kMaxHosts)) shown.resize(slot_of(kMaxHosts));
    if (std::cmp_less(shown.size(), hosts_)) {
      draw_text(page_, "faint", kMargin, y_,
                fmt::format("{} of {} hosts are drawn, of those that are not good", shown.size(), hosts_));
      y_ += 20;
    }
    constexpr double kSide = 11;
    constexpr std::size_t kRows = 64;
    const double labels = label_width();
    const double block_width = labels + 2 * kSide * record_.table.rails + 20;
    const int in_a_line = std::max(1, static_cast<int>((kPageWidth - kMargin) / block_width));
    const double top = y_;
    for (std::size_t start = 0; start < shown.size(); start += kRows) {
      const int block = static_cast<int>(start / kRows);
      const int line = block / in_a_line;
      const double x = kMargin + labels + block_width * (block % in_a_line);
      const double y = top + 20 + (kSide * kRows + 34) * line;
      const auto begin = shown.begin() + static_cast<std::ptrdiff_t>(start);
      draw_block({begin, begin + static_cast<std::ptrdiff_t>(std::min(kRows, shown.size() - start))}, x, y,
                 kSide);
      width_ = std::max(width_, x - labels + block_width - 20);
      y_ = std::max(y_, y + kSide * static_cast<double>(std::min(kRows, shown.size() - start)) + 14);
    }
  }

  void draw_block(const std::vector<int>& nodes, double x, double y, double side) {
    pugi::xml_node cells = page_.append_child("g");
    cells.append_attribute("class") = "cells";
    const int rails = record_.table.rails;
    set_size(draw_shape(cells, "rect", "map", x, y), 2 * side * rails,
             side * static_cast<double>(nodes.size()));
    CellPainter painter(x, y, side);
    for (std::size_t row = 0; row < nodes.size(); ++row) {
      const int node = nodes[row];
      std::vector<Shade> shades;
      for (int rail = 0; rail < rails; ++rail) {
        for (const auto* direction : {&rates_.effects.send, &rates_.effects.receive})
          shades.push_back(shade_of(std::exp(-(*direction)[slot_of(node)][slot_of(rail)])));
      }
      painter.add_row(row, shades);
      const double at = y + side * static_cast<double>(row);
      draw_text(page_, (std::string(bucket_style(bucket(node))) + " end").c_str(), x - 4, at + 9,
                label_of(host(node)));
      if (bucket(node) == Bucket::good) continue;
      pugi::xml_node spot = set_size(draw_shape(page_, "rect", "", x, at), 2 * side * rails, side);
      spot.append_attribute("fill-opacity") = "0";
      set_tooltip(spot,
                  fmt::format("{} {}: {}", host(node), name(bucket(node)), found_.nodes[slot_of(node)].why));
    }
    painter.draw(cells);
    std::string way;
    for (int rail = 0; rail < rails; ++rail) {
      draw_text(page_, "nic mid", x + side * (2 * rail + 1), y - 4, fmt::format("{}", rail));
      if (rail > 0)
        way +=
            fmt::format("M{:g} {:g}v{:g}", x + 2 * side * rail, y, side * static_cast<double>(nodes.size()));
    }
    if (!way.empty()) draw_path(cells, "leaf", way);
  }

  const BurninRecord& record_;
  Attribution found_;
  DirectionRates rates_;
  int hosts_;
  pugi::xml_node page_{};
  double y_ = 0;
  double width_ = 0;
};

}  // namespace

std::string burnin_svg(const BurninRecord& record) { return HeatMap(record).svg(); }

std::string burnin_html(const BurninRecord& record) {
  return html_page(
      page_of(record, attribute(record),
              {record.table.times.empty() ? "" : burnin_svg(record), "Rates over the usual one of each rail",
               "A map of all pairs on each rail; the findings say what stands out"}));
}

}  // namespace collbench::analysis
