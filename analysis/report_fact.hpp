#pragma once
#include <string>
#include <vector>

namespace collbench {

/// How loudly something is said where there is colour.
enum class Tone { plain, quiet, warning, alarm };

/// One sentence of a report, without the marks of any format.
struct ReportFact {
  std::string text;
  Tone tone = Tone::quiet;
};

using ReportFacts = std::vector<ReportFact>;

}  // namespace collbench
