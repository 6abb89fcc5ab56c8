#pragma once
#include <cstring>
#include <vector>

#include "base/record/data_type.hpp"
#include "collectives/collective.hpp"
#include "collectives/data_pattern.hpp"
#include "collectives/element_reduction.hpp"
#include "collectives/element_type.hpp"

namespace collbench {

using Bytes = std::vector<std::byte>;

/// The operation as its definition says it, element by element, without MPI and without `Collective::result`:
/// the judge of both. One send buffer and one receive buffer per rank.
class Reference {
 public:
  Reference(OperationId operation, const Layout& layout, DataType type, std::optional<Reduction> reduction,
            int ranks)
      : operation_(operation), layout_(layout), type_(type), reduction_(reduction), ranks_(ranks) {}

  [[nodiscard]] std::vector<Bytes> receive_buffers(const std::vector<Bytes>& send) const {
    std::vector<Bytes> received;
    const std::size_t element = traits(type_).bytes;
    for (int rank = 0; rank < ranks_; ++rank) {
      Bytes buffer(layout_.receive_elements * element);
      for (std::uint64_t i = 0; i < layout_.receive_elements; ++i) set(buffer, i, result(send, rank, i));
      received.push_back(std::move(buffer));
    }
    return received;
  }

 private:
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
        return reduced_at(send, r * layout_.count + i);
      case OperationId::all_gather:
        return at(send[i / layout_.count], i % layout_.count);
      case OperationId::all_to_all:
        return at(send[i / layout_.count], r * layout_.count + i % layout_.count);
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
  Layout layout_;
  DataType type_;
  std::optional<Reduction> reduction_;
  int ranks_;
};

}  // namespace collbench
