#pragma once
#include <string>
#include <vector>

#include "tools/burnin/attribution/burnin_record.hpp"
#include "tools/burnin/command/options.hpp"

// How a burn-in is written: one document on stdout, and files beside it.

namespace collbench::program {

/// "text" first.
[[nodiscard]] const std::vector<std::string>& burnin_formats();

/// The record in one of burnin_formats(); `columns` are those of text. Nothing in it drives a terminal.
[[nodiscard]] std::string burnin_document(const analysis::BurninRecord& record,
                                          const analysis::Attribution& found, const std::string& format,
                                          int columns);

/// Throws Error (usage) where a file of --html, --csv or --plot-file cannot be written, or is no name of one.
void require_writable_documents(const BurninOptions& options);

/// Writes the files of --html, --csv and --plot-file that were asked for.
void write_documents(const BurninOptions& options, const analysis::BurninRecord& record);

}  // namespace collbench::program
