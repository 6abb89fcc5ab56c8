#include "launch/interruption.hpp"

#include <csignal>

namespace collbench::launch {
namespace {

// What a signal handler may touch is a variable of this type with static storage, and nothing else.
volatile std::sig_atomic_t signalled = 0;

void notice(int signal) {
  signalled = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void notice_interruption() {
  std::signal(SIGINT, notice);
  std::signal(SIGTERM, notice);
}

bool interrupted() { return signalled != 0; }

}  // namespace collbench::launch
