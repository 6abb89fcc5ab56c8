// A library with an export to replace.
extern "C" {
int collbench_test_answer();
int collbench_test_answer() { return 1; }
int collbench_test_other();
int collbench_test_other() { return 2; }
}
