#pragma once
#include <string_view>

namespace collbench {

/// A style sheet or script that the build put into the program (cmake/HtmlAssets.cmake).
struct PageAsset {
  std::string_view text;
  std::string_view sha256;  ///< of `text`, in base64: by it a Content-Security-Policy allows it
};

/// page.css.
[[nodiscard]] PageAsset page_style();

/// page.js: replaces the pictures of charts by ones that can be pointed at.
[[nodiscard]] PageAsset page_script();

/// Chart.js (MIT License), as Debian's libjs-chart.js has it. Empty where the build had none: then charts are
/// pictures, and no script stands in a page.
[[nodiscard]] PageAsset chart_library();

}  // namespace collbench
