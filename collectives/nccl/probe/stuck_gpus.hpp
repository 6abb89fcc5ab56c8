#pragma once

namespace collbench::collectives {

/// That a GPU of this process no longer answers. CUDA's handlers at the end of the process may wait for it
/// forever, however the process comes to its end.
void note_stuck_gpu();
[[nodiscard]] bool has_stuck_gpu();

}  // namespace collbench::collectives
