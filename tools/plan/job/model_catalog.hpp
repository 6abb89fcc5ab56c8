#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/plan/job/model_shape.hpp"

namespace collbench::analysis {

/// A model of the catalog, and what its maker publishes of it.
struct CatalogModel {
  ModelShape shape;
  double published_parameters = 0;  ///< as printed; 0: only the name says
  int sequence = 0;                 ///< tokens of a sample when it was trained
};

[[nodiscard]] std::span<const CatalogModel> model_catalog();

/// By name, in capitals or not: "llama-3.1-70b". Throws Error (usage) for another, with the nearest.
[[nodiscard]] const CatalogModel& find_model(std::string_view name);

[[nodiscard]] std::vector<std::string> model_names();

}  // namespace collbench::analysis
