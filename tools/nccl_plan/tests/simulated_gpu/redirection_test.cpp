#include "tools/nccl_plan/simulated_gpu/redirection.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <unistd.h>

namespace collbench::simulated_gpu {
namespace {

/// Long enough for a jump, and not inlined: the calls below are calls.
[[gnu::noinline]] int slow_sum(const volatile int* numbers) {
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += numbers[i];
  return sum;
}
int always_seven(const volatile int* /*numbers*/) { return 7; }

TEST(Redirection, ARedirectedFunctionIsTheOther) {
  const volatile int numbers[] = {1, 1, 1, 1, 1, 1, 1, 1};
  int (*volatile call)(const volatile int*) = slow_sum;
  EXPECT_EQ(call(numbers), 8);
  redirect(reinterpret_cast<void*>(&slow_sum), reinterpret_cast<const void*>(&always_seven));
  EXPECT_EQ(call(numbers), 7);
}

TEST(Redirection, AnUnsupportedFunctionNamesItselfOnceAndFails) {
  const auto functions = unsupported_functions({"cudaNone", "cudaOther"});
  ASSERT_EQ(functions.size(), 2U);
  const auto none = reinterpret_cast<int (*)(int, const char*)>(functions[0]);
  testing::internal::CaptureStderr();
  EXPECT_EQ(none(1, "a"), 801);
  EXPECT_EQ(none(2, "b"), 801);
  EXPECT_EQ(reinterpret_cast<int (*)()>(functions[1])(), 801);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "collbench: simulated GPU: cudaNone is not simulated; the call fails with error 801\n"
            "collbench: simulated GPU: cudaOther is not simulated; the call fails with error 801\n");
  EXPECT_TRUE(unsupported_functions({}).empty());
}

TEST(Redirection, AReplacedExportIsFoundByDlsymAndTheOldOneStaysCallable) {
  void* const library = ::dlopen(COLLBENCH_REDIRECTED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto found = [&](const char* name) { return reinterpret_cast<int (*)()>(::dlsym(library, name))(); };
  EXPECT_EQ(found("collbench_test_answer"), 1);
  int (*const forty_two)() = [] { return 42; };
  void* const before =
      replace_export(library, "collbench_test_answer", reinterpret_cast<const void*>(forty_two));
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(found("collbench_test_answer"), 42);
  EXPECT_EQ(reinterpret_cast<int (*)()>(before)(), 1);
  EXPECT_EQ(found("collbench_test_other"), 2);
  EXPECT_EQ(replace_export(library, "collbench_test_missing", nullptr), nullptr);
}

TEST(Redirection, AReplacedImportIsForTheLibraryAlone) {
  void* const library = ::dlopen(COLLBENCH_REDIRECTED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto process = reinterpret_cast<int (*)()>(::dlsym(library, "collbench_test_process"));
  EXPECT_EQ(process(), ::getpid());
  int (*const minus_one)() = [] { return -1; };
  EXPECT_TRUE(replace_import(library, "getpid", reinterpret_cast<const void*>(minus_one)));
  EXPECT_EQ(process(), -1);
  EXPECT_GT(::getpid(), 0);
  EXPECT_FALSE(replace_import(library, "getppid", nullptr));
}

}  // namespace
}  // namespace collbench::simulated_gpu
