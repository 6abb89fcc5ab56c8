#pragma once
#include <string>

#include "base/record/measurement.hpp"

namespace collbench {

/// A row by name, for a sentence: "AllReduce 64 KiB float sum, in place, ring".
[[nodiscard]] std::string row_in_words(const RowKey& key);

}  // namespace collbench
