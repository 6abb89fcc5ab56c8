#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collbench {

/// The file that the loader may take for `name`, as dlopen takes it, by an empty or relative part of
/// `search_path`, the value of LD_LIBRARY_PATH: one in the current folder or below. Empty when there is none.
/// What stands before that part counts for nothing: the loader passes over files there that it cannot use.
[[nodiscard]] std::string in_current_folder(std::string_view name, std::string_view search_path);

/// Why `name` is not loaded though the loader may: it is in_current_folder, where others may write, and
/// what they leave there must not run. Empty when it may be.
[[nodiscard]] std::string why_refused(std::string_view name);

/// A shared library that is loaded while the program runs. It stays loaded to the end of the process: GPU
/// libraries leave threads and exit handlers behind that must not lose their code.
class SharedLibrary {
 public:
  /// Throws std::runtime_error with the loader's own words. `name` as dlopen takes it: a path, or a soname
  /// that is looked up as the loader does (LD_LIBRARY_PATH, the system's cache), but not in the current
  /// folder.
  explicit SharedLibrary(const std::string& name);

  /// Sets `function` to the library's function `name`, or to null when it has none. The caller answers for
  /// the type.
  template <typename Function>
  void find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(symbol(name));
  }

  /// The file that the loader took.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] void* symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string path_;
};

/// The first of `names` that can be loaded; none when none can, or when one before it is refused.
/// `unsupported_reason` then holds what the loader said of the first one, or why that one is refused.
[[nodiscard]] std::optional<SharedLibrary> first_library(const std::vector<std::string>& names,
                                                         std::string& unsupported_reason);

}  // namespace collbench
