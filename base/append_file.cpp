#include "base/append_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace collbench {

AppendFile::AppendFile(std::filesystem::path path, std::uintmax_t keep_bytes)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (file_.get() < 0) throw file_error(path_, "written", errno);
  struct stat is{};
  if (::fstat(file_.get(), &is) != 0) throw file_error(path_, "looked at", errno);
  const auto bytes = static_cast<off_t>(keep_bytes);
  if (is.st_size != bytes && ::ftruncate(file_.get(), bytes) != 0) throw file_error(path_, "cut", errno);
}

}  // namespace collbench
