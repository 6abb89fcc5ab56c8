#include "tools/nccl_plan/simulated_gpu/elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "base/error.hpp"
#include "base/files.hpp"

namespace collbench::simulated_gpu {
namespace {

Error unusable(const std::string& path, const std::string& what) {
  return {ExitStatus::not_here, path, what,
          "name an unstripped libnccl.so.2 for x86-64, as in NVIDIA's packages"};
}

/// `count` objects at `offset` of the file.
template <class T>
std::span<const T> objects_at(std::span<const std::byte> file, std::uint64_t offset, std::uint64_t count,
                              const std::string& path) {
  if (offset > file.size() || count > (file.size() - offset) / sizeof(T) || offset % alignof(T) != 0) {
    throw unusable(path, "is damaged: its tables lie outside of the file");
  }
  return {reinterpret_cast<const T*>(file.data() + offset), count};
}

/// The text that starts at `offset` of a string table; it ends with the table at the latest.
std::string_view name_at(std::span<const char> names, std::uint64_t offset) {
  if (offset >= names.size()) return {};
  const char* const begin = names.data() + offset;
  return {begin, ::strnlen(begin, names.size() - offset)};
}

void check_header(const Elf64_Ehdr& header, const std::string& path) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) throw unusable(path, "is no shared library");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) {
    throw unusable(path, "is for another architecture than x86-64, the only one that can be simulated");
  }
  if (header.e_type != ET_DYN || header.e_shentsize != sizeof(Elf64_Shdr)) {
    throw unusable(path, "is no shared library");
  }
}

Error unreadable(const std::string& path) {
  return unusable(path, std::string("cannot be read: ") + std::strerror(errno));
}

/// Throws for what is too short to have a header, or is no file.
std::size_t length_of(const FileDescriptor& file, const std::string& path) {
  struct stat status{};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) throw unreadable(path);
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || bytes < sizeof(Elf64_Ehdr)) throw unusable(path, "is no shared library");
  return bytes;
}

FileDescriptor opened(const std::string& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

void require_shared_library(const std::string& path) {
  const FileDescriptor file = opened(path);
  const std::size_t bytes = length_of(file, path);
  Elf64_Ehdr header{};
  if (::pread(file.get(), &header, sizeof header, 0) != ssize_t{sizeof header}) throw unreadable(path);
  check_header(header, path);
  if (header.e_shoff > bytes || header.e_shnum > (bytes - header.e_shoff) / sizeof(Elf64_Shdr)) {
    throw unusable(path, "is damaged: its tables lie outside of the file");
  }
}

ElfFile::ElfFile(const std::string& path) {
  const FileDescriptor file = opened(path);
  size_ = length_of(file, path);
  void* const mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) throw unreadable(path);
  bytes_ = static_cast<const std::byte*>(mapped);
  try {
    read_functions(path);
  } catch (...) {
    ::munmap(mapped, size_);
    throw;
  }
}

ElfFile::~ElfFile() { ::munmap(const_cast<std::byte*>(bytes_), size_); }

void ElfFile::read_functions(const std::string& path) {
  const std::span file(bytes_, size_);
  const Elf64_Ehdr& header = objects_at<Elf64_Ehdr>(file, 0, 1, path)[0];
  check_header(header, path);
  const auto sections = objects_at<Elf64_Shdr>(file, header.e_shoff, header.e_shnum, path);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB) continue;
    if (section.sh_link >= sections.size()) throw unusable(path, "is damaged: its symbols have no names");
    const Elf64_Shdr& strings = sections[section.sh_link];
    const auto names = objects_at<char>(file, strings.sh_offset, strings.sh_size, path);
    for (const Elf64_Sym& symbol :
         objects_at<Elf64_Sym>(file, section.sh_offset, section.sh_size / sizeof(Elf64_Sym), path)) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
      functions_.push_back({name_at(names, symbol.st_name), symbol.st_value, symbol.st_size});
    }
  }
  if (functions_.empty())
    throw unusable(path, "was stripped: without its symbol table nothing can be redirected");
}

}  // namespace collbench::simulated_gpu
