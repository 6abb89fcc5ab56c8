#pragma once
#include <string>

namespace collbench::collectives {

/// The network of one communicator of the stand-in libnccl, by name: that of the plugin that NCCL_NET_PLUGIN
/// names, or "Socket".
///
/// What it copies of NCCL (2.23 to 2.30, src/plugin/net.cc):
/// - a plugin is loaded by the first communicator and unloaded when the references to it are gone: one for
///   each communicator and NCCL_NET_PLUGIN_REF_COUNT more, by default 1 in 2.27 and else 0;
/// - 2.28 and 2.29 erase its name then, so that it is never loaded again (NVIDIA/nccl#1978);
/// - which network a communicator has is said in the log, with NCCL_DEBUG=INFO, in NCCL_DEBUG_FILE.
class Network {
 public:
  Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  Network(Network&&) = delete;
  Network& operator=(Network&&) = delete;
  ~Network();

 private:
  bool by_plugin_ = false;
};

/// A line of NCCL's log, where NCCL_DEBUG is INFO, into the file of NCCL_DEBUG_FILE.
void stand_in_log(const std::string& text);

}  // namespace collbench::collectives
