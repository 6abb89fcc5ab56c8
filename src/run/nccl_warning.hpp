#pragma once
#include "base/error.hpp"

namespace collbench::program {

/// `error` with what the doctor says to do about the lines that NCCL warned of ("NCCL WARN …" in an error of
/// NCCL's, or the words of its last error), before the next step that it has. As it is where the doctor knows
/// none of them.
[[nodiscard]] Error with_doctors_advice(const Error& error);

}  // namespace collbench::program
