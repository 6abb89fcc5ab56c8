#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/record/run.hpp"
#include "src/cli/output.hpp"

// A run's record as it is given to somebody else.

namespace collbench::program {

/// The record without what looks like a secret, wherever it stands: a run leaves it out of its record; what a
/// script wrote, or put into one, did not.
[[nodiscard]] Run without_secrets(const Run& run);

/// Texts with "host0", "host1", … in place of the names of a run's hosts, in the order of its ranks, in
/// small or large letters: without the domains that the record has, and of a list ("node[01-16]") all.
/// Users, folders, addresses and serial numbers stay.
class HostAliases {
 public:
  /// None where they are not asked for. Throws Error (usage) for a host that is called as a number is.
  HostAliases(const Run& run, bool is_anonymous);
  [[nodiscard]] bool are_asked_for() const { return is_anonymous_; }
  [[nodiscard]] bool is_any() const { return !aliases_.empty(); }

  [[nodiscard]] std::string text(std::string_view text) const;
  /// Each text within the record. Throws Error (usage) where a host is called as a word of records is.
  [[nodiscard]] Run run(const Run& run) const;

 private:
  /// Where the name at `at` ends, and its alias; the next letter and no alias where there is none.
  [[nodiscard]] std::pair<std::size_t, std::string_view> host_at(std::string_view small,
                                                                 std::size_t at) const;
  [[nodiscard]] bool begins_a_host(const std::string& word) const;

  bool is_anonymous_;
  std::map<std::string, std::string> aliases_;     ///< by name, in small letters, without its domain
  std::set<std::size_t, std::greater<>> lengths_;  ///< of the names: node17 before node1
  std::set<std::string> domains_;                  ///< ".example.com"
};

/// evidence.tar.gz: contents.txt, which says what is there and what is not, ticket.txt, report.txt,
/// report.html, nccl-tests.txt, run.json, topology.json where machines are known, the other files (--with;
/// of a folder all but the archive itself, `path`), and SHA256SUMS. Throws Error: (usage) for another file
/// that cannot be read, has a name that is taken or, anonymous, is no text; (not_here) where tar or sha256sum
/// does not do its work.
[[nodiscard]] std::string evidence_archive(const Run& run, const std::string& path,
                                           const std::vector<std::string>& others,
                                           const HostAliases& aliases);

/// What to look for in it before it is sent.
[[nodiscard]] std::string evidence_note(const OutputDocument& archive);

}  // namespace collbench::program
