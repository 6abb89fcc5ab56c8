// The readers of /sys over a tree that the input lays out: lines "PATH=TEXT" are files, "PATH>TARGET" links,
// all below a folder of their own. With TMPDIR=/dev/shm it is ten times faster.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/fuzz_reader.hpp"
#include "topology/readers/readers.hpp"

namespace {

namespace fs = std::filesystem;

/// Below `root`, whatever dots and slashes the input has; none for what would lie elsewhere.
fs::path below(const fs::path& root, std::string_view name) {
  const fs::path path = (root / fs::path(name).relative_path()).lexically_normal();
  const std::string start = root.string() + "/";
  return path.string().compare(0, start.size(), start) == 0 ? path : fs::path();
}

void lay_out(const fs::path& root, std::string_view lines) {
  std::error_code ignored;
  int files = 0;
  while (!lines.empty() && files++ < 200) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const std::size_t mark = line.find_first_of("=>");
    if (mark == std::string_view::npos || line.find('\0') != std::string_view::npos) continue;
    const fs::path path = below(root, line.substr(0, mark));
    if (path.empty() || path.string().size() > 1000) continue;
    fs::create_directories(path.parent_path(), ignored);
    const std::string text(line.substr(mark + 1));
    if (line[mark] == '=') {
      std::ofstream(path) << text << '\n';
    } else if (text.empty() || text[0] != '/') {  // a link out of the tree would read this machine
      fs::create_symlink(text.substr(0, 1000), path, ignored);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return collbench::fuzz_reader(data, size, [](std::string_view text, std::string_view /*file*/) {
    const fs::path root = fs::temp_directory_path() / ("collbench-sysfs-fuzz-" + std::to_string(::getpid()));
    std::error_code ignored;
    fs::remove_all(root, ignored);
    fs::create_directories(root / "deep/down/below", ignored);
    const fs::path sysfs = root / "deep/down/below";  // room for links with "../../.."
    lay_out(sysfs, text);
    const collbench::topology::Host host = collbench::topology::read_sysfs(sysfs);
    fs::remove_all(root, ignored);
    return host;
  });
}
