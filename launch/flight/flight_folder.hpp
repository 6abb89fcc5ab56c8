#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/rank_activity.hpp"
#include "launch/flight/flight_page.hpp"

namespace collbench::launch {

/// The folder of all recorders of this job on this host, made for this user alone; its name says the user and
/// the launcher's name of the job, or `meeting` where that is not empty. In /dev/shm, which is memory; else
/// in the temporary folder. An empty path where that cannot be had, or where somebody else made it.
[[nodiscard]] std::filesystem::path make_flight_folder(const std::string& meeting = {});

/// Removes the folders that this user's dead runs left, but the newest eight.
void remove_old_flights();

/// When the launcher of this process began: before any rank of its job on this host (flight_clock_ns()).
[[nodiscard]] std::uint64_t launch_ns();

/// Removes what a job of the same name, before `launched_ns`, left in `folder`: the recorders of ranks that
/// are gone, whatever their numbers, and what ended it.
void forget_earlier_job(const std::filesystem::path& folder, std::uint64_t launched_ns);

/// The folders of this user's runs, living and dead, the newest first.
[[nodiscard]] std::vector<std::filesystem::path> flight_folders();

/// A moment of the clock that recorders write, in nanoseconds (CLOCK_BOOTTIME).
[[nodiscard]] std::uint64_t flight_clock_ns();

/// What the kernel says of the process that wrote `page`.
[[nodiscard]] ProcessState process_state(const FlightPage& page);

[[nodiscard]] RankActivity rank_activity(const FlightPage& page);

/// "rank-3"
[[nodiscard]] std::string flight_file_name(int rank);

/// One recorder. Throws Error (usage) that names the file when it is none.
[[nodiscard]] RankActivity read_flight_file(const std::filesystem::path& file);

/// All recorders of a folder by rank; files that are none are left out. Throws Error (usage) when the folder
/// cannot be read.
[[nodiscard]] std::vector<RankActivity> read_flight_folder(const std::filesystem::path& folder);

/// The same, also those of other hosts that share this memory; nothing where that is no folder: the empty
/// path, or what went with the last rank.
[[nodiscard]] std::vector<RankActivity> ranks_of(const std::filesystem::path& folder);

/// Leaves `text` for the other ranks of this host: what ended the run. False where another rank was first;
/// true, and nothing is left, where there is no such folder.
[[nodiscard]] bool leave_incident(const std::filesystem::path& folder, std::string_view text);

/// What was left; empty: nothing.
[[nodiscard]] std::string left_incident(const std::filesystem::path& folder);
/// It was of an earlier run.
void forget_incident(const std::filesystem::path& folder);

}  // namespace collbench::launch
