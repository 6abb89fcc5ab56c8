#include "collectives/nccl/on_host/kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/record/data_type.hpp"
#include "collectives/data/element_formula.hpp"
#include "collectives/data/element_types.hpp"

namespace collbench::collectives {
namespace {

template <typename Element>
Element element(const KernelElements& e, std::uint64_t i) {
  Element value{};
  const std::uint64_t index = e.index + i;
  if (e.table == nullptr) return static_cast<Element>(moved_value(e.source, index, e.iteration, e.bits));
  std::memcpy(&value,
              static_cast<const std::byte*>(e.table) + pattern_column(index, e.iteration) * kPatternCellBytes,
              sizeof value);
  return value;
}

/// The bits of an element that is not negative.
template <typename Element>
std::uint64_t bits_of(const Element& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

}  // namespace

void run_on_host(const HostKernel& kernel) {
  const KernelElements& e = kernel.elements;
  with_element_type(static_cast<DataType>(e.type), [&]<typename Element>(std::type_identity<Element>) {
    auto* const memory = static_cast<Element*>(kernel.memory);
    for (std::uint64_t i = 0; i < e.length; ++i) {
      const auto expected = element<Element>(e, i);
      if (kernel.found == nullptr) {
        memory[i] = expected;
        continue;
      }
      const std::uint64_t a = bits_of(expected);
      const std::uint64_t b = bits_of(memory[i]);
      if ((a > b ? a - b : b - a) <= kernel.tolerance) continue;
      ++kernel.found->count;
      kernel.found->first_index =
          std::min<unsigned long long>(kernel.found->first_index, kernel.first_index + i);
    }
  });
}

}  // namespace collbench::collectives
