#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "tools/burnin/attribution/blame.hpp"

namespace collbench::analysis {

/// What is slow as a sender, as a receiver or both: of the only rail, NIC and host cannot be told apart.
[[nodiscard]] BlameKind nic_kind(int rails, bool sends, bool receives);

/// What a technician does about a finding of `who` (a node, or two of a path).
[[nodiscard]] std::string technician_step(BlameKind kind, const std::string& who, std::optional<int> rail);

/// "2.00 times the time of its like", or what was found where it is no time: "loses 1.1 % of what it sends".
[[nodiscard]] std::string measure_words(const Blame& blame);

/// Adds a finding of `who` (as of technician_step()): by so much (log) beyond a line (log).
void add_finding(std::vector<Blame>& blames, Blame blame, double log_time, double line,
                 const std::string& who);

/// "NIC, transmit, 2.00 times the time of its like (line 1.05), confirmed alone: n3 rail 1: …".
[[nodiscard]] std::string blame_words(const Blame& blame);

/// Why nobody's all-clear is one: the log of time that passes unseen is more than kMaxBlind. Empty: it is
/// not.
[[nodiscard]] std::string blind_words(double blind_below);

/// More paths than this are written as one sentence.
inline constexpr std::size_t kMaxPathsOneByOne = 4;

/// Whether it is a path that was never measured while nothing else ran.
[[nodiscard]] bool is_path_not_alone(const Blame& blame);
[[nodiscard]] std::vector<Blame> paths_that_were_not_alone(const Attribution& found);

/// The findings, those last: others' traffic makes more of them, and slower ones, than parts that are broken.
[[nodiscard]] std::vector<Blame> with_such_paths_last(const Attribution& found);

/// One sentence for many paths: of so many it is rather others' traffic than so many links, and only times
/// alone can say. The slowest are named. `paths` is not empty.
[[nodiscard]] std::string many_paths(const std::vector<Blame>& paths, const PairTable& table);

/// What is said of a host or a group, by its name.
struct Said {
  std::string who;
  std::string what;
  Tone tone = Tone::alarm;
};

/// "n0, n1 what", once for all of whom the same is said, in the order of the first; nobody is named twice.
[[nodiscard]] ReportLines said_once(const std::vector<Said>& all);

}  // namespace collbench::analysis
