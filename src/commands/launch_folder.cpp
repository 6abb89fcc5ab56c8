#include "src/commands/launch_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/record/run.hpp"
#include "base/record/run_stream.hpp"

namespace collbench::program {
namespace {

std::filesystem::path temporary_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "collbench-launches-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw file_error(name, "made", errno);
  return name;
}

/// Whoever else may put files there may put links there, which launches would follow, or records.
void require_own_folder(const std::filesystem::path& path) {
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0) return;  // there is none yet
  if (S_ISDIR(about.st_mode) && about.st_uid == ::geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0)
    return;
  throw usage_error("-J", fmt::format("{} is no folder that only you can write in", path.string()),
                    "remove it, or name another record");
}

}  // namespace

LaunchFolder::LaunchFolder(const std::string& record_path, bool resume, bool overwrite)
    : path_(record_path.empty() ? temporary_folder() : std::filesystem::path(record_path + ".launches")),
      is_temporary_(record_path.empty()) {
  if (is_temporary_) return;
  require_own_folder(path_);
  if (!resume && std::filesystem::exists(path_)) {
    if (!overwrite) {
      throw usage_error("-J", path_.string() + " has the launches of an earlier repeat",
                        "add --resume to continue from them, or --overwrite to replace them");
    }
    for (std::size_t number = 1; std::filesystem::remove(file(number)); ++number) continue;
  }
  if (::mkdir(path_.c_str(), 0755) != 0 && errno != EEXIST) throw file_error(path_, "made", errno);
  require_own_folder(path_);
}

LaunchFolder::~LaunchFolder() {
  std::error_code ignored;
  if (is_temporary_) std::filesystem::remove_all(path_, ignored);
}

std::vector<Run> LaunchFolder::complete_launches() const {
  std::vector<Run> launches;
  while (std::filesystem::exists(file(launches.size() + 1))) {
    const std::string name = file(launches.size() + 1).string();
    Run run = run_from_json_text(read_file(name), name);
    if (!run.complete) break;  // it was cut short, and is measured again
    if (!launches.empty()) require_same_measurement(launches.front(), run, name);
    launches.push_back(std::move(run));
  }
  return launches;
}

std::filesystem::path LaunchFolder::file(std::size_t number) const {
  return path_ / fmt::format("launch-{:03}.json", number);
}

const std::filesystem::path& LaunchFolder::keep() {
  is_temporary_ = false;
  return path_;
}

}  // namespace collbench::program
