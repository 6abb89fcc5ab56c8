#include "src/reduction_name.hpp"

namespace collbench {

std::string_view reduction_name(AcrossRanks how) {
  switch (how) {
    case AcrossRanks::rank0:
      return "rank 0";
    case AcrossRanks::average:
      return "avg";
    case AcrossRanks::minimum:
      return "min";
    case AcrossRanks::maximum:
      break;
  }
  return "max";
}

}  // namespace collbench
