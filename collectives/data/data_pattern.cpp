#include "collectives/data/data_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "collectives/data/element_types.hpp"

namespace collbench::collectives {
namespace {

template <typename Element>
Element moved(DataType type, int source, std::uint64_t index, std::uint64_t iteration) {
  return static_cast<Element>(moved_value(source, index, iteration, DataPattern::moved_bits(type)));
}

/// What ranks contribute so that any partial result over all of them is exact. What does not depend on rank
/// and column is worked out once: of 1,024 ranks, each asks a quarter of a million times.
template <typename Element>
class Contributions {
 public:
  Contributions(DataType type, Reduction reduction, int ranks)
      : reduction_(reduction), is_floating_(traits(type).kind == NumberKind::floating) {
    const DataTypeTraits& t = traits(type);
    const int bits = std::min(is_floating_ ? t.exact_bits : static_cast<int>(8 * t.bytes) - 1, 30);
    const int limit = (1 << static_cast<unsigned>(bits)) - 1;
    sizes_ = static_cast<unsigned>(std::clamp(limit / ranks, 2, kMaxSize));
    // When all ranks together would leave the exact range, every `stride`-th one contributes, turning with
    // the column.
    const auto stride = [ranks](int most) { return static_cast<std::size_t>((ranks + most - 1) / most); };
    stride_ = stride(limit / static_cast<int>(sizes_));
    if (reduction == Reduction::prod && is_floating_) stride_ = stride(t.max_exponent);
    // NCCL rounds each rank's share before it adds, and each sum: of many ranks the right result is far off.
    // Two shares and their sum stay within the two units that are tolerated; nccl-tests lets two put
    // something in, too (2.19.6, verifiable/verifiable.cu, "Average of float"). A share that is rounded to
    // eight bits is far off by itself: there one rank alone does.
    if (reduction == Reduction::avg && is_floating_) {
      sizes_ = is_float8(type) ? 6 : kMaxSize;
      stride_ = stride(is_float8(type) ? 1 : 2);
    }
  }

  [[nodiscard]] Element of(int rank, std::size_t column) const {
    const std::uint64_t hash = mixed(column * 0x10001U + static_cast<std::uint64_t>(rank) * 0x9e3779b9U + 1);
    switch (reduction_) {
      case Reduction::min:
      case Reduction::max:
        return static_cast<Element>(hash % 127);
      case Reduction::prod:
        // 1 mod 8, as all products: never 0 nor poison
        if (!is_floating_) return static_cast<Element>(9 + 8 * (hash % 5));
        if (!contributes(rank, column)) return static_cast<Element>(1.0F);
        return static_cast<Element>(hash % 2 == 0 ? 2.0F : 0.5F);
      case Reduction::avg:
      case Reduction::sum:
        break;
    }
    if (!contributes(rank, column)) return static_cast<Element>(0.0F);
    return static_cast<Element>(static_cast<float>(1 + hash % sizes_));
  }

 private:
  static constexpr int kMaxSize = 13;

  [[nodiscard]] bool contributes(int rank, std::size_t column) const {
    return stride_ == 1 || (static_cast<std::size_t>(rank) + column) % stride_ == 0;
  }

  Reduction reduction_;
  bool is_floating_;
  unsigned sizes_ = 0;      // different summands
  std::size_t stride_ = 1;  // of the ranks that contribute to a column
};

template <typename Element>
std::string shown(Element value) {
  if constexpr (std::is_integral_v<Element>) return fmt::format("{}", +value);
  return fmt::format("{:.9g}", static_cast<double>(value));
}

}  // namespace

DataPattern::DataPattern(DataType type, std::optional<Reduction> reduction, int rank, int ranks)
    : type_(type), reduction_(reduction), rank_(rank), ranks_(ranks) {
  if (!reduction) return;
  contribute();
  with_element_type(type, [&]<typename Element>(std::type_identity<Element>) {
    const Contributions<Element> contributions(type, *reduction, ranks);
    for (std::size_t c = 0; c < kPatternColumns; ++c) {
      Element result = contributions.of(0, c);
      for (int r = 1; r < ranks; ++r) result = reduced(*reduction, result, contributions.of(r, c));
      if (*reduction == Reduction::avg) result = averaged(result, ranks);
      std::memcpy(expected_[c].data(), &result, sizeof result);
    }
  });
}

DataPattern DataPattern::as_put_in_by(int rank) const {
  DataPattern pattern = *this;
  pattern.rank_ = rank;
  if (reduction_) pattern.contribute();
  return pattern;
}

void DataPattern::contribute() {
  with_element_type(type_, [&]<typename Element>(std::type_identity<Element>) {
    const Contributions<Element> contributions(type_, *reduction_, ranks_);
    for (std::size_t c = 0; c < kPatternColumns; ++c) {
      const Element own = contributions.of(rank_, c);
      std::memcpy(own_[c].data(), &own, sizeof own);
    }
  });
}

unsigned DataPattern::moved_bits(DataType type) {
  const DataTypeTraits& t = traits(type);
  const int bits = t.kind == NumberKind::floating ? t.exact_bits : static_cast<int>(8 * t.bytes) - 1;
  return static_cast<unsigned>(bits);
}

void DataPattern::fill(std::span<std::byte> send, std::uint64_t iteration) const {
  with_element_type(type_, [&]<typename Element>(std::type_identity<Element>) {
    for (std::uint64_t index = 0; index < send.size() / sizeof(Element); ++index) {
      std::byte* const at = send.data() + index * sizeof(Element);
      if (reduction_) {
        std::memcpy(at, own_[pattern_column(index, iteration)].data(), sizeof(Element));
      } else {
        const auto value = moved<Element>(type_, rank_, index, iteration);
        std::memcpy(at, &value, sizeof value);
      }
    }
  });
}

std::optional<Mismatch> DataPattern::check(std::span<const std::byte> received,
                                           const std::vector<Segment>& segments,
                                           std::uint64_t iteration) const {
  Mismatch found;
  with_element_type(type_, [&]<typename Element>(std::type_identity<Element>) {
    std::uint64_t at = 0;
    for (const Segment& segment : segments) {
      for (std::uint64_t i = 0; i < segment.length; ++i, ++at) {
        Element expected{};
        if (segment.source == Segment::kReduced) {
          std::memcpy(&expected, expected_[pattern_column(segment.source_index + i, iteration)].data(),
                      sizeof expected);
        } else {
          expected = moved<Element>(type_, segment.source, segment.source_index + i, iteration);
        }
        const std::byte* const got_at = received.data() + at * sizeof(Element);
        if (std::memcmp(got_at, &expected, sizeof expected) == 0) continue;
        if (found.count++ == 0) {
          Element got{};
          std::memcpy(&got, got_at, sizeof got);
          found.first_index = at;
          found.expected = shown(expected);
          found.got = shown(got);
        }
      }
    }
  });
  if (found.count == 0) return std::nullopt;
  return found;
}

void poison(std::span<std::byte> buffer) { std::ranges::fill(buffer, DataPattern::kPoison); }

}  // namespace collbench::collectives
