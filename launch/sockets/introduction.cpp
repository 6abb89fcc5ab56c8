#include "launch/sockets/meeting.hpp"

#include <fmt/format.h>

#include <sstream>

#include "base/host_name.hpp"
#include "launch/hosts/greeting.hpp"

namespace collbench::launch {

std::string introduction(int rank, int ranks) {
  return fmt::format("{} {} {} {}", rank, ranks, own_host_name(), random_word());
}

std::string introduction_proof(std::string_view word, std::uint16_t port, std::string_view challenge,
                               std::string_view introduction) {
  return answer_proof(secret_of(word), challenge, introduction, fmt::format(" at {}", port));
}

std::string reply_proof(std::string_view word, std::string_view challenge, std::string_view introduction,
                        std::string_view reply) {
  return answer_proof(secret_of(word), challenge, introduction, fmt::format(" is answered {}", reply));
}

std::optional<Guest> guest_of(std::string_view line, std::string_view word, std::uint16_t port,
                              std::string_view challenge) {
  const std::size_t end = line.rfind(' ');
  if (end == std::string_view::npos) return std::nullopt;
  Guest guest;
  guest.introduction = line.substr(0, end);
  if (!equal_proofs(line.substr(end + 1), introduction_proof(word, port, challenge, guest.introduction)))
    return std::nullopt;
  std::istringstream words(guest.introduction);
  words >> guest.rank >> guest.ranks >> guest.host;
  if (!words) return std::nullopt;
  guest.host = legal_host_name(guest.host);
  return guest;
}

}  // namespace collbench::launch
