#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace collbench::topology {

/// A folder of its own that is laid out as a test wants, such as a copy of /sys; gone with this object.
class SysfsTree {
 public:
  SysfsTree() {
    std::string name = (std::filesystem::temp_directory_path() / "collbench-sysfs-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  SysfsTree(const SysfsTree&) = delete;
  SysfsTree& operator=(const SysfsTree&) = delete;
  SysfsTree(SysfsTree&&) = delete;
  SysfsTree& operator=(SysfsTree&&) = delete;
  ~SysfsTree() { std::filesystem::remove_all(root_); }

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

  // NOLINTNEXTLINE(modernize-use-nodiscard): most tests want the file and not its path
  std::filesystem::path write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
    return root_ / file;
  }
  /// A program of a few lines of sh.
  [[nodiscard]] std::string script(const std::string& file, const std::string& lines) const {
    const std::filesystem::path path = write(file, "#!/bin/sh\n" + lines);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  }
  void link(const std::string& from, const std::string& to) const {
    std::filesystem::create_directories((root_ / from).parent_path());
    std::filesystem::create_symlink(to, root_ / from);
  }
  /// A PCI function with a folder at devices/WAY and its link below bus/pci/devices.
  void pci_function(const std::string& address, const std::string& way, const std::string& class_code,
                    const std::string& vendor) const {
    write("devices/" + way + "/class", class_code);
    write("devices/" + way + "/vendor", vendor);
    link("bus/pci/devices/" + address, "../../../devices/" + way);
  }

 private:
  std::filesystem::path root_;
};

}  // namespace collbench::topology
