#pragma once
#include <string>
#include <vector>

#include "base/record/run.hpp"

// Launches whose time was up before a block of some row could begin.

namespace collbench::analysis {

/// Whether the time of a row is that of a few first calls, which nothing has warmed up: the launch's time was
/// up, and the calls took less in all than a pilot has to take to be believed, 1 ms
/// (collectives/engine/measurement_loop.cpp). Seen on two cores beside 20 other processes: 2.6 µs for 8 B,
/// where blocks took 0.43.
[[nodiscard]] bool had_no_time(const Measurement& measured);

/// Of one row in several launches: without those that had no time for it; all where none had.
[[nodiscard]] std::vector<const Row*> rows_with_time(const std::vector<const Row*>& rows);

/// "2 of 8 launches had no time left for some rows, …"; empty where all had.
[[nodiscard]] std::string short_launches(const std::vector<Run>& launches);

/// The same of a record of several launches, by the rows that not all of them measured.
[[nodiscard]] std::string short_launches(const Run& merged);

}  // namespace collbench::analysis
