#pragma once
#include <cstddef>
#include <pugixml.hpp>
#include <string>

// What a picture in SVG is made of. Lengths are pixels, and y grows downwards. Styles are the classes of one
// style sheet, which has light and dark colors, as the reader prefers. Text may come from anywhere: it is
// escaped, and control characters in it, which XML does not allow, become spaces.

namespace collbench {

/// Lanes have the classes c0, c1, … up to this many, a color each.
inline constexpr std::size_t kLaneColors = 8;

/// Styles that a kind of picture has beside those of all, as rules of CSS; `dark` replace colors of `light`.
struct PictureStyles {
  std::string light;
  std::string dark;
};

/// Whether a picture follows what its reader prefers.
enum class PictureColors { as_preferred, light };

/// A page without a size yet, with its title and style sheet.
[[nodiscard]] pugi::xml_node begin_svg(pugi::xml_document& document, const std::string& title,
                                       const PictureStyles& more = {},
                                       PictureColors colors = PictureColors::as_preferred);

/// The page as text, of this size.
[[nodiscard]] std::string finish_svg(pugi::xml_document& document, double width, double height);

/// "12.5": a half of a pixel is as exact as a picture needs.
[[nodiscard]] std::string pixels(double length);

/// An element with its upper left corner, or of text its base line, there. An empty style is none.
pugi::xml_node draw_shape(pugi::xml_node into, const char* name, const char* style, double x, double y);
pugi::xml_node draw_text(pugi::xml_node into, const char* style, double x, double y,
                         const std::string& words);

/// `way` in the language of the attribute d.
pugi::xml_node draw_path(pugi::xml_node into, const char* style, const std::string& way);

pugi::xml_node set_size(pugi::xml_node shape, double width, double height);

/// What is shown where the reader points at the element; read aloud, its name.
void set_tooltip(pugi::xml_node element, const std::string& words);

}  // namespace collbench
