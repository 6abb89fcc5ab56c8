#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "tools/inspector/job_collectives.hpp"

/// What the readers of Inspector's files owe for any bytes, JSON lines or Prometheus' text: an Error with a
/// message, or calls of ranks that their communicator has, which can be judged and written in every format.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace collbench::analysis;
  try {
    InspectorPage page;
    std::istringstream input(std::string(reinterpret_cast<const char*>(data), size));
    read_inspector_log(input, "input", page.job);
    for (const auto& [kind, calls] : page.job.calls) {
      const InspectedCommunicator& group = page.job.communicators.at(kind.communicator);
      for (const InspectedCall& call : calls)
        if (!(call.seconds > 0) || !std::isfinite(call.seconds) || !group.hosts.contains(call.rank))
          std::abort();
    }
    page.result = judge_job(page.job, nullptr);
    for (const char* format : {"text", "md", "html", "csv", "json"})
      if (report(page, format, 80).empty()) std::abort();
  } catch (const collbench::Error& error) {
    if (describe(error).empty()) std::abort();
  }
  return 0;
}
