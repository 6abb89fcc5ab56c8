// A network plugin as a cloud's host has one; what the stand-in libnccl reads of it is its name, with which
// each version of the table begins.

namespace collbench::collectives {

struct NetworkPluginName {
  const char* name;
};

}  // namespace collbench::collectives

// NOLINTNEXTLINE(readability-identifier-naming): the name is NCCL's.
extern "C" const collbench::collectives::NetworkPluginName ncclNetPlugin_v10{"Fabric"};
