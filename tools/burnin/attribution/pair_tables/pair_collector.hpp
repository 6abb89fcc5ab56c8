#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tools/burnin/attribution/burnin_record.hpp"

namespace collbench::analysis {

/// Rates are compared with each other; of how many bytes they are nobody says.
inline constexpr double kNominalBytes = 1e9;
inline constexpr int kMaxRails = 64;

/// "failed", "timeout (600 s)", "x", "inf": a cell begins with a word that says that nothing came.
[[nodiscard]] bool says_failure(std::string_view cell);

/// Collects the rates of a table or matrix into the record of a burn-in. Every function throws Error (usage)
/// that names the line of the file.
class PairCollector {
 public:
  explicit PairCollector(std::string file) : file_(std::move(file)) {}

  /// Names in the file, before node() is asked for them: they are compared without case, and a short name is
  /// the host of the full one that begins with it, if there is one only (n1.a and n1.b are two hosts).
  void know(const std::vector<std::string>& names);

  /// The number of a node, which is given at its first mention.
  int node(const std::string& name, int line);

  /// "; n3 is also N3, n3.example.com"; empty where each has one name.
  [[nodiscard]] std::string other_names() const;

  /// A cell of one direction: a plain number of `unit` bytes per second; empty, "-", "n/a" or "nan" where
  /// nothing was measured; 0, "x", "inf" or what begins with a word of failure ("failed", "timeout") where
  /// nothing came. Of several of one direction the quickest counts.
  void add(int from, int to, int rail, std::string_view cell, double unit, int line);

  /// The rate of such a cell alone, in bytes per second; 0 for what failed, none where nothing was measured.
  [[nodiscard]] std::optional<double> rate(std::string_view cell, double unit, int line) const;

  /// A direction as burnin_csv wrote it, with what was alone and repeated.
  void add_own(RailTime time, std::string_view cell, double unit, int line);

  /// Both directions of pairs of which one was measured, none, or all.
  enum class Directions { one_each, mixed, both };
  [[nodiscard]] Directions directions() const;

  /// What add() took, in order.
  [[nodiscard]] std::vector<RailTime> times(bool mirrored) const;

  /// `mirrored`: a pair with one direction has its rate in both. Refuses fewer nodes than can be told apart,
  /// and measured ones that no chain of pairs joins.
  [[nodiscard]] BurninRecord record(bool mirrored, const std::string& source);

  /// The nodes alone, of which no pairs are known.
  [[nodiscard]] BurninRecord record_of_groups(const std::string& source);

 private:
  void require_comparable() const;

  std::string file_;
  BurninRecord record_{};
  std::map<std::string, int> numbers_{};                 ///< by name in small letters
  std::map<std::string, std::set<std::string>> full_{};  ///< in small letters: by short name
  std::map<int, std::vector<std::string>> other_names_{};
  std::map<std::tuple<int, int, int>, double> rates_;  ///< from, to, rail: bytes per second
  std::set<std::tuple<int, int, int>> failed_{};       ///< of the pair, less and greater node, and rail
};

}  // namespace collbench::analysis
