#include "collectives/mpi/open_mpi/mpi_t_variable.hpp"

#include <array>
#include <cstring>

namespace collbench::collectives {
namespace {

/// Bytes for one value of any integer kind.
using Raw = std::array<char, sizeof(long long)>;

template <typename T>
long long as(const Raw& raw) {
  T value{};
  std::memcpy(&value, raw.data(), sizeof value);
  return static_cast<long long>(value);
}

}  // namespace

std::optional<MpiTVariable> MpiTVariable::find(const std::string& name) {
  int index = 0;
  if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return std::nullopt;
  int name_length = 0;
  int description_length = 0;
  int verbosity = 0;
  int binding = 0;
  int scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum names = MPI_T_ENUM_NULL;
  if (MPI_T_cvar_get_info(index, nullptr, &name_length, &verbosity, &type, &names, nullptr,
                          &description_length, &binding, &scope) != MPI_SUCCESS) {
    return std::nullopt;
  }
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int elements = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &elements) != MPI_SUCCESS) return std::nullopt;
  return MpiTVariable(handle, elements, type, names);
}

MpiTVariable::MpiTVariable(MpiTVariable&& other) noexcept
    : handle_(std::exchange(other.handle_, MPI_T_CVAR_HANDLE_NULL)),
      elements_(other.elements_),
      type_(other.type_),
      names_(other.names_) {}

MpiTVariable::~MpiTVariable() {
  if (handle_ != MPI_T_CVAR_HANDLE_NULL) MPI_T_cvar_handle_free(&handle_);
}

std::optional<long long> MpiTVariable::integer() const {
  Raw raw{};
  if (type_ == MPI_CHAR || elements_ != 1) return std::nullopt;
  if (MPI_T_cvar_read(handle_, raw.data()) != MPI_SUCCESS) return std::nullopt;
  if (type_ == MPI_INT) return as<int>(raw);
  if (type_ == MPI_C_BOOL) return as<bool>(raw);
  if (type_ == MPI_UNSIGNED) return as<unsigned>(raw);
  if (type_ == MPI_UNSIGNED_LONG) return as<unsigned long>(raw);
  if (type_ == MPI_UNSIGNED_LONG_LONG) return as<unsigned long long>(raw);
  return std::nullopt;
}

std::string MpiTVariable::text() const {
  if (type_ != MPI_CHAR) return {};
  std::string value(static_cast<std::size_t>(elements_) + 1, '\0');
  if (MPI_T_cvar_read(handle_, value.data()) != MPI_SUCCESS) return {};
  value.resize(value.find('\0'));
  return value;
}

bool MpiTVariable::set(int value) const {
  return type_ == MPI_INT && MPI_T_cvar_write(handle_, &value) == MPI_SUCCESS && integer() == value;
}

std::vector<std::pair<int, std::string>> MpiTVariable::named_values() const {
  std::vector<std::pair<int, std::string>> result;
  if (names_ == MPI_T_ENUM_NULL) return result;
  int items = 0;
  int length = 0;
  if (MPI_T_enum_get_info(names_, &items, nullptr, &length) != MPI_SUCCESS) return result;
  for (int item = 0; item < items; ++item) {
    std::array<char, 128> name{};
    length = static_cast<int>(name.size());
    int value = 0;
    if (MPI_T_enum_get_item(names_, item, &value, name.data(), &length) == MPI_SUCCESS) {
      result.emplace_back(value, name.data());
    }
  }
  return result;
}

}  // namespace collbench::collectives
