#include "topology/render/render.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "topology/machines/reference_machines.hpp"

namespace collbench::topology::svg_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

bool has_dot() { return run_child({"dot", "-V"}).succeeded(); }

TEST(Svg, GraphvizDrawsEveryReferenceMachine) {
  if (!has_dot()) GTEST_SKIP() << "Graphviz' dot is not here (apt-get install graphviz)";
  for (const ReferenceMachine& machine : reference_machines()) {
    const std::string svg = svg_of(draw_dot(reference_host(machine), std::string(machine.name), {}));
    EXPECT_THAT(svg, AllOf(HasSubstr("<svg"), HasSubstr("GPU3"), HasSubstr("prefers-color-scheme: dark")));
  }
}

TEST(Svg, WhatIsNoGraphIsAnError) {
  if (!has_dot()) GTEST_SKIP() << "Graphviz' dot is not here (apt-get install graphviz)";
  EXPECT_THROW((void)svg_of("no graph"), Error);
}

TEST(Svg, WithoutGraphvizItSaysWhatToInstall) {
  const std::string path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  ::setenv("PATH", "/nonexistent", 1);           // NOLINT(concurrency-mt-unsafe)
  try {
    (void)svg_of("digraph {}");
    ADD_FAILURE() << "it has drawn without dot";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::not_here);
    EXPECT_THAT(error.next_step(), HasSubstr("graphviz"));
  }
  ::setenv("PATH", path.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

TEST(Svg, EveryColorHasItsDarkCounterpart) {
  const std::string svg = with_dark_colors("<?xml?><svg width=\"1\"><g/></svg>");
  EXPECT_THAT(svg, testing::StartsWith("<?xml?><svg width=\"1\">\n<style>"));
  EXPECT_THAT(svg, testing::EndsWith("</style><g/></svg>"));
  for (const DrawingColor& color : drawing_colors())
    EXPECT_THAT(svg, AllOf(HasSubstr(color.light), HasSubstr(color.dark)));
  EXPECT_EQ(with_dark_colors("no picture"), "no picture");
}

}  // namespace
}  // namespace collbench::topology::svg_test
