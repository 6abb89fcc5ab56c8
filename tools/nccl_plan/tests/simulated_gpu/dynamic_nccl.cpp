// What looks like an old libnccl that takes its CUDA runtime from another library: it needs libcudart.so.12,
// and has a kernel to register.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the names are CUDA's and NCCL's.
int cudaGetDeviceCount(int* count);
void** __cudaRegisterFatBinary(const void* code);

int ncclGetVersion(int* version);
int ncclGetVersion(int* version) {
  *version = 21600;
  return 0;
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

int collbench_test_gpus();
int collbench_test_gpus() {
  int count = 0;
  return __cudaRegisterFatBinary(nullptr) != nullptr && cudaGetDeviceCount(&count) == 0 ? count : -1;
}
}
