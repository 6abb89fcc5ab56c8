#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/record/data_type.hpp"
#include "collectives/data/data_pattern.hpp"
#include "collectives/data/element_types.hpp"
#include "collectives/operations.hpp"

namespace collbench::collectives {

using Bytes = std::vector<std::byte>;

/// The operation as its definition says it, element by element, without MPI and without `Collective::result`:
/// the judge of both. AllToAllv is the one by distance. One send buffer and one receive buffer per rank.
class Reference {
 public:
  Reference(OperationId operation, std::uint64_t count, DataType type, std::optional<Reduction> reduction,
            int ranks, int root)
      : operation_(operation),
        count_(count),
        type_(type),
        reduction_(reduction),
        ranks_(ranks),
        root_(root) {}

  [[nodiscard]] std::vector<Bytes> receive_buffers(const std::vector<Bytes>& send) const {
    std::vector<Bytes> received;
    const std::size_t element = traits(type_).bytes;
    for (int rank = 0; rank < ranks_; ++rank) {
      const std::uint64_t length = received_by(rank);
      Bytes buffer(length * element);
      for (std::uint64_t i = 0; i < length; ++i) set(buffer, i, result(send, rank, i));
      received.push_back(std::move(buffer));
    }
    return received;
  }

  /// Elements that `rank` receives, by the operation's definition.
  [[nodiscard]] std::uint64_t received_by(int rank) const {
    const auto p = static_cast<std::uint64_t>(ranks_);
    switch (operation_) {
      case OperationId::all_gather:
      case OperationId::all_to_all:
        return p * count_;
      case OperationId::gather:
        return rank == root_ ? p * count_ : 0;
      case OperationId::reduce:
        return rank == root_ ? count_ : 0;
      case OperationId::ping_pong:
        return rank == 0 || rank == ranks_ - 1 ? count_ : 0;
      case OperationId::all_to_all_v: {
        std::uint64_t all = 0;
        for (int from = 0; from < ranks_; ++from) all += between(from, rank);
        return all;
      }
      default:
        return count_;
    }
  }

 private:
  /// AllToAllv by distance: rank i sends j − i of the p(p − 1)/2 parts of `count` to rank j.
  [[nodiscard]] std::uint64_t between(int from, int to) const {
    const auto distance = static_cast<std::uint64_t>((to - from + ranks_) % ranks_);
    const auto p = static_cast<std::uint64_t>(ranks_);
    return distance == 0 ? 0 : std::max<std::uint64_t>(1, count_ * distance / (p * (p - 1) / 2));
  }

  using Cell = std::array<std::byte, 8>;

  [[nodiscard]] Cell at(const Bytes& buffer, std::uint64_t index) const {
    Cell cell{};
    std::memcpy(cell.data(), buffer.data() + index * traits(type_).bytes, traits(type_).bytes);
    return cell;
  }

  void set(Bytes& buffer, std::uint64_t index, const Cell& cell) const {
    std::memcpy(buffer.data() + index * traits(type_).bytes, cell.data(), traits(type_).bytes);
  }

  [[nodiscard]] Cell result(const std::vector<Bytes>& send, int rank, std::uint64_t i) const {
    const auto r = static_cast<std::uint64_t>(rank);
    const auto p = static_cast<std::uint64_t>(ranks_);
    switch (operation_) {
      case OperationId::all_reduce:
        return reduced_at(send, i);
      case OperationId::reduce_scatter:
        return reduced_at(send, r * count_ + i);
      case OperationId::reduce:
        return reduced_at(send, i);
      case OperationId::all_gather:
      case OperationId::gather:
        return at(send[i / count_], i % count_);
      case OperationId::all_to_all:
        return at(send[i / count_], r * count_ + i % count_);
      case OperationId::broadcast:
        return at(send[static_cast<std::size_t>(root_)], i);
      case OperationId::scatter:
        return at(send[static_cast<std::size_t>(root_)], r * count_ + i);
      case OperationId::ping_pong:
        return at(send[p - 1 - r], i);
      case OperationId::all_to_all_v: {
        int from = 0;
        for (; i >= between(from, rank); ++from) i -= between(from, rank);
        for (int before = 0; before < rank; ++before) i += between(from, before);
        return at(send[static_cast<std::size_t>(from)], i);
      }
      default:
        return at(send[(r + p - 1) % p], i);
    }
  }

  [[nodiscard]] Cell reduced_at(const std::vector<Bytes>& send, std::uint64_t index) const {
    Cell cell{};
    with_element_type(type_, [&]<typename Element>(std::type_identity<Element>) {
      const auto load = [&](std::size_t rank) {
        Element element{};
        std::memcpy(&element, send[rank].data() + index * sizeof element, sizeof element);
        return element;
      };
      // From the last rank to the first: another order than the pattern's own table.
      Element total = load(send.size() - 1);
      for (std::size_t rank = send.size() - 1; rank-- > 0;) total = reduced(*reduction_, total, load(rank));
      if (*reduction_ == Reduction::avg) total = averaged(total, ranks_);
      std::memcpy(cell.data(), &total, sizeof total);
    });
    return cell;
  }

  OperationId operation_;
  std::uint64_t count_;
  DataType type_;
  std::optional<Reduction> reduction_;
  int ranks_;
  int root_;
};

}  // namespace collbench::collectives
