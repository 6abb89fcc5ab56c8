#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace collbench {

/// Throws Error (usage) when `path` cannot become a file here: its folder is missing or not writable, or it
/// exists already and `overwrite` is false. `option` is named in the message. Leaves nothing behind.
void require_writable(const std::filesystem::path& path, bool overwrite, std::string_view option);

/// Writes `text` to a temporary file beside `path`, syncs it and renames it over `path`: a reader, or a
/// crash, sees the old file or the new one and never a part. Throws Error (usage) with the system's reason.
void write_file_by_rename(const std::filesystem::path& path, std::string_view text);

/// The whole file. Throws Error (usage) naming the path and the system's reason.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

}  // namespace collbench
