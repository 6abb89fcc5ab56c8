#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "analysis/hang/communicators.hpp"
#include "analysis/hang/nccl_ras.hpp"
#include "analysis/hang/pytorch_dump.hpp"
#include "base/error.hpp"

/// What the readers of NCCL's RAS and of PyTorch's dumps owe for any bytes: an Error with a message, or
/// communicators of which something can be said. The bytes are one answer, or, cut at the first zero, the
/// dumps of two ranks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace collbench;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(text.find('\0'), size);
  const auto require_said = [](const std::vector<analysis::Communicator>& communicators) {
    if (communicators.empty()) std::abort();
    for (const auto& each : communicators)
      if (analysis::find_hang(each).text.empty()) std::abort();
    if (analysis::communicators_text(communicators, 80).empty()) std::abort();
    (void)analysis::communicators_json(communicators);
  };
  try {
    if (analysis::is_nccl_ras(text)) require_said(analysis::read_nccl_ras({"answer", text}));
    analysis::PytorchDumps dumps;
    const bool first = dumps.add({"rank_0", text.substr(0, cut)});
    const bool second = dumps.add({"rank_1", text.substr(cut)});
    if (first || second) require_said(dumps.groups());
  } catch (const Error& error) {
    if (describe(error).empty()) std::abort();
  }
  return 0;
}
