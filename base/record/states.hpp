#pragma once
#include <optional>
#include <string>

#include "base/json_reader.hpp"
#include "base/record/words.hpp"

// States that records hold as words: enumerations in code, their words only here and in JSON.

namespace collbench {

/// Which library moved the data of a run; other: neither, as in the log of a benchmark of copies.
enum class BackendId { mpi, nccl };

template <>
inline constexpr std::array<std::string_view, 2> kWords<BackendId>{"mpi", "nccl"};

/// Whether the buffers were in GPU memory, or in host memory.
[[nodiscard]] constexpr bool measures_gpus(BackendId backend) { return backend == BackendId::nccl; }
[[nodiscard]] constexpr bool measures_host_memory(BackendId backend) { return backend == BackendId::mpi; }

/// How one number per rank becomes one number, in the order of nccl-tests' -a (src/common.cu).
enum class RankAggregate { rank0, average, minimum, maximum };

template <>
inline constexpr std::array<std::string_view, 4> kWords<RankAggregate>{"rank 0", "avg", "min", "max"};

/// How the buffers are registered with NCCL's communicators, in the order of nccl-tests' -R (src/common.cu):
/// not at all, by ncclCommRegister, by ncclCommWindowRegister as symmetric windows.
enum class BufferRegistration { none, local, symmetric };

template <>
inline constexpr std::array<std::string_view, 3> kWords<BufferRegistration>{"none", "local", "symmetric"};

enum class StopReason { precision_reached, pass_limit, launch_limit, out_of_time, interrupted };

/// Why measuring a row stopped.
struct Stop {
  StopReason reason = StopReason::precision_reached;
  int limit = 0;  ///< passes or launches, where they were the limit

  bool operator==(const Stop&) const = default;
};

/// "precision reached", "64 passes", "12 launches", "out of time", "interrupted"; and back, none for any
/// other text.
[[nodiscard]] std::string format_stop(const Stop& stop);
[[nodiscard]] std::optional<Stop> parse_stop(std::string_view text);

/// From a record. Throw Error (usage) that names the place in the file for a word that is not one of these.
[[nodiscard]] BackendId backend_from_json(const JsonReader& json);
/// None for an empty text: the row was not measured here.
[[nodiscard]] std::optional<Stop> stop_from_json(const JsonReader& json);

}  // namespace collbench
