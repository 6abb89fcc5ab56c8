#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "src/cli/command_description.hpp"
#include "src/cli/man_page.hpp"
#include "src/cli/options.hpp"
#include "src/cli/tools.hpp"
#include "src/cli/version.hpp"
#include "src/commands/registry.hpp"

namespace collbench::program {
namespace {

struct ManOptions {
  std::string page = "collbench";  ///< such as collbench-topo-diff
  std::string folder;              ///< write all pages there
};

void collect_pages(const CommandDescription& command, std::vector<const CommandDescription*>& pages) {
  pages.push_back(&command);
  for (const CommandDescription& each : command.commands) collect_pages(each, pages);
}

CommandResult man(const CommandDescription& root, const ManOptions& options) {
  const std::string version = versions().collbench;
  std::vector<const CommandDescription*> pages;
  collect_pages(root, pages);
  if (!options.folder.empty()) {
    for (const CommandDescription* each : pages)
      write_file_by_rename(std::filesystem::path(options.folder) / (man_page_name(*each) + ".1"),
                           man_page(*each, version));
    return {fmt::format("{} man pages in {}\n", pages.size(), options.folder)};
  }
  std::vector<std::string> names;
  for (const CommandDescription* each : pages) names.push_back(man_page_name(*each));
  const std::string name = parse_name(options.page, "collbench man", names);
  const auto at = std::ranges::find(names, name) - names.begin();
  CommandResult result{man_page(*pages[static_cast<std::size_t>(at)], version)};
  result.is_for_a_person = false;
  return result;
}

void add_man(CLI::App& command, CommandFunction& chosen) {
  const auto options = std::make_shared<ManOptions>();
  CLI::Option* page = command.add_option("page", options->page, "such as collbench-topo-diff (collbench)")
                          ->option_text("PAGE");
  add_option(command, "Options", "--folder", "FOLDER", "write the pages of all commands into it",
             into(options->folder))
      ->excludes(page);
  // The description is made while the parser lives; what prints it runs later.
  command.callback([&command, options, &chosen] {
    chosen = [root = with_tools(describe_command(*command.get_parent())), options] {
      return man(root, *options);
    };
  });
}

}  // namespace

Subcommand man_subcommand() {
  return {"man", "the man page of a command, as roff; collbench man collbench-topo-diff | man -l -",
          "collbench man collbench-topo-diff | man -l -   a command's man page", add_man};
}

}  // namespace collbench::program
