#include "collectives/nccl/loader/library_search.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "collectives/nccl/loader/own_libraries.hpp"

namespace collbench::collectives::library_search_test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class LibrarySearch : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("library_places." + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "lib/python3.11/site-packages/nvidia/nccl/lib");
    std::ofstream(folder_ / "lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2") << "";
    std::filesystem::create_directories(folder_ / "lib/python2.7/site-packages");
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    ::unsetenv("COLLBENCH_NCCL");
  }

  std::filesystem::path folder_;
};

TEST_F(LibrarySearch, PackagesOfPython3AreFound) {
  EXPECT_THAT(package_folders({folder_}), ElementsAre((folder_ / "lib/python3.11/site-packages").string()));
  EXPECT_THAT(package_folders({"/no/such/prefix"}), IsEmpty());
}

TEST_F(LibrarySearch, TheSystemComesFirstThenPackages) {
  const auto candidates = library_candidates(wanted_nccl(), package_folders({folder_}));
  EXPECT_EQ(candidates.front(), "libnccl.so.2");
  EXPECT_EQ(candidates.back(),
            (folder_ / "lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2").string());
}

TEST_F(LibrarySearch, OnlyFilesThatAreThereAreTriedInPackages) {
  const auto candidates = library_candidates(wanted_cuda_runtime(), package_folders({folder_}));
  EXPECT_THAT(candidates, ElementsAre("libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0",
                                      "/usr/local/cuda/lib64/libcudart.so"));
}

TEST_F(LibrarySearch, ANamedFileIsTheOnlyCandidate) {
  ::setenv("COLLBENCH_NCCL", "/opt/mine/libnccl.so", 1);
  EXPECT_THAT(library_candidates(wanted_nccl(), package_folders({folder_})),
              ElementsAre("/opt/mine/libnccl.so"));
}

TEST(OwnLibrarySearch, BesideTheProgramThenInLib) {
  EXPECT_THAT(own_library_candidates("libours.so", "/usr/local/bin/collbench", nullptr),
              ElementsAre("/usr/local/bin/libours.so", "/usr/local/lib/libours.so"));
}

TEST(OwnLibrarySearch, ANamedFileIsTheOnlyCandidate) {
  EXPECT_THAT(own_library_candidates("libours.so", "/usr/bin/collbench", "/tmp/k.so"),
              ElementsAre("/tmp/k.so"));
  EXPECT_THAT(own_library_candidates("libours.so", "/b/c", ""),
              ElementsAre("/b/libours.so", "/lib/libours.so"));
}

TEST(OwnLibrarySearch, DriversOfCuda12GetKernelsThatTheyRun) {
  const auto first = [](int driver_cuda) { return kernel_library_files(driver_cuda).front(); };
  for (const int older : {11080, 12000, 12090, 12990})
    EXPECT_EQ(first(older), "libcollbench_kernels_cuda12.so") << older;
  for (const int newer_or_unknown : {0, 13000, 13050, 14000})
    EXPECT_EQ(first(newer_or_unknown), "libcollbench_kernels.so") << newer_or_unknown;
  for (const int driver_cuda : {0, 12040, 13000})  // one alone is taken everywhere
    EXPECT_THAT(kernel_library_files(driver_cuda),
                UnorderedElementsAre("libcollbench_kernels.so", "libcollbench_kernels_cuda12.so"));
}

TEST(OwnLibrarySearch, NeverInTheCurrentFolder) {
  for (const char* program : {"", "collbench", "./collbench", "build/collbench"})
    EXPECT_THAT(own_library_candidates("libours.so", program, nullptr), IsEmpty()) << program;
}

TEST_F(LibrarySearch, ThePython3OfPathIsFoundWithoutAnActivatedEnvironment) {
  const std::string own = folder_.string();
  std::filesystem::create_directories(folder_ / "bin");
  std::filesystem::create_directories(folder_ / "empty");
  // As in a virtual environment: a link to a Python elsewhere.
  std::filesystem::create_symlink("/proc/self/exe", folder_ / "bin/python3");
  EXPECT_EQ(prefix_of_python(own + "/bin"), own);
  EXPECT_EQ(prefix_of_python(own + "/empty::" + own + "/bin/:/usr/bin"), own);
  EXPECT_EQ(prefix_of_python(own + "/empty"), std::nullopt);
  EXPECT_EQ(prefix_of_python(""), std::nullopt);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  for (const char* relative : {"bin", "./bin", ".", ":", "empty/../bin"})
    EXPECT_EQ(prefix_of_python(relative), std::nullopt) << relative;
  std::filesystem::current_path(before);
}

TEST(PythonPrefixes, AreAbsolute) {
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX", "HOME"}) {
    const char* const before = ::getenv(variable);
    const std::string kept = before == nullptr ? "" : before;
    for (const char* value : {"", ".", "venv", "./venv", "../venv", "~/venv"}) {
      ::setenv(variable, value, 1);
      EXPECT_THAT(python_prefixes(), Each(StartsWith("/"))) << variable << '=' << value;
    }
    before == nullptr ? ::unsetenv(variable) : ::setenv(variable, kept.c_str(), 1);
  }
}

TEST(PythonPrefixes, AnActiveEnvironmentComesFirst) {
  const char* const before = ::getenv("VIRTUAL_ENV");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("VIRTUAL_ENV", "/home/me/venv", 1);
  EXPECT_EQ(python_prefixes().front(), "/home/me/venv");
  EXPECT_THAT(python_prefixes(), Contains("/usr"));
  before == nullptr ? ::unsetenv("VIRTUAL_ENV") : ::setenv("VIRTUAL_ENV", kept.c_str(), 1);
}

}  // namespace
}  // namespace collbench::collectives::library_search_test
