#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "analysis/hang/hang.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "launch/flight/flight_folder.hpp"
#include "launch/flight/flight_page.hpp"
#include "launch/hosts/host_watch.hpp"

/// What is owed for any page of a flight recorder: an Error, or what a rank does, which can be shown; and for
/// any line between hosts: nothing, or a report that travels as it is. The bytes are the page behind its
/// magic, and the line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace collbench;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto report = launch::report_from_line(text);
  if (report && launch::report_from_line(launch::report_line(*report)) != report) std::abort();
  const auto reply = launch::reply_from_line(text);
  if (reply && launch::reply_from_line(launch::reply_line(*reply)) != reply) std::abort();

  std::string page(sizeof(launch::FlightPage), '\0');
  std::copy(launch::FlightPage::kMagic.begin(), launch::FlightPage::kMagic.end(), page.begin());
  text.copy(page.data() + launch::FlightPage::kMagic.size(), page.size() - launch::FlightPage::kMagic.size());
  // A step in the midst of a write is waited for 10 ms: one input of 64 is enough of that.
  constexpr std::size_t kVersion = offsetof(launch::FlightPage, version);
  if (size % 64 != 0) page[kVersion] = static_cast<char>(page[kVersion] & ~1);
  const auto file =
      std::filesystem::temp_directory_path() / ("collbench-flight-fuzz-" + std::to_string(::getpid()));
  try {
    write_file_by_rename(file, page);
    const std::vector<RankActivity> ranks{launch::read_flight_file(file)};
    const analysis::HangFinding found = analysis::find_hang(ranks, 0);
    if (found.text.empty() || analysis::flight_text(ranks, found, 80).empty()) std::abort();
    (void)analysis::flight_json(ranks, found);
  } catch (const Error& error) {
    if (describe(error).empty()) std::abort();
  }
  std::filesystem::remove(file);
  return 0;
}
