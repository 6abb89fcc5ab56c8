// The libraries that consist of others' parts have this of their own: libcollbench_simulated_gpu.so, and the
// libnvidia-ml.so.1 that needs it, whose functions are thus those of tools/nccl_plan/simulated_gpu/nvml.cpp.
extern "C" int collbench_simulated_host() { return 1; }
