#pragma once
#include <exception>
#include <stdexcept>
#include <string>

namespace collbench {

/// The exit statuses of the program; docs/formats.md lists them for users.
enum class ExitStatus : int {
  ok = 0,
  low = 1,         ///< a row is BELOW, a regression, or a degraded finding
  usage = 2,       ///< the command line, or a file that cannot be read or written
  wrong_data = 3,  ///< an operation delivered wrong elements
  rank_lost = 4,   ///< a rank was lost or hung
  not_here = 5,    ///< what was asked for is not on this machine
  internal = 70,   ///< a bug of collbench: sysexits.h calls it EX_SOFTWARE
};

/// The one exception type: what is wrong, where, and what the user does next. Caught once, in main.
class Error : public std::runtime_error {
 public:
  /// `where` is an option, a file:line, or a host; it may be empty. `next_step` is an imperative sentence.
  Error(ExitStatus status, std::string where, const std::string& what, std::string next_step);

  [[nodiscard]] ExitStatus status() const { return status_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const std::string& next_step() const { return next_step_; }

 private:
  ExitStatus status_;
  std::string where_;
  std::string next_step_;
};

/// An exit-2 error about the command line or a file.
[[nodiscard]] Error usage_error(std::string where, const std::string& what, std::string next_step);

/// The exit status of a program that `failure` ends: an Error's own; usage for a
/// failure of the file system and for memory that cannot be had; anything else is a bug, and internal.
[[nodiscard]] ExitStatus exit_status(const std::exception& failure);

/// `failure` as an Error of that status. What is no Error is called a bug, with where to report it.
[[nodiscard]] Error as_error(const std::exception& failure);

/// One line for the user: "collbench: WHERE: WHAT; NEXT STEP" of as_error.
[[nodiscard]] std::string describe(const std::exception& failure);

}  // namespace collbench
