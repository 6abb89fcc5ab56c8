#include "base/document/svg.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <sstream>
#include <utility>

#include "base/text_sinks.hpp"

namespace collbench {
namespace {

/// Of a lane, in light and in dark surroundings.
constexpr std::array<std::pair<const char*, const char*>, kLaneColors> kColors{{{"#0969da", "#58a6ff"},
                                                                                {"#cf222e", "#ff7b72"},
                                                                                {"#1a7f37", "#56d364"},
                                                                                {"#8250df", "#bc8cff"},
                                                                                {"#bc4c00", "#ffa657"},
                                                                                {"#0e7c86", "#39c5cf"},
                                                                                {"#bf3989", "#ff9bce"},
                                                                                {"#7d6600", "#e3b341"}}};

/// Ranks of a lane are two thick lines of no length with round ends, .out and .in: half the bytes of circles.
std::string style_sheet(const PictureStyles& more, PictureColors colors) {
  std::string light =
      "text{font:11px Helvetica,Arial,sans-serif;fill:#1f2328}.faint{fill:#57606a}.title{font-size:15px;"
      "font-weight:bold}.head{font-size:12px;font-weight:bold}.mid{text-anchor:middle}.nic{font-size:10px}"
      ".page{fill:#fff}.node{fill:#f6f8fa;stroke:#8c959f}.gpu{fill:#c8e6c9;stroke:#6e7781}"
      ".port{fill:#cfe2ff;stroke:#6e7781}.wire{fill:none;stroke:#6e7781;stroke-width:1.5}"
      ".dot{stroke:#6e7781;stroke-width:6;stroke-linecap:round}"
      ".lane path{fill:none;stroke-width:2.5}.lane text{stroke:none}.none{stroke-dasharray:4 4}"
      ".lane .out{stroke-linecap:round;stroke-width:23}"
      ".lane .in{stroke-linecap:round;stroke-width:19;stroke:#fff}.root{fill:#fff}";
  std::string dark =
      "text{fill:#e6edf3}.faint{fill:#9198a1}.page{fill:#0d1117}.node{fill:#161b22;stroke:#6e7681}"
      ".gpu{fill:#1b4721;stroke:#9198a1}.port{fill:#1f3a5f;stroke:#9198a1}.wire,.dot{stroke:#9198a1}"
      ".lane .in{stroke:#0d1117}.root{fill:#0d1117}";
  for (std::size_t i = 0; i < kColors.size(); ++i) {
    light += fmt::format(".c{}{{stroke:{}}}", i, kColors[i].first);
    dark += fmt::format(".c{}{{stroke:{}}}", i, kColors[i].second);
  }
  light += more.light;
  if (colors == PictureColors::light) return light;
  return light + "@media (prefers-color-scheme:dark){" + dark + more.dark + "}";
}

void set_text(pugi::xml_node element, const std::string& words) {
  element.text().set(one_line(words).c_str());
}

}  // namespace

pugi::xml_node begin_svg(pugi::xml_document& document, const std::string& title, const PictureStyles& more,
                         PictureColors colors) {
  pugi::xml_node svg = document.append_child("svg");
  svg.append_attribute("xmlns") = "http://www.w3.org/2000/svg";
  set_text(svg.append_child("title"), title);
  set_text(svg.append_child("style"), style_sheet(more, colors));
  return svg;
}

std::string finish_svg(pugi::xml_document& document, double width, double height) {
  pugi::xml_node svg = document.child("svg");
  set_size(svg, width, height);
  svg.append_attribute("viewBox") = fmt::format("0 0 {} {}", pixels(width), pixels(height)).c_str();
  std::ostringstream out;
  document.save(out, "", pugi::format_raw | pugi::format_no_declaration);
  return out.str() + "\n";
}

std::string pixels(double length) { return fmt::format("{}", std::round(length * 2) / 2); }

pugi::xml_node draw_shape(pugi::xml_node into, const char* name, const char* style, double x, double y) {
  pugi::xml_node shape = into.append_child(name);
  if (*style != 0) shape.append_attribute("class") = style;
  shape.append_attribute("x") = pixels(x).c_str();
  shape.append_attribute("y") = pixels(y).c_str();
  return shape;
}

pugi::xml_node draw_text(pugi::xml_node into, const char* style, double x, double y,
                         const std::string& words) {
  pugi::xml_node text = draw_shape(into, "text", style, x, y);
  set_text(text, words);
  return text;
}

pugi::xml_node draw_path(pugi::xml_node into, const char* style, const std::string& way) {
  pugi::xml_node path = into.append_child("path");
  if (*style != 0) path.append_attribute("class") = style;
  path.append_attribute("d") = way.c_str();
  return path;
}

pugi::xml_node set_size(pugi::xml_node shape, double width, double height) {
  shape.append_attribute("width") = pixels(width).c_str();
  shape.append_attribute("height") = pixels(height).c_str();
  return shape;
}

void set_tooltip(pugi::xml_node element, const std::string& words) {
  set_text(element.prepend_child("title"), words);
}

}  // namespace collbench
