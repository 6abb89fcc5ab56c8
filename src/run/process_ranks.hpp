#pragma once
#include <string>
#include <vector>

namespace collbench::program {

/// nccl-tests' -t T -g G under MPI's launcher: each process that it launched starts T × G ranks on its host,
/// one for a GPU, as processes of `words` (collbench and its options). MPI only says where they meet; what
/// they tell each other goes over sockets (launch::find_rendezvous). Waits for them. Returns the worst of
/// their exit statuses. Collective over the launched processes. Throws Error.
[[nodiscard]] int start_ranks_of_process(int ranks, const std::vector<std::string>& words);

}  // namespace collbench::program
