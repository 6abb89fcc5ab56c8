#pragma once
#include <mpi.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace collbench::collectives {

/// One control variable of the MPI library, through the tool interface (MPI 3.1, chapter 14). MPI_T must be
/// initialized while an object lives.
class MpiTVariable {
 public:
  /// None when the library has no variable of this name, or no longer: Open MPI withdraws the variables of
  /// the components that it does not use.
  [[nodiscard]] static std::optional<MpiTVariable> find(const std::string& name);

  MpiTVariable(MpiTVariable&& other) noexcept;
  MpiTVariable& operator=(MpiTVariable&&) = delete;
  MpiTVariable(const MpiTVariable&) = delete;
  MpiTVariable& operator=(const MpiTVariable&) = delete;
  ~MpiTVariable();

  /// The value of an integer or boolean variable; none when it is of another kind or cannot be read.
  [[nodiscard]] std::optional<long long> integer() const;

  /// The value of a string variable; empty when it is of another kind or cannot be read.
  [[nodiscard]] std::string text() const;

  /// Writes an int variable and reads it back; false when it does not have the new value then.
  [[nodiscard]] bool set(int value) const;

  /// What the library calls the values that an int variable may have; empty for a variable without names.
  [[nodiscard]] std::vector<std::pair<int, std::string>> named_values() const;

 private:
  MpiTVariable(MPI_T_cvar_handle handle, int elements, MPI_Datatype type, MPI_T_enum names)
      : handle_(handle), elements_(elements), type_(type), names_(names) {}

  MPI_T_cvar_handle handle_;
  int elements_;
  MPI_Datatype type_;
  MPI_T_enum names_;
};

}  // namespace collbench::collectives
