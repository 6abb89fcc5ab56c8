#include "src/cli/output.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "src/cli/standard_streams.hpp"

namespace collbench::program::output_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kFormats{"text", "md", "csv", "json"};

/// "-J=json:run.json", with nothing behind the colon for stdout.
std::vector<std::string> asked(OutputOptions output, std::string_view preset = {}) {
  output.formats = kFormats;
  std::vector<std::string> all;
  for (const OutputDocument& each : output_documents(output, preset)) {
    all.push_back(each.option + "=" + each.format + ":" + each.path);
  }
  return all;
}

std::string refusal(const OutputOptions& output, std::string_view preset = {}) {
  try {
    static_cast<void>(asked(output, preset));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return describe(error);
  }
  return "taken";
}

TEST(Output, WhatNobodyDirectsElsewhereIsTextOnStdout) {
  EXPECT_THAT(asked({}), ElementsAre("=text:"));
  EXPECT_THAT(asked({.path = "-"}), ElementsAre("-o=text:"));
  EXPECT_THAT(asked({.record_path = "run.json"}), ElementsAre("-J=json:run.json", "=text:"));
}

TEST(Output, TheEndingOfAFileNamesItsFormat) {
  for (const auto& [file, format] : std::vector<std::pair<std::string, std::string>>{{"run.json", "json"},
                                                                                     {"a.b/RUN.CSV", "csv"},
                                                                                     {"page.md", "md"},
                                                                                     {"out.txt", "text"},
                                                                                     {"out", "text"}}) {
    EXPECT_THAT(asked({.path = file}), ElementsAre(fmt::format("-o={}:{}", format, file)));
    EXPECT_THAT(asked({.path = file, .format = "md"}), ElementsAre("-o=md:" + file)) << "--format wins";
  }
  EXPECT_THAT(refusal({.path = "x.json"}, kLab01Page), HasSubstr("lab01 is a page of Markdown"));
  OutputOptions no_csv{.path = "x.csv"};
  no_csv.formats = {"text", "json"};
  EXPECT_THROW((void)output_documents(no_csv), Error);
}

TEST(Output, APresetReplacesTheFormat) {
  EXPECT_THAT(asked({.path = "page.md"}, kLab01Page), ElementsAre("-o=lab01:page.md"));
  EXPECT_THAT(asked({.record_path = "r.json"}, kLab01Page), ElementsAre("-J=json:r.json", "--preset=lab01:"));
}

TEST(Output, ADashIsStdoutAndHoldsOneDocument) {
  EXPECT_THAT(asked({.record_path = "-"}), ElementsAre("-J=json:"));
  EXPECT_THAT(asked({.csv_path = "-", .path = "a.md"}), ElementsAre("--csv=csv:", "-o=md:a.md"));
  EXPECT_THAT(refusal({.record_path = "-", .csv_path = "-"}),
              HasSubstr("stdout already has what -J asks for"));
  EXPECT_THAT(refusal({.record_path = "-", .format = "md"}), HasSubstr("--format: stdout already has"));
  EXPECT_THAT(refusal({.record_path = "a.json", .path = "./a.json"}),
              HasSubstr("-o: it is the same file as -J"));
}

TEST(Output, EveryPathIsWrittenAndTheRestIsReturned) {
  const std::string path = testing::TempDir() + "collbench_output_" + std::to_string(::getpid()) + ".md";
  const std::string printed =
      write_documents({{"-o", "md", path}, {"--csv", "csv", ""}},
                      [](const OutputDocument& each) { return "<" + each.format + ">"; });
  EXPECT_EQ(printed, "<csv>");
  EXPECT_EQ(input_text(path), "<md>");
  std::remove(path.c_str());
}

}  // namespace
}  // namespace collbench::program::output_test
