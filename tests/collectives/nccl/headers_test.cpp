// What we declare of NCCL, CUDA and cuBLASLt in our own words, against the real headers. Compiled only where
// they are found (CMakeLists.txt says which it took); every comparison is made by the compiler.
#include <cublasLt.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "collectives/nccl/loader/cublas_lt_library.hpp"
#include "collectives/nccl/loader/cuda_library.hpp"
#include "collectives/nccl/loader/nccl_library.hpp"

namespace collbench::collectives::headers_test {
namespace {

template <typename Ours, typename Theirs>
constexpr bool same(Ours ours, Theirs theirs) {
  return sizeof ours == sizeof theirs && static_cast<long>(ours) == static_cast<long>(theirs);
}

// Results.
static_assert(same(NcclResult::success, ncclSuccess));
static_assert(same(NcclResult::unhandled_cuda_error, ncclUnhandledCudaError));
static_assert(same(NcclResult::system_error, ncclSystemError));
static_assert(same(NcclResult::internal_error, ncclInternalError));
static_assert(same(NcclResult::invalid_argument, ncclInvalidArgument));
static_assert(same(NcclResult::invalid_usage, ncclInvalidUsage));
static_assert(same(NcclResult::remote_error, ncclRemoteError));
static_assert(same(NcclResult::in_progress, ncclInProgress));
static_assert(same(CudaResult::success, cudaSuccess));
static_assert(same(CudaResult::invalid_value, cudaErrorInvalidValue));
static_assert(same(CudaResult::stream_capture_unsupported, cudaErrorStreamCaptureUnsupported));
static_assert(same(CudaResult::memory_allocation, cudaErrorMemoryAllocation));
static_assert(same(CudaResult::initialization_error, cudaErrorInitializationError));
static_assert(same(CudaResult::insufficient_driver, cudaErrorInsufficientDriver));
static_assert(same(CudaResult::no_device, cudaErrorNoDevice));
static_assert(same(CudaResult::system_not_ready, cudaErrorSystemNotReady));
static_assert(same(CudaResult::invalid_device, cudaErrorInvalidDevice));
static_assert(same(CudaResult::ecc_uncorrectable, cudaErrorECCUncorrectable));
static_assert(same(CudaResult::not_ready, cudaErrorNotReady));
static_assert(same(CudaResult::peer_access_already_enabled, cudaErrorPeerAccessAlreadyEnabled));
static_assert(same(CudaResult::too_many_peers, cudaErrorTooManyPeers));
static_assert(same(CudaResult::devices_unavailable, cudaErrorDevicesUnavailable));
static_assert(same(CudaResult::no_kernel_image, cudaErrorNoKernelImageForDevice));
static_assert(same(CudaResult::unsupported_ptx, cudaErrorUnsupportedPtxVersion));
static_assert(same(CublasStatus::success, CUBLAS_STATUS_SUCCESS));
static_assert(same(CublasStatus::not_initialized, CUBLAS_STATUS_NOT_INITIALIZED));
static_assert(same(CublasStatus::alloc_failed, CUBLAS_STATUS_ALLOC_FAILED));
static_assert(same(CublasStatus::invalid_value, CUBLAS_STATUS_INVALID_VALUE));
static_assert(same(CublasStatus::arch_mismatch, CUBLAS_STATUS_ARCH_MISMATCH));
static_assert(same(CublasStatus::execution_failed, CUBLAS_STATUS_EXECUTION_FAILED));
static_assert(same(CublasStatus::internal_error, CUBLAS_STATUS_INTERNAL_ERROR));
static_assert(same(CublasStatus::not_supported, CUBLAS_STATUS_NOT_SUPPORTED));
static_assert(same(CudaResult::system_driver_mismatch, cudaErrorSystemDriverMismatch));

// Types, reductions, flags.
static_assert(same(NcclType::int8, ncclInt8));
static_assert(same(NcclType::uint8, ncclUint8));
static_assert(same(NcclType::int32, ncclInt32));
static_assert(same(NcclType::uint32, ncclUint32));
static_assert(same(NcclType::int64, ncclInt64));
static_assert(same(NcclType::uint64, ncclUint64));
static_assert(same(NcclType::float16, ncclFloat16));
static_assert(same(NcclType::float32, ncclFloat32));
static_assert(same(NcclType::float64, ncclFloat64));
static_assert(same(NcclType::bfloat16, ncclBfloat16));
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 24, 0)
static_assert(same(NcclType::float8_e4m3, ncclFloat8e4m3));
static_assert(same(NcclType::float8_e5m2, ncclFloat8e5m2));
#endif
static_assert(same(NcclReduction::sum, ncclSum));
static_assert(same(NcclReduction::prod, ncclProd));
static_assert(same(NcclReduction::max, ncclMax));
static_assert(same(NcclReduction::min, ncclMin));
static_assert(same(NcclReduction::avg, ncclAvg));
static_assert(same(CudaCopy::host_to_device, cudaMemcpyHostToDevice));
static_assert(same(CudaCopy::device_to_host, cudaMemcpyDeviceToHost));
static_assert(same(CudaCopy::device_to_device, cudaMemcpyDeviceToDevice));
static_assert(kCudaHostPortable == cudaHostAllocPortable);
static_assert(same(CublasData::real_32f, CUDA_R_32F));
static_assert(same(CublasData::real_64f, CUDA_R_64F));
static_assert(same(CublasData::real_16f, CUDA_R_16F));
static_assert(same(CublasData::real_16bf, CUDA_R_16BF));
static_assert(same(CublasData::real_8f_e4m3, CUDA_R_8F_E4M3));
static_assert(same(CublasCompute::of_32f, CUBLAS_COMPUTE_32F));
static_assert(same(CublasCompute::of_64f, CUBLAS_COMPUTE_64F));
static_assert(same(CublasCompute::of_32f_fast_tf32, CUBLAS_COMPUTE_32F_FAST_TF32));
static_assert(same(CublasLtDescription::transpose_a, CUBLASLT_MATMUL_DESC_TRANSA));
static_assert(same(CublasLtDescription::transpose_b, CUBLASLT_MATMUL_DESC_TRANSB));
static_assert(same(CublasLtDescription::fast_accumulation, CUBLASLT_MATMUL_DESC_FAST_ACCUM));
static_assert(same(CublasLtPreference::max_workspace_bytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
static_assert(same(kCublasTransposed, CUBLAS_OP_T));
static_assert(same(CudaAttribute::compute_capability_major, cudaDevAttrComputeCapabilityMajor));
static_assert(same(CudaAttribute::compute_capability_minor, cudaDevAttrComputeCapabilityMinor));
static_assert(same(CudaAttribute::l2_bytes, cudaDevAttrL2CacheSize));
static_assert(same(CudaCapture::own_thread, cudaStreamCaptureModeThreadLocal));
static_assert(kCudaStreamNonBlocking == cudaStreamNonBlocking);

// Structs.
static_assert(sizeof(NcclUniqueId) == sizeof(ncclUniqueId) && alignof(NcclUniqueId) == alignof(ncclUniqueId));
static_assert(sizeof(NcclConfig) >= sizeof(ncclConfig_t) || NCCL_VERSION_CODE > NCCL_VERSION(2, 30, 7));
static_assert(offsetof(NcclConfig, size) == offsetof(ncclConfig_t, size));
static_assert(offsetof(NcclConfig, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(NcclConfig, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(NcclConfig, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(offsetof(NcclConfig, cga_cluster_size) == offsetof(ncclConfig_t, cgaClusterSize));
static_assert(offsetof(NcclConfig, min_ctas) == offsetof(ncclConfig_t, minCTAs));
static_assert(offsetof(NcclConfig, max_ctas) == offsetof(ncclConfig_t, maxCTAs));
static_assert(offsetof(NcclConfig, net_name) == offsetof(ncclConfig_t, netName));
static_assert(offsetof(NcclConfig, split_share) == offsetof(ncclConfig_t, splitShare));
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 26, 0)
static_assert(offsetof(NcclConfig, traffic_class) == offsetof(ncclConfig_t, trafficClass));
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
static_assert(offsetof(NcclConfig, communicator_name) == offsetof(ncclConfig_t, commName));
static_assert(offsetof(NcclConfig, collnet_enable) == offsetof(ncclConfig_t, collnetEnable));
static_assert(offsetof(NcclConfig, cta_policy) == offsetof(ncclConfig_t, CTAPolicy));
static_assert(offsetof(NcclConfig, shrink_share) == offsetof(ncclConfig_t, shrinkShare));
static_assert(offsetof(NcclConfig, nvls_ctas) == offsetof(ncclConfig_t, nvlsCTAs));
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
static_assert(offsetof(NcclConfig, channels_per_net_peer) == offsetof(ncclConfig_t, nChannelsPerNetPeer));
static_assert(offsetof(NcclConfig, nvlink_centric_scheduling) == offsetof(ncclConfig_t, nvlinkCentricSched));
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 29, 0)
static_assert(offsetof(NcclConfig, graph_usage_mode) == offsetof(ncclConfig_t, graphUsageMode));
static_assert(offsetof(NcclConfig, rma_contexts) == offsetof(ncclConfig_t, numRmaCtx));
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 30, 0)
static_assert(offsetof(NcclConfig, max_p2p_peers) == offsetof(ncclConfig_t, maxP2pPeers));
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 30, 7)
static_assert(offsetof(NcclConfig, graph_stream_ordering) == offsetof(ncclConfig_t, graphStreamOrdering));
#endif
static_assert(NcclConfig::kUndefined == NCCL_CONFIG_UNDEF_INT);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 31, 0)
static_assert(sizeof(NcclCallConfig) <= sizeof(ncclCollConfig_t));
static_assert(sizeof(NcclCallConfig) == sizeof(ncclCollConfig_t) ||
              NCCL_VERSION_CODE >= NCCL_VERSION(2, 32, 0));
static_assert(offsetof(NcclCallConfig, size) == offsetof(ncclCollConfig_t, size));
static_assert(offsetof(NcclCallConfig, magic) == offsetof(ncclCollConfig_t, magic));
static_assert(offsetof(NcclCallConfig, version) == offsetof(ncclCollConfig_t, version));
static_assert(offsetof(NcclCallConfig, extensions) == offsetof(ncclCollConfig_t, ext));
static_assert(offsetof(NcclCallConfig, min_ctas) == offsetof(ncclCollConfig_t, minCTAs));
static_assert(offsetof(NcclCallConfig, max_ctas) == offsetof(ncclCollConfig_t, maxCTAs));
static_assert(offsetof(NcclCallConfig, nvls_ctas) == offsetof(ncclCollConfig_t, nvlsCTAs));
static_assert(offsetof(NcclCallConfig, cga_cluster_size) == offsetof(ncclCollConfig_t, cgaClusterSize));
static_assert(offsetof(NcclCallConfig, selection) == offsetof(ncclCollConfig_t, algSelection));
static_assert(offsetof(NcclCallConfig, selection_is_forced) == offsetof(ncclCollConfig_t, forceAlgSelection));
static_assert(offsetof(NcclCallConfig, cta_policy) == offsetof(ncclCollConfig_t, CTAPolicy));
static_assert(offsetof(NcclCallConfig, profiler_tag) == offsetof(ncclCollConfig_t, userProfilerTag));
#endif
static_assert(sizeof(CudaDeviceProperties) >= sizeof(cudaDeviceProp));
static_assert(offsetof(CudaDeviceProperties, name) == offsetof(cudaDeviceProp, name));
static_assert(offsetof(CudaDeviceProperties, uuid) == offsetof(cudaDeviceProp, uuid));

static_assert(sizeof(CublasLtAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(CublasLtHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(CublasLtHeuristic, algorithm) == offsetof(cublasLtMatmulHeuristicResult_t, algo));
static_assert(offsetof(CublasLtHeuristic, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(CublasLtHeuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(offsetof(CublasLtHeuristic, waves) == offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));

/// Whether two types go into a call the same way: equal numbers and enumerations by size, pointers as such,
/// structs by size.
// NOLINTBEGIN(bugprone-sizeof-expression, misc-redundant-expression): where both are pointers, or one type.
template <typename Ours, typename Theirs>
constexpr bool kPassesAs =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
    std::is_class_v<Ours> == std::is_class_v<Theirs>;
// NOLINTEND(bugprone-sizeof-expression, misc-redundant-expression)

template <typename Ours, typename Theirs>
struct SameCall : std::false_type {};
template <typename R1, typename... A1, typename R2, typename... A2>
  requires(sizeof...(A1) == sizeof...(A2))
struct SameCall<R1 (*)(A1...), R2(A2...)>
    : std::bool_constant<kPassesAs<R1, R2> && (kPassesAs<A1, A2> && ...)> {};

template <typename Member>
struct Function;
template <typename Ours, typename Library>
struct Function<Ours Library::*> {
  using Type = Ours;
};

template <auto member, typename Theirs>
constexpr bool same_call(Theirs* /*function*/) {
  return SameCall<typename Function<decltype(member)>::Type, Theirs>::value;
}

// Calls.
static_assert(same_call<&NcclLibrary::get_unique_id>(ncclGetUniqueId));
static_assert(same_call<&NcclLibrary::comm_init_rank_config>(ncclCommInitRankConfig));
static_assert(same_call<&NcclLibrary::comm_get_async_error>(ncclCommGetAsyncError));
static_assert(same_call<&NcclLibrary::comm_finalize>(ncclCommFinalize));
static_assert(same_call<&NcclLibrary::comm_destroy>(ncclCommDestroy));
static_assert(same_call<&NcclLibrary::comm_abort>(ncclCommAbort));
static_assert(same_call<&NcclLibrary::get_error_string>(ncclGetErrorString));
static_assert(same_call<&NcclLibrary::get_last_error>(ncclGetLastError));
static_assert(same_call<&NcclLibrary::group_start>(ncclGroupStart));
static_assert(same_call<&NcclLibrary::group_end>(ncclGroupEnd));
static_assert(same_call<&NcclLibrary::all_reduce>(ncclAllReduce));
static_assert(same_call<&NcclLibrary::all_gather>(ncclAllGather));
static_assert(same_call<&NcclLibrary::reduce_scatter>(ncclReduceScatter));
static_assert(same_call<&NcclLibrary::broadcast>(ncclBroadcast));
static_assert(same_call<&NcclLibrary::reduce>(ncclReduce));
static_assert(same_call<&NcclLibrary::send>(ncclSend));
static_assert(same_call<&NcclLibrary::recv>(ncclRecv));
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0)
static_assert(same_call<&NcclLibrary::memory_allocate>(ncclMemAlloc));
static_assert(same_call<&NcclLibrary::memory_free>(ncclMemFree));
static_assert(same_call<&NcclLibrary::comm_register>(ncclCommRegister));
static_assert(same_call<&NcclLibrary::comm_deregister>(ncclCommDeregister));
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
static_assert(same_call<&NcclLibrary::comm_window_register>(ncclCommWindowRegister));
static_assert(same_call<&NcclLibrary::comm_window_deregister>(ncclCommWindowDeregister));
static_assert(kNcclSymmetricWindow == NCCL_WIN_COLL_SYMMETRIC);
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
static_assert(same_call<&NcclLibrary::all_to_all>(ncclAlltoAll));
static_assert(same_call<&NcclLibrary::gather>(ncclGather));
static_assert(same_call<&NcclLibrary::scatter>(ncclScatter));
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 31, 0)
static_assert(same_call<&NcclLibrary::all_reduce_config>(ncclAllReduceConfig));
static_assert(same_call<&NcclLibrary::all_gather_config>(ncclAllGatherConfig));
static_assert(same_call<&NcclLibrary::reduce_scatter_config>(ncclReduceScatterConfig));
#endif
static_assert(same_call<&CudaLibrary::get_device_count>(cudaGetDeviceCount));
static_assert(same_call<&CudaLibrary::driver_get_version>(cudaDriverGetVersion));
static_assert(same_call<&CudaLibrary::set_device>(cudaSetDevice));
static_assert(same_call<&CudaLibrary::device_get_pci_bus_id>(cudaDeviceGetPCIBusId));
static_assert(same_call<&CudaLibrary::get_device_properties>(cudaGetDeviceProperties));
static_assert(same_call<&CudaLibrary::memory_info>(cudaMemGetInfo));
static_assert(
    same_call<&CudaLibrary::allocate>(static_cast<cudaError_t (*)(void**, std::size_t)>(cudaMalloc)));
static_assert(same_call<&CudaLibrary::free>(cudaFree));
static_assert(same_call<&CudaLibrary::copy>(cudaMemcpy));
static_assert(same_call<&CudaLibrary::copy_async>(cudaMemcpyAsync));
static_assert(same_call<&CudaLibrary::set_bytes>(cudaMemsetAsync));
static_assert(same_call<&CudaLibrary::stream_create>(cudaStreamCreateWithFlags));
static_assert(same_call<&CudaLibrary::stream_destroy>(cudaStreamDestroy));
static_assert(same_call<&CudaLibrary::stream_query>(cudaStreamQuery));
static_assert(
    same_call<&CudaLibrary::event_create>(static_cast<cudaError_t (*)(cudaEvent_t*)>(cudaEventCreate)));
static_assert(same_call<&CudaLibrary::event_destroy>(cudaEventDestroy));
static_assert(same_call<&CudaLibrary::event_record>(cudaEventRecord));
static_assert(same_call<&CudaLibrary::event_query>(cudaEventQuery));
static_assert(same_call<&CudaLibrary::event_elapsed_time>(cudaEventElapsedTime));
static_assert(same_call<&CudaLibrary::device_get_attribute>(cudaDeviceGetAttribute));
static_assert(same_call<&CudaLibrary::stream_begin_capture>(cudaStreamBeginCapture));
static_assert(same_call<&CudaLibrary::stream_end_capture>(cudaStreamEndCapture));
static_assert(same_call<&CudaLibrary::graph_instantiate>(cudaGraphInstantiateWithFlags));
static_assert(same_call<&CudaLibrary::graph_launch>(cudaGraphLaunch));
static_assert(same_call<&CudaLibrary::graph_exec_destroy>(cudaGraphExecDestroy));
static_assert(same_call<&CudaLibrary::graph_destroy>(cudaGraphDestroy));
static_assert(same_call<&CudaLibrary::get_error_string>(cudaGetErrorString));
static_assert(same_call<&CudaLibrary::host_allocate>(
    static_cast<cudaError_t (*)(void**, std::size_t, unsigned int)>(cudaHostAlloc)));
static_assert(same_call<&CudaLibrary::host_free>(cudaFreeHost));
static_assert(same_call<&CudaLibrary::peer_possible>(cudaDeviceCanAccessPeer));
static_assert(same_call<&CudaLibrary::peer_enable>(cudaDeviceEnablePeerAccess));
static_assert(same_call<&CudaLibrary::peer_disable>(cudaDeviceDisablePeerAccess));
static_assert(same_call<&CudaLibrary::copy_peer_async>(cudaMemcpyPeerAsync));
static_assert(same_call<&CublasLtLibrary::create>(cublasLtCreate));
static_assert(same_call<&CublasLtLibrary::destroy>(cublasLtDestroy));
static_assert(same_call<&CublasLtLibrary::status_string>(cublasLtGetStatusString));
static_assert(same_call<&CublasLtLibrary::layout_create>(cublasLtMatrixLayoutCreate));
static_assert(same_call<&CublasLtLibrary::layout_destroy>(cublasLtMatrixLayoutDestroy));
static_assert(same_call<&CublasLtLibrary::matmul_create>(cublasLtMatmulDescCreate));
static_assert(same_call<&CublasLtLibrary::matmul_destroy>(cublasLtMatmulDescDestroy));
static_assert(same_call<&CublasLtLibrary::matmul_set>(cublasLtMatmulDescSetAttribute));
static_assert(same_call<&CublasLtLibrary::preference_create>(cublasLtMatmulPreferenceCreate));
static_assert(same_call<&CublasLtLibrary::preference_destroy>(cublasLtMatmulPreferenceDestroy));
static_assert(same_call<&CublasLtLibrary::preference_set>(cublasLtMatmulPreferenceSetAttribute));
static_assert(same_call<&CublasLtLibrary::heuristic>(cublasLtMatmulAlgoGetHeuristic));
static_assert(same_call<&CublasLtLibrary::matmul>(cublasLtMatmul));

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 31, 0)
TEST(Headers, ACallIsConfiguredAsByTheInitializerOfNccl) {
  const ncclCollConfig_t theirs = NCCL_COLLCONFIG_INITIALIZER;
  const NcclCallConfig ours;
  EXPECT_LE(ours.version, theirs.version);
  EXPECT_EQ(std::tuple(ours.magic, ours.min_ctas, ours.max_ctas, ours.nvls_ctas, ours.cga_cluster_size),
            std::tuple(theirs.magic, theirs.minCTAs, theirs.maxCTAs, theirs.nvlsCTAs, theirs.cgaClusterSize));
  EXPECT_EQ(ours.selection, theirs.algSelection);
  EXPECT_EQ(std::tuple(ours.selection_is_forced, ours.cta_policy, ours.profiler_tag),
            std::tuple(theirs.forceAlgSelection, theirs.CTAPolicy, theirs.userProfilerTag));
}
#endif

TEST(Headers, TheRealOnesAgreeWithOurs) {
  RecordProperty("nccl", NCCL_VERSION_CODE);
  RecordProperty("cuda", CUDART_VERSION);
}

}  // namespace
}  // namespace collbench::collectives::headers_test
