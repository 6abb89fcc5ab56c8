#include "tests/collectives/nccl/real_nccl/moved_data.hpp"

#include <sys/socket.h>
#include <unistd.h>

namespace collbench::collectives {
namespace {

bool talk(int socket, const DataOperation& operation) {
  bool good = send_all(socket, &operation.header, sizeof operation.header);
  for (const auto& [part, data] : operation.sends) good = good && send_all(socket, &part, sizeof part);
  for (const auto& [part, data] : operation.receives) good = good && send_all(socket, &part, sizeof part);
  if (operation.send != nullptr) good = good && send_all(socket, operation.send, operation.header.bytes);
  for (const auto& [part, data] : operation.sends) good = good && send_all(socket, data, part.bytes);
  // All is sent before anything is received: in-place forms read what they write.
  good = good && receive_all(socket, operation.receive, operation.receive_bytes);
  for (const auto& [part, data] : operation.receives) good = good && receive_all(socket, data, part.bytes);
  return good;
}

}  // namespace

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
  if (socket < 0 || !talk(socket, operation)) communicator.wait_for_abort();
}

}  // namespace collbench::collectives
