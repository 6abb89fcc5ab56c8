#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace collbench::simulated_gpu {

/// Throws Error (not_here) where `path` is no shared library of 64-bit x86, or ends before its tables do. The
/// loader calls one for another architecture a file that is not there, and dies of one that was cut short.
void require_shared_library(const std::string& path);

/// A function that an ELF file defines, as its symbol table (.symtab) has it. `address` is relative to where
/// the file is loaded; `bytes` is the length of its code.
struct ElfFunction {
  std::string_view name;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// A shared library's file, mapped for reading (System V ABI, "Object Files"; AMD64 supplement).
class ElfFile {
 public:
  /// Throws Error (not_here) when the file cannot be read, is no shared library of 64-bit x86, is damaged, or
  /// was stripped of its symbol table.
  explicit ElfFile(const std::string& path);
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ElfFile(ElfFile&&) = delete;
  ElfFile& operator=(ElfFile&&) = delete;
  ~ElfFile();

  /// In the file's order. The names live as long as this object.
  [[nodiscard]] const std::vector<ElfFunction>& functions() const { return functions_; }

 private:
  void read_functions(const std::string& path);

  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::vector<ElfFunction> functions_;
};

}  // namespace collbench::simulated_gpu
