#pragma once
#include <string>
#include <string_view>

// Text from anywhere on its way to where somebody, or a program, reads it: one function for each kind of
// place. Names of hosts, GPUs, files and members come from records, logs and machines of others, and nothing
// in them may drive a terminal, turn the direction of a line, be markup, or be a formula of a spreadsheet.

namespace collbench {

/// Whether a code point shows nothing, or changes how others are shown: controls (C0, C1, DEL), marks of
/// direction, line and paragraph separators, what Unicode 15.0 lets programs ignore
/// (DerivedCoreProperties.txt, Default_Ignorable_Code_Point), annotations, and what is no character.
[[nodiscard]] bool is_hidden(char32_t code_point);

/// A part of a line. A C0 control or DEL becomes a blank; what is hidden otherwise, and each byte that is not
/// UTF-8, becomes U+FFFD.
[[nodiscard]] std::string one_line(std::string_view text);

/// A whole document: the same, but lines and tabs stay.
[[nodiscard]] std::string page_text(std::string_view text);

/// A whole document for a terminal: as page_text, and our own colors stay (ECMA-48: faint, red, yellow,
/// none).
[[nodiscard]] std::string terminal_text(std::string_view text);

/// A cell of CSV (RFC 4180): one line, in quotes where it holds a comma or a quote. Text that a spreadsheet
/// would take for a formula gets an apostrophe in front (OWASP, CSV Injection); numbers stay numbers.
[[nodiscard]] std::string csv_cell(std::string_view text);

/// One line that GitHub shows character by character as it is.
[[nodiscard]] std::string markdown_text(std::string_view text);

/// One line for XML, SVG, HTML and Graphviz' HTML-like labels; in attributes too.
[[nodiscard]] std::string xml_text(std::string_view text);

/// One line between the quotes of Graphviz' language.
[[nodiscard]] std::string dot_text(std::string_view text);

/// One line of running text in a man page (groff_char(7)), in ASCII: no request begins it, and hyphens,
/// quotes and carets stay those that a shell knows.
[[nodiscard]] std::string roff_text(std::string_view text);

/// A JSON document in UTF-8 whose strings show all that is hidden as \uXXXX: it means the same.
[[nodiscard]] std::string json_text(std::string_view json);

/// A word as a POSIX shell reads it back.
[[nodiscard]] std::string shell_word(std::string_view word);

/// Whether a launcher or Slurm can take it for the name of one host (RFC 952, RFC 1123, and the underscore);
/// "ALL" is every node to scontrol.
[[nodiscard]] bool is_host_name(std::string_view name);

}  // namespace collbench
