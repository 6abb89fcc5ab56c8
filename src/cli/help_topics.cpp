#include "src/cli/help.hpp"

#include <algorithm>
#include <array>

namespace collbench::program {
namespace {

constexpr std::array<HelpTopic, 4> kTopics{{
    {"columns", "what the columns of the table mean",
     "size       bytes; each table's title says of what\n"
     "count      elements that one rank passes to the call\n"
     "time       elapsed time of a pass divided by its iterations, the slowest\n"
     "           rank's; the median of the passes\n"
     "±95%       half the 95 % interval of that median, over the passes of this\n"
     "           launch; another launch may differ by more: collbench repeat\n"
     "algbw      the title's size over time; GB is 10^9 bytes\n"
     "busbw      algbw × the operation's factor, which the title has: comparable\n"
     "           with the rate of a link\n"
     "#wrong     elements that were not what they must be; – where they were not\n"
     "           checked\n"
     "ring, tree busbw that the ring and the tree should give\n"
     "exp        busbw of the algorithm that ran, by its model; of the fastest one\n"
     "           where that is not known\n"
     "meas/exp   measured over expected busbw: below 1 is slower (yellow below 0.8)\n"
     "algorithm  what ran; \"auto: ring\" is the library's own choice\n"
     "Formulas and their sources: docs/model.md; intervals: docs/statistics.md.\n"},
    {"time", "how long a run takes, and how to change that",
     "--time SECONDS bounds calibration and measurement together (60, on GPUs 120).\n"
     "A run ends earlier when every row's interval is within --precision percent (5)\n"
     "after at least 8 passes, and goes on for at most 64. On host memory,\n"
     "calibration takes at most a quarter of --time and 5 s; --calibration FILE uses\n"
     "an earlier run's.\n"
     "--dry-run prints the rows and measures nothing. Fewer rows are done sooner:\n"
     "--ops, --sizes.\n"
     "Quick look:  collbench --time 10 --ops all_reduce\n"
     "Within 2 %:  collbench --time 600 --precision 2\n"},
    {"verdicts", "what SOUND, UNCLEAR, BELOW and FAULT mean, and what to do",
     "Verdicts are on GPUs only, on rows of 64 MiB or more: measured over what a\n"
     "sound machine of this kind gives.\n"
     "SOUND    as quick as sound machines are\n"
     "UNCLEAR  slower than most of them and quicker than a bad one need be; above\n"
     "         all of them; or a fact is missing: the text says which\n"
     "BELOW    slower than every sound machine of its class\n"
     "FAULT    and below half of the ring's bus bandwidth\n"
     "The machine has the worst word of its operations. BELOW and FAULT end with\n"
     "status 1 and name a likely cause, and what collbench\n"
     "doctor saw on the hosts before. Then: collbench doctor on each node (as root it\n"
     "sees more), collbench burnin over the nodes, collbench topo diff against the\n"
     "reference machine. How much of a loss is seen:\n"
     "docs/notes/power.md.\n"},
    {"cluster", "from this machine to all nodes",
     "collbench launch --nodes 2 --gpus-per-node 8 --slurm\n"
     "    prints the command; --k8s, --ssh; --write DIR: files\n"
     "collbench doctor\n"
     "    on each node, before anything is measured\n"
     "collbench burnin --hosts node[01-30]\n"
     "    pairs of nodes: which node, NIC or path is slow\n"
     "All nodes need the same collbench and MPI; a run says where they differ.\n"
     "docs/install.md has what was tried.\n"},
}};

}  // namespace

std::span<const HelpTopic> help_topics() { return kTopics; }

const HelpTopic* help_topic(std::string_view name) {
  const auto* const found = std::ranges::find(kTopics, name, &HelpTopic::name);
  return found == kTopics.end() ? nullptr : &*found;
}

}  // namespace collbench::program
