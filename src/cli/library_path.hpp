#pragma once
#include <string>
#include <string_view>

namespace collbench::program {

/// LD_LIBRARY_PATH's value without the parts that name the current directory, as the loader reads them
/// (ld.so(8)): empty ones, and those that begin neither at the root nor with $ORIGIN, between ':' or ';'.
[[nodiscard]] std::string absolute_parts(std::string_view search_path);

/// Where LD_LIBRARY_PATH has such parts, starts this program again without them: of what is loaded from then
/// on, NCCL's plugins and MPI's included, nothing comes from the current directory (the loader reads the
/// variable once, at the start). What the program is linked with was loaded before main, by the user's own
/// variable (SECURITY.md). Says which part is relative where this process `reports`. To be called first in
/// main. Throws Error (not_here) where the program cannot be started again.
void leave_out_current_directory(char** argv, bool reports);

}  // namespace collbench::program
