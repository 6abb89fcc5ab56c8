#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/record/run.hpp"

// What every writer is tried with: texts of a record that want to be more than text.

namespace collbench::analysis {

/// What a name may hold that somebody means to do harm with.
inline const std::vector<std::string> kHostileTexts{
    "x\nforged: line",       "\x1b]0;title\x07",
    "\302\23331m",         // CSI of C1
    "\u202e\u2066turned",  // NOLINT(misc-misleading-bidirectional)
    "bad \xff\xc3 bytes",    "=cmd|' /C calc'!A0",   "@SUM(1)\",=x",
    "<img src=x onerror=y>", "`$(reboot)` | [a](b)", "\"]; node [URL=\"x"};

/// All strings of a document that can be any: those with which it can still be read.
inline std::vector<nlohmann::json::json_pointer> free_texts(
    const nlohmann::json& json, const std::function<bool(const nlohmann::json&)>& is_readable) {
  std::vector<nlohmann::json::json_pointer> found;
  const nlohmann::json flat = json.flatten();
  for (const auto& [path, value] : flat.items()) {
    const nlohmann::json::json_pointer at(path);
    nlohmann::json changed = json;
    changed[at] = "any thing";  // no name of a host is like that
    if (value.is_string() && is_readable(changed)) found.push_back(at);
  }
  return found;
}

inline bool is_readable_run(const nlohmann::json& json) {
  try {
    static_cast<void>(run_from_json_text(json.dump(), "run.json"));
    return true;
  } catch (const Error&) {
    return false;
  }
}

inline std::vector<std::string> csv_cells(const std::string& text) {
  std::vector<std::string> cells{""};
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == ',' || c == '\n')) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

/// `document` was made of `hostile` in every place that takes it.
inline void expect_harmless(const std::string& document, std::string_view format,
                            const std::string& hostile) {
  // NOLINTNEXTLINE(misc-misleading-bidirectional)
  for (const std::string_view raw : {"\nforged:", "\x1b", "\x07", "\xc2\x9b", "\u202e", "\u2066", "\xff"})
    EXPECT_EQ(document.find(raw), std::string::npos) << format << " lets through " << hostile;
  if (format == "md") {
    for (const std::string_view raw : {"<img", "`$(", "[a]"}) {
      for (std::size_t at = document.find(raw); at != std::string::npos; at = document.find(raw, at + 1))
        EXPECT_EQ(document.substr(at - 1, 1), "\\") << document.substr(at, 60);
    }
  }
  if (format == "csv") {
    for (const std::string& cell : csv_cells(document))
      EXPECT_EQ(cell.find_first_of("=@"), cell.starts_with("'") ? 1U : cell.find_first_of("=@", 1)) << cell;
  }
  if (format == "svg") {
    EXPECT_EQ(document.find("<img"), std::string::npos);
  }
}

/// What with_hostile_texts writes into: looked for once, since each text is tried by reading the whole
/// record.
inline std::vector<nlohmann::json::json_pointer> free_texts_of(const Run& run) {
  return free_texts(nlohmann::json::parse(to_json_text(run)), is_readable_run);
}

/// `run` as somebody means it who wrote `hostile` into all of `locations`, names of rows too. Its rows were
/// measured.
inline Run with_hostile_texts(const Run& run, const std::vector<nlohmann::json::json_pointer>& locations,
                              const std::string& hostile) {
  nlohmann::json json = nlohmann::json::parse(to_json_text(run));
  for (const auto& each : locations) json[each] = hostile;
  // Not by the reader of JSON, which refuses what is no UTF-8: names of a run are of any bytes.
  Run changed =
      run_from_json_text(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), "run.json");
  for (Row& row : changed.rows) row.measurement.unavailable.clear();
  return changed;
}

}  // namespace collbench::analysis
