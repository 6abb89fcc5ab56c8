#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace collbench {

/// Who finds a library's functions by name.
enum class SymbolScope : std::uint8_t {
  own,        ///< only who asks the library for them
  everybody,  ///< also what is loaded after it, such as plugins that do not name it
};

/// A shared library that is loaded while the program runs. It stays loaded to the end of the process: GPU
/// libraries leave threads and exit handlers behind that must not lose their code.
class SharedLibrary {
 public:
  /// Throws std::runtime_error with the loader's own words. `name` as dlopen takes it: a path, or a soname
  /// that is looked up as the loader does (LD_LIBRARY_PATH, the system's cache).
  explicit SharedLibrary(const std::string& name, SymbolScope scope = SymbolScope::own);

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

  void* handle_;
  std::string path_;
};

/// The first of `names` that can be loaded; none when none can. `unsupported_reason` then holds what the
/// loader said of the first one.
[[nodiscard]] std::optional<SharedLibrary> first_library(const std::vector<std::string>& names,
                                                         std::string& unsupported_reason,
                                                         SymbolScope scope = SymbolScope::own);

}  // namespace collbench
