#include "tools/nccl_plan/simulated_gpu/elf_file.hpp"

#include <elf.h>
#include <gmock/gmock.h>

#include <fstream>
#include <functional>

#include "base/error.hpp"
#include "base/files.hpp"
#include "tests/base/temporary_folder.hpp"

namespace collbench::simulated_gpu {
namespace {

using testing::HasSubstr;

TEST(ElfFile, ListsTheFunctionsOfALibrary) {
  const ElfFile file(COLLBENCH_REDIRECTED_LIBRARY);
  int found = 0;
  for (const ElfFunction& function : file.functions()) {
    if (function.name != "collbench_test_answer" && function.name != "collbench_test_other") continue;
    ++found;
    EXPECT_GT(function.address, 0U);
    EXPECT_GT(function.bytes, 0U);
  }
  EXPECT_EQ(found, 2);
}

/// The words of the refusal of the library's file by `read` after `damage`, which gets its bytes.
std::string refusal_by(const std::function<void(const std::string&)>& read,
                       const std::function<void(std::string&)>& damage) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "library.so";
  std::string bytes = read_file(COLLBENCH_REDIRECTED_LIBRARY);
  damage(bytes);
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    read(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::not_here);
    return error.what();
  }
  return "";
}

std::string refusal(const std::function<void(std::string&)>& damage) {
  return refusal_by([](const std::string& path) { const ElfFile file(path); }, damage);
}

Elf64_Ehdr& header_of(std::string& bytes) { return *reinterpret_cast<Elf64_Ehdr*>(bytes.data()); }

TEST(ElfFile, RefusesWhatIsNoUnstrippedLibraryOfThisArchitecture) {
  EXPECT_EQ(refusal([](std::string&) {}), "");
  EXPECT_THAT(refusal([](std::string& bytes) { bytes = "libnccl"; }), HasSubstr("is no shared library"));
  EXPECT_THAT(refusal([](std::string& bytes) { bytes[0] = 'x'; }), HasSubstr("is no shared library"));
  EXPECT_THAT(refusal([](std::string& bytes) { header_of(bytes).e_machine = EM_AARCH64; }),
              HasSubstr("another architecture"));
  EXPECT_THAT(refusal([](std::string& bytes) { header_of(bytes).e_type = ET_REL; }),
              HasSubstr("is no shared library"));
  EXPECT_THAT(refusal([](std::string& bytes) { header_of(bytes).e_shnum = 0; }), HasSubstr("was stripped"));
}

TEST(ElfFile, RefusesADamagedFile) {
  EXPECT_THAT(refusal([](std::string& bytes) { bytes.resize(bytes.size() / 2); }), HasSubstr("is damaged"));
  EXPECT_THAT(refusal([](std::string& bytes) { header_of(bytes).e_shoff = ~std::uint64_t{0} - 7; }),
              HasSubstr("is damaged"));
  const auto each_section = [](std::string& bytes, const std::function<void(Elf64_Shdr&)>& change) {
    auto* const sections = reinterpret_cast<Elf64_Shdr*>(bytes.data() + header_of(bytes).e_shoff);
    for (int i = 0; i < header_of(bytes).e_shnum; ++i) change(sections[i]);
  };
  EXPECT_THAT(refusal([&](std::string& bytes) {
                each_section(bytes, [](Elf64_Shdr& section) { section.sh_link = 60000; });
              }),
              HasSubstr("have no names"));
  EXPECT_THAT(refusal([&](std::string& bytes) {
                each_section(bytes, [](Elf64_Shdr& section) { section.sh_size = ~std::uint64_t{0} / 2; });
              }),
              HasSubstr("is damaged"));
}

TEST(RequireSharedLibrary, RefusesWhatTheLoaderHasNoWordsFor) {
  const auto refused = [](const std::function<void(std::string&)>& damage) {
    return refusal_by(require_shared_library, damage);
  };
  EXPECT_EQ(refused([](std::string&) {}), "");
  EXPECT_EQ(refused([](std::string& bytes) { header_of(bytes).e_shnum = 0; }), "");  // stripped, and loadable
  EXPECT_THAT(refused([](std::string& bytes) { bytes.clear(); }), HasSubstr("is no shared library"));
  EXPECT_THAT(refused([](std::string& bytes) { bytes[0] = 'x'; }), HasSubstr("is no shared library"));
  EXPECT_THAT(refused([](std::string& bytes) { header_of(bytes).e_machine = EM_AARCH64; }),
              HasSubstr("another architecture"));
  EXPECT_THAT(refused([](std::string& bytes) { bytes.resize(bytes.size() - 1); }), HasSubstr("is damaged"));
  EXPECT_THROW(require_shared_library("/none.so"), Error);
}

TEST(ElfFile, RefusesAFileThatIsNotThere) {
  EXPECT_THROW(ElfFile("/none.so"), Error);
  EXPECT_THROW(ElfFile("/tmp"), Error);
}

}  // namespace
}  // namespace collbench::simulated_gpu
