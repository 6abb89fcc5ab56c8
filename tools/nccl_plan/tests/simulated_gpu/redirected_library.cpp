// A library with an export and an import to replace.
#include <unistd.h>

extern "C" {
int collbench_test_answer();
int collbench_test_answer() { return 1; }
int collbench_test_other();
int collbench_test_other() { return 2; }
int collbench_test_process();
int collbench_test_process() { return ::getpid(); }
}
