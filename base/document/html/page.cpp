#include "base/document/document.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/document/html/assets.hpp"
#include "base/text_sinks.hpp"

namespace collbench {

namespace {

/// As RFC 3986 asks of a URL; everything but letters, digits and a few signs is encoded.
std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain = "-_.~ =:/,;()";  // beside letters and digits; safe in a data: URL
  std::string url;
  url.reserve(text.size() + text.size() / 2);
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.find(c) != std::string_view::npos;
    if (plain) {
      url += c;
    } else {
      url += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return url;
}

std::string image(const std::string& svg, const std::string& description) {
  return fmt::format("<img class=\"still\" src=\"data:image/svg+xml;charset=utf-8,{}\" alt=\"{}\">",
                     percent_encoded(svg), xml_text(description));
}

std::string class_attribute(std::string_view names) {
  return names.empty() ? "" : fmt::format(" class=\"{}\"", names);
}

/// Only what stands in the page may be used, and of scripts and styles only these.
std::string security_policy() {
  std::string scripts = "'none'";
  if (!chart_library().text.empty())
    scripts = fmt::format("'sha256-{}' 'sha256-{}'", chart_library().sha256, page_script().sha256);
  return fmt::format(
      "default-src 'none'; img-src data:; style-src 'sha256-{}'; script-src {}; base-uri 'none'; form-action "
      "'none'",
      page_style().sha256, scripts);
}

ReportTable numbers_of(const Chart& chart) {
  const std::vector<std::vector<std::string>> lines = chart_table(chart);
  ReportTable table{chart.title, lines.front(), {}};
  for (std::size_t i = 1; i < lines.size(); ++i) table.rows.emplace_back(lines[i].begin(), lines[i].end());
  return table;
}

std::string block_markup(const std::string& paragraph) {
  return fmt::format("<p>{}</p>\n", xml_text(paragraph));
}

/// What is a warning or an alarm is marked, also for who does not see colors. Empty for no lines.
std::string block_markup(const ReportLines& lines) {
  if (lines.empty()) return {};
  std::string items;
  for (const ReportLine& line : lines)
    items += fmt::format("<li{}>{}</li>\n", class_attribute(tone_class(line.tone)), xml_text(line.text));
  return "<ul class=\"facts\">\n" + items + "</ul>\n";
}

// Characters from which on a cell is a sentence, which a phone must not break into single words.
constexpr std::size_t kMinProse = 50;

std::string block_markup(const ReportTable& table) {
  if (table.rows.empty()) return {};
  const std::string caption = xml_text(table.caption);
  // What is wider than the page is scrolled, also by keyboard.
  std::string text = fmt::format(
      "<div class=\"scroll\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\"><table{1}>\n"
      "<caption>{0}</caption>\n<thead><tr>",
      caption, class_attribute(table.is_text ? "words" : ""));
  for (const std::string& heading : table.headings)
    text += fmt::format("<th scope=\"col\">{}</th>", xml_text(heading));
  text += "</tr></thead>\n<tbody>\n";
  for (const std::vector<ReportCell>& row : table.rows) {
    text += "<tr>";
    for (const ReportCell& cell : row) {
      const bool names_row = &cell == &row.front();
      const bool is_prose = table.is_text && cell.text.size() > kMinProse;
      const std::string style =
          is_prose ? cell.style + (cell.style.empty() ? "prose" : " prose") : cell.style;
      text += fmt::format("<{0}{1}{2}>{3}</{4}>", names_row ? "th" : "td", names_row ? " scope=\"row\"" : "",
                          class_attribute(style), xml_text(cell.text), names_row ? "th" : "td");
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string block_markup(const ReportFindings& findings) { return block_markup(as_table(findings)); }

std::string block_markup(const ReportList& items) { return block_markup(as_lines(items)); }

std::string block_markup(const ReportCode& code) {
  std::string text;
  for (const std::string& line : code.lines) text += xml_text(line) + "\n";
  return text.empty() ? text : "<pre>" + text + "</pre>\n";
}

/// A picture (SVG), which the page's script replaces by one that can be pointed at and walked through by
/// keyboard, and its numbers as a table.
std::string chart_markup(const Chart& chart) {
  return fmt::format(
             "<figure class=\"chart\" id=\"{}\" data-chart=\"{}\">\n<figcaption>{}</figcaption>\n"
             "<div class=\"drawing\">{}</div>\n",
             chart.id, xml_text(chart_json(chart)), xml_text(chart.title),
             image(svg_chart(chart), chart.title + "; its numbers are in the table below")) +
         "<details><summary>Numbers of this chart</summary>\n" + block_markup(numbers_of(chart)) +
         "</details>\n</figure>\n";
}

std::string block_markup(const std::vector<Chart>& charts) {
  std::string markup;
  for (const Chart& chart : charts) markup += chart_markup(chart);
  return markup.empty() ? markup : "<div class=\"charts\">\n" + markup + "</div>\n";
}

/// As an image: nothing in it runs.
std::string block_markup(const ReportPicture& picture) {
  return fmt::format("<figure class=\"picture\"><figcaption>{}</figcaption>\n{}</figure>\n",
                     xml_text(picture.caption), image(picture.svg, picture.description));
}

}  // namespace

std::string html_body(const ReportSection& section) {
  std::string body;
  int tables = 0;
  for (ReportBlock block : section.blocks) {
    std::string kind = "table";
    if (const auto* const findings = std::get_if<ReportFindings>(&block)) {
      block = as_table(*findings);
      kind = "findings";
    }
    // Not the heading alone: a region in another one of the same name cannot be told from it.
    if (auto* const table = std::get_if<ReportTable>(&block); table != nullptr && table->caption.empty())
      table->caption = (section.heading.empty() ? kind : section.heading + ", " + kind) +
                       (++tables < 2 ? "" : " " + std::to_string(tables));
    body += std::visit([](const auto& each) { return block_markup(each); }, block);
  }
  return body;
}

std::string html_page(const Document& document) {
  std::string links;
  std::string sections;
  for (const ReportSection& each : document.sections) {
    const std::string body = html_body(each);
    if (body.empty() && (each.heading.empty() || !each.blocks.empty())) continue;
    const std::string id =
        each.id.empty() ? fmt::format("part-{}", &each - document.sections.data() + 1) : each.id;
    const std::string heading = xml_text(each.heading);
    if (heading.empty()) {
      sections += fmt::format("<section id=\"{}\">\n{}</section>\n", id, body);
      continue;
    }
    links += fmt::format("<li><a href=\"#{}\">{}</a></li>", id, heading);
    sections += fmt::format(
        "<section id=\"{0}\" aria-labelledby=\"{0}-heading\">\n<h2 id=\"{0}-heading\">{1}</h2>\n{2}"
        "</section>\n",
        id, heading, body);
  }
  ReportLines lead = document.lead;
  if (!document.headline.text.empty()) lead.insert(lead.begin(), document.headline);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"collbench\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      security_policy(), xml_text(document.title), page_style().text);
  page += fmt::format(
      "<header>\n<h1>{}</h1>\n{}</header>\n{}<main>\n{}", xml_text(document.title), block_markup(lead),
      links.empty() ? "" : fmt::format("<nav aria-label=\"Sections\"><ul>{}</ul></nav>\n", links), sections);
  page +=
      "</main>\n<footer><p>Written by collbench. This file is complete: it needs no network.</p></footer>\n";
  if (!chart_library().text.empty())
    page +=
        fmt::format("<script>{}</script>\n<script>{}</script>\n", chart_library().text, page_script().text);
  return page + "</body>\n</html>\n";
}

}  // namespace collbench
