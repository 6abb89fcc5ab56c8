#pragma once

namespace collbench::launch {

/// Lets the first SIGINT or SIGTERM be noticed instead of ending this process; a second one ends it. mpirun
/// passes Ctrl-C on to its ranks as SIGTERM, and kills them a second later (docs/exit-status.md).
void notice_interruption();

/// Whether one has come.
[[nodiscard]] bool interrupted();

}  // namespace collbench::launch
