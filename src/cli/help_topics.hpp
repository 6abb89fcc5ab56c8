#pragma once
#include <span>
#include <string_view>

namespace collbench::program {

/// A page of `collbench help NAME` that belongs to no command.
struct HelpTopic {
  std::string_view name;
  std::string_view title;  ///< for the list of them
  std::string_view text;   ///< lines, each ended
};

[[nodiscard]] std::span<const HelpTopic> help_topics();

/// Null where there is none of that name.
[[nodiscard]] const HelpTopic* help_topic(std::string_view name);

}  // namespace collbench::program
