#include "src/text_options.hpp"

#include <cstdlib>

#include "launch/real_machine.hpp"

namespace collbench {

bool decide(When when, bool automatic) {
  return when == When::always || (when == When::automatic && automatic);
}

TextOptions text_options(When colour, bool launched) {
  const Terminal terminal = view_terminal(1, launched);
  TextOptions text;
  if (terminal.columns > 0) text.columns = terminal.columns;
  text.colour = decide(colour, terminal.is_terminal && std::getenv("NO_COLOR") == nullptr);
  return text;
}

}  // namespace collbench
