#pragma once
#include <cstddef>
#include <string>

#include "collectives/nccl/on_host/hub.hpp"

namespace collbench::collectives {

/// What a communicator is restricted to: NCCL_ALGO and NCCL_PROTO as they were when it was made.
struct Restriction {
  std::string algorithm;
  std::string protocol;
};

/// What an operation runs by.
struct Use {
  int algorithm = 0;  ///< numbers of NCCL's
  int protocol = 0;
  int channels = 0;
};

/// The tuner and profiler plugins of one communicator of the stand-in libnccl.
///
/// What it copies of NCCL (2.22 to 2.30, src/misc or src/plugin, tuner.cc and profiler.cc; src/enqueue.cc):
/// - the file that NCCL_TUNER_PLUGIN or NCCL_PROFILER_PLUGIN names, libnccl-tuner-NAME.so, or
/// libnccl-tuner.so
///   when nothing is named; "none" for none; in it the newest version of the symbol that this NCCL knows;
/// - a plugin is loaded by the first communicator and unloaded after the last;
/// - the tuner is given the cost table and may change it, and the cheapest entry runs;
/// - the profiler is told of an operation when the event mask, a variable of NCCL's own, asks for it, with an
///   event for the group around it;
/// - a communicator of one rank asks and tells nothing.
class Plugins {
 public:
  Plugins(int ranks, int rank);
  Plugins(const Plugins&) = delete;
  Plugins& operator=(const Plugins&) = delete;
  Plugins(Plugins&&) = delete;
  Plugins& operator=(Plugins&&) = delete;
  ~Plugins();

  /// Of a collective that moves `bytes`.
  void run(Ask ask, std::size_t bytes, const Restriction& restriction) const;
  /// Of `transfers` sends and receives.
  void send(std::size_t transfers) const;

 private:
  int ranks_;
  void* tuner_context_ = nullptr;
  void* profiler_context_ = nullptr;
};

}  // namespace collbench::collectives
