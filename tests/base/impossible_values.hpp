#pragma once
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"

// What every reader of a record of ours is tried with: numbers and names that nothing has.

namespace collbench {

using ReadDocument = std::function<void(const std::string& text, const std::string& file)>;

/// "" where the document is read, else the whole error.
inline std::string refusal_of(const ReadDocument& read, const std::string& text) {
  try {
    read(text, "record.json");
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return describe(error);
  }
}

/// "/rows/3/seconds" as errors have it: "rows[3].seconds".
inline std::string key_path(const std::string& pointer) {
  std::string path;
  for (std::size_t at = 1; at <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', at), pointer.size());
    std::string part = pointer.substr(at, end - at);
    for (std::size_t slash = part.find("~1"); slash != std::string::npos; slash = part.find("~1"))
      part.replace(slash, 2, "/");  // RFC 6901
    const bool is_index = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    path += is_index ? "[" + part + "]" : (path.empty() ? "" : ".") + part;
    at = end + 1;
  }
  return path;
}

/// The path without its numbers: of a thousand alike one is tried.
inline std::string kind_of_path(std::string path) {
  std::erase_if(path, [](char c) { return c >= '0' && c <= '9'; });
  return path;
}

/// Every number of `document` is refused with file, path and what was expected where it is one that nothing
/// has; `tried` has the kinds that were tried before. Paths that begin with one of `not_read` are not.
inline void expect_impossible_numbers_refused(const nlohmann::json& document, const ReadDocument& read,
                                              const std::vector<std::string>& not_read,
                                              std::set<std::string>& tried) {
  const nlohmann::json flat = document.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    const std::string path = key_path(pointer);
    const auto is_in = [&](const std::string& part) { return path.find(part) != std::string::npos; };
    if (!value.is_number() || std::any_of(not_read.begin(), not_read.end(), is_in)) continue;
    if (!tried.insert(kind_of_path(path)).second) continue;
    for (const double number : {-1e300, -1e11, 1e300, 1e23}) {
      nlohmann::json changed = document;
      changed[nlohmann::json::json_pointer(pointer)] = number;
      const std::string refusal = refusal_of(read, changed.dump());
      EXPECT_THAT(refusal, testing::HasSubstr("record.json")) << path << ' ' << number;
      EXPECT_THAT(refusal, testing::HasSubstr("expected")) << path << ' ' << number;
      const std::size_t cell = path.rfind('[');  // of an array whose lengths were compared first
      EXPECT_THAT(refusal, testing::HasSubstr(path.ends_with(']') ? path.substr(0, cell) : path))
          << path << ' ' << number;
    }
  }
}

/// The host at `pointer` is refused where it cannot be one.
inline void expect_impossible_hosts_refused(const nlohmann::json& document, const ReadDocument& read,
                                            const std::vector<std::string>& pointers) {
  for (const std::string& pointer : pointers) {
    for (const std::string host : {"n1\n127.0.0.1 slots=64", "n1,n2", "n1 State=DOWN", "-n1", "$(reboot)",
                                   "n1\r", "n[1-9]", "n\xc3\xa9", "n1#x", "\u202en1\u202c", "n1;reboot"}) {
      nlohmann::json changed = document;
      changed.at(nlohmann::json::json_pointer(pointer)) = host;
      EXPECT_THAT(refusal_of(read, changed.dump()),
                  testing::AllOf(testing::HasSubstr("record.json: " + key_path(pointer) + " is "),
                                 testing::HasSubstr("where the name of a host was expected")))
          << pointer << ' ' << host;
    }
  }
}

}  // namespace collbench
