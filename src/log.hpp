#pragma once

namespace collbench {

/// Lets spdlog tell on stderr, step by step, what this process does (--verbose). Without it spdlog stays
/// silent: what a user must know is in the output or an Error.
void start_log(bool verbose);

}  // namespace collbench
