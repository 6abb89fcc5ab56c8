#include "tools/nccl_plan/simulated_gpu/redirection.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <span>

#include "base/error.hpp"
#include "tools/nccl_plan/simulated_gpu/cuda_types.hpp"

namespace collbench::simulated_gpu {
namespace {

struct UnsupportedFunction {
  std::string name;
  std::atomic<bool> called{false};
};

/// A function's name and whether it was called, as long as the code that refers to them: to the end of the
/// process.
UnsupportedFunction* keep_function(const std::string& name) {
  static std::mutex mutex;
  static auto& kept = *new std::deque<UnsupportedFunction>;  // where the leak sanitizer finds it, not in code
  const std::lock_guard lock(mutex);
  UnsupportedFunction& function = kept.emplace_back();
  function.name = name;
  return &function;
}

int report_unsupported(UnsupportedFunction* function) {
  if (!function->called.exchange(true)) {
    std::fprintf(stderr, "collbench: simulated GPU: %s is not simulated; the call fails with error 801\n",
                 function->name.c_str());
  }
  return kNotSupported;
}

std::uintptr_t page_bytes() { return static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)); }

void protect(std::uintptr_t begin, std::uintptr_t end, int protection) {
  const std::uintptr_t first = begin / page_bytes() * page_bytes();
  if (::mprotect(reinterpret_cast<void*>(first), end - first, protection) == 0) return;
  throw Error(ExitStatus::not_here, "simulated GPU",
              std::string("this system does not let loaded code be changed: ") + std::strerror(errno),
              "run it outside of the sandbox or security policy that forbids it");
}

/// Writes `bytes` over memory that is mapped with `protection`.
template <std::size_t n>
void overwrite(void* at, const std::array<std::byte, n>& bytes, int protection) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  protect(begin, begin + n, PROT_READ | PROT_WRITE);
  std::memcpy(at, bytes.data(), n);
  protect(begin, begin + n, protection);
}

std::array<std::byte, kJumpBytes> jump_to(const void* target) {
  std::array<std::byte, kJumpBytes> code{std::byte{0xff}, std::byte{0x25}};  // jmp [rip+0]
  std::memcpy(code.data() + 6, static_cast<const void*>(&target), sizeof target);
  return code;
}

/// What a loaded library's dynamic section points to.
struct DynamicTables {
  std::uintptr_t base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::span<const ElfW(Rela)> calls;
  std::span<const ElfW(Rela)> data;
};

DynamicTables dynamic_tables(void* library) {
  link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) return {};
  DynamicTables tables;
  tables.base = map->l_addr;
  const ElfW(Rela)* calls = nullptr;
  const ElfW(Rela)* data = nullptr;
  std::size_t calls_bytes = 0;
  std::size_t data_bytes = 0;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) tables.symbols = reinterpret_cast<const ElfW(Sym)*>(value);
    if (entry->d_tag == DT_STRTAB) tables.names = reinterpret_cast<const char*>(value);
    if (entry->d_tag == DT_JMPREL) calls = reinterpret_cast<const ElfW(Rela)*>(value);
    if (entry->d_tag == DT_PLTRELSZ) calls_bytes = value;
    if (entry->d_tag == DT_RELA) data = reinterpret_cast<const ElfW(Rela)*>(value);
    if (entry->d_tag == DT_RELASZ) data_bytes = value;
  }
  if (tables.symbols == nullptr || tables.names == nullptr) return {};
  if (calls != nullptr) tables.calls = {calls, calls_bytes / sizeof *calls};
  if (data != nullptr) tables.data = {data, data_bytes / sizeof *data};
  return tables;
}

std::array<std::byte, sizeof(std::uintptr_t)> bytes_of(std::uintptr_t address) {
  std::array<std::byte, sizeof address> bytes{};
  std::memcpy(bytes.data(), &address, sizeof address);
  return bytes;
}

constexpr std::size_t kStubBytes = 32;

/// mov rdi, function; jmp report_unsupported
std::array<std::byte, kStubBytes> stub_of(const UnsupportedFunction* function) {
  std::array<std::byte, kStubBytes> code{std::byte{0xf3}, std::byte{0x0f},
                                         std::byte{0x1e}, std::byte{0xfa},  // endbr64
                                         std::byte{0x48}, std::byte{0xbf}};
  const auto address = bytes_of(reinterpret_cast<std::uintptr_t>(function));
  std::memcpy(code.data() + 6, address.data(), address.size());
  const auto jump = jump_to(reinterpret_cast<const void*>(&report_unsupported));
  std::memcpy(code.data() + 14, jump.data(), jump.size());
  return code;
}

}  // namespace

void redirect(void* entry, const void* target) { overwrite(entry, jump_to(target), PROT_READ | PROT_EXEC); }

std::vector<void*> unsupported_functions(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  // One more in front: a caller under clang's function sanitizer reads the eight bytes before a function.
  const std::size_t bytes = (names.size() + 1) * kStubBytes;
  void* const code = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED)
    throw Error(ExitStatus::not_here, "simulated GPU", "no memory for code", "free some memory");
  std::vector<void*> stubs;
  for (const std::string& name : names) {
    void* const at = static_cast<std::byte*>(code) + (stubs.size() + 1) * kStubBytes;
    const auto stub = stub_of(keep_function(name));
    std::memcpy(at, stub.data(), stub.size());
    stubs.push_back(at);
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(code);
  protect(begin, begin + bytes, PROT_READ | PROT_EXEC);
  return stubs;
}

void* replace_export(void* library, const char* name, const void* replacement) {
  void* const before = ::dlsym(library, name);
  const DynamicTables tables = dynamic_tables(library);
  if (before == nullptr || tables.symbols == nullptr || tables.names == nullptr) return nullptr;
  // The linker puts a library's symbols before their names, so that the table ends there.
  for (const ElfW(Sym)* each = tables.symbols; reinterpret_cast<const char*>(each + 1) <= tables.names;
       ++each) {
    if (each->st_shndx == SHN_UNDEF || std::strcmp(tables.names + each->st_name, name) != 0) continue;
    overwrite(const_cast<ElfW(Addr)*>(&each->st_value),
              bytes_of(reinterpret_cast<std::uintptr_t>(replacement) - tables.base), PROT_READ | PROT_EXEC);
    return before;
  }
  return nullptr;
}

bool replace_import(void* library, const char* name, const void* replacement) {
  const DynamicTables tables = dynamic_tables(library);
  bool found = false;
  for (const auto& relocations : {tables.calls, tables.data}) {
    for (const ElfW(Rela) & relocation : relocations) {
      const auto type = ELF64_R_TYPE(relocation.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const ElfW(Sym)& symbol = tables.symbols[ELF64_R_SYM(relocation.r_info)];
      if (std::strcmp(tables.names + symbol.st_name, name) != 0) continue;
      overwrite(reinterpret_cast<void*>(tables.base + relocation.r_offset),
                bytes_of(reinterpret_cast<std::uintptr_t>(replacement)), PROT_READ | PROT_WRITE);
      found = true;
    }
  }
  return found;
}

}  // namespace collbench::simulated_gpu
