#pragma once
#include <string>
#include <string_view>

namespace collbench::program {

/// One line on stderr that replaces itself, for a person who waits; nothing when switched off.
class ProgressLine {
 public:
  explicit ProgressLine(bool shown) : shown_(shown) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ProgressLine(ProgressLine&&) = delete;
  ProgressLine& operator=(ProgressLine&&) = delete;
  ~ProgressLine() { clear(); }

  /// Shows `text` unless the last one is younger than a quarter of a second by `now_seconds`.
  void show(std::string_view text, double now_seconds);
  /// Leaves an empty line behind.
  void clear();

 private:
  bool shown_;
  bool dirty_ = false;
  double last_seconds_ = -1;
};

}  // namespace collbench::program
