#include "tools/nccl_plan/simulated_job/moved_data.hpp"

#include <sys/socket.h>
#include <unistd.h>

namespace collbench::collectives {
DataCommunicator::~DataCommunicator() {
  if (socket_ >= 0) ::close(socket_);
}

int DataCommunicator::joined_socket() {
  if (socket_ >= 0 || aborted_) return aborted_ ? -1 : socket_.load();
  const int socket = connect_to_hub(hub_);
  socket_ = socket;
  const AskHeader hello{.ask = Ask::join, .rank = rank_, .ranks = ranks_};
  char welcome = 0;
  const bool good =
      socket >= 0 && !aborted_ && send_all(socket, &hello, sizeof hello) && receive_all(socket, &welcome, 1);
  return good ? socket : -1;
}

void DataCommunicator::abort() {
  aborted_ = true;
  aborted_.notify_all();
  if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
}

void move_data(DataCommunicator& communicator, DataOperation operation) {
  operation.header.rank = communicator.rank();
  operation.header.ranks = static_cast<std::int32_t>(communicator.ranks());
  if (operation.exchanges()) {
    operation.header.sends = operation.sends.size();
    operation.header.receives = operation.receives.size();
    for (const auto& [part, data] : operation.sends) operation.header.bytes += part.bytes;
  }
  const int socket = communicator.joined_socket();
  if (socket < 0 || !ask_hub(socket, operation)) communicator.wait_for_abort();
}

}  // namespace collbench::collectives
