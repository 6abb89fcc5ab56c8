#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/record/measured_block.hpp"
#include "base/record/run.hpp"

namespace collbench {

/// One launch of a stream: what was known when its first block began (rows without measurements), and its
/// blocks.
struct StreamedLaunch {
  Run run;
  LaunchBlocks blocks;
  std::optional<Incident> incident;  ///< what cut it short
  bool ended = false;                ///< it came to its end, as streams before 0.2 did not say
};

/// A run as it was written block by block (docs/formats.md): one line per launch, one per block, and
/// one of what cut the launch short.
struct RunStream {
  std::vector<StreamedLaunch> launches;  ///< at least one, all of the same measurement
  std::size_t whole_bytes = 0;  ///< up to the end of the last whole line; a killed run may leave more
};

/// The line that begins a launch, that of a block, that of what cut the launch short, and that of its end;
/// all end in a newline.
[[nodiscard]] std::string launch_line(const Run& run);
[[nodiscard]] std::string block_line(const MeasuredBlock& block);
[[nodiscard]] std::string incident_line(const Incident& incident);
[[nodiscard]] std::string end_line();

/// Whether `text` begins as a stream does.
[[nodiscard]] bool looks_like_stream(std::string_view text);

/// Throws Error (usage) with file and line for a stream that is damaged anywhere but in a last line without
/// an end, and for one whose launches are not of the same measurement.
[[nodiscard]] RunStream run_stream_from_text(std::string_view text, std::string_view file_name);

/// The record of what the stream holds; complete where its last launch came to its end.
[[nodiscard]] Run run_of(const RunStream& stream);

/// The run of a file's text: of a record, or of a stream as far as it goes. Throws Error (usage).
[[nodiscard]] Run run_from_text(std::string_view text, std::string_view file_name);

/// Throws Error (usage) that names the first thing in which the measurement of `then`, from line `where`,
/// differs from that of `now`: backend, what was simulated, libraries, ranks and their hosts, how times of
/// ranks became one, rows. What differs cannot be one measurement.
void require_same_measurement(const Run& then, const Run& now, const std::string& where);

}  // namespace collbench
