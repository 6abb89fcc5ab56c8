#include "tools/plan/report/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <pugixml.hpp>
#include <utility>

#include "base/document/svg.hpp"
#include "base/error.hpp"
#include "base/record/json_fields.hpp"
#include "base/units.hpp"
#include "tools/plan/step/timeline.hpp"

namespace collbench::analysis {
namespace {

constexpr std::size_t kMaxSpansDrawn = 20'000;  ///< spans: 3 MB of SVG
constexpr double kTimelineWidth = 1160;
constexpr double kLaneLeft = 64;  ///< what stands left of the lanes
constexpr double kLaneTop = 66;
constexpr double kLane = 22;
constexpr double kLaneLetter = 6.5;

const char* style_of(SpanKind kind) {
  constexpr std::array<const char*, 6> kStyles{"fw", "bw", "wg", "dp", "opt", "oth"};
  return kStyles.at(static_cast<std::size_t>(kind));
}

PictureStyles timeline_styles() {
  return {.light =
              ".fw{fill:#9cc7ff}.bw{fill:#a7dfb0}.wg{fill:#f2e394}.dp{fill:#ffc680}.opt{fill:#d8b9ff}.oth{"
              "fill:#d0d7de}rect{stroke:#fff;stroke-width:.5}.small{font-size:9px}",
          .dark =
              ".fw{fill:#1f5fae}.bw{fill:#1d6b33}.wg{fill:#6b5d10}.dp{fill:#9a5a00}.opt{fill:#6639a6}.oth{"
              "fill:#484f58}rect{stroke:#0d1117}"};
}

std::string span_words(const TimelineSpan& span, int chunks) {
  const std::string seconds = format_seconds(span.end - span.begin);
  if (span.kind > SpanKind::weights)
    return fmt::format("stage {}, {}: {}", span.stage, name(span.kind), seconds);
  const std::string chunk = chunks > 1 ? fmt::format(", chunk {}", span.chunk) : "";
  return fmt::format("stage {}, micro-batch {}{}, {}: {}, from {}", span.stage, span.micro_batch, chunk,
                     name(span.kind), seconds, format_seconds(span.begin));
}

std::string title_of(const TrainingPlan& plan, double end) {
  return fmt::format("One step of {} over {} GPUs: {} by its schedule, {} by the plan", plan.job.model.name,
                     plan.job.gpus(), format_seconds(end), format_seconds(plan.step_seconds));
}

double end_of(const std::vector<TimelineSpan>& spans) {
  double end = 0;
  for (const TimelineSpan& span : spans) end = std::max(end, span.end);
  return end;
}

void draw_span(pugi::xml_node svg, const TimelineSpan& span, double scale, int chunks) {
  const double x = kLaneLeft + span.begin * scale;
  const double width = (span.end - span.begin) * scale;
  const double y = kLaneTop + span.stage * kLane;
  const pugi::xml_node shape = set_size(draw_shape(svg, "rect", style_of(span.kind), x, y), width, kLane - 3);
  set_tooltip(shape, span_words(span, chunks));
  const std::string label = fmt::to_string(span.micro_batch);
  if (span.kind <= SpanKind::weights && width > kLaneLetter * static_cast<double>(label.size()) + 2)
    draw_text(svg, "small mid", x + width / 2, y + kLane / 2 + 2, label);
}

void draw_span_kinds(pugi::xml_node svg, double y, bool weights) {
  double x = kLaneLeft;
  for (const SpanKind kind : {SpanKind::forward, SpanKind::backward, SpanKind::weights,
                              SpanKind::data_parallel, SpanKind::optimizer, SpanKind::other}) {
    if (kind == SpanKind::weights && !weights) continue;
    set_size(draw_shape(svg, "rect", style_of(kind), x, y - 10), 12, 12);
    draw_text(svg, "faint", x + 18, y, std::string(name(kind)));
    x += 44 + kLaneLetter * static_cast<double>(name(kind).size());
  }
}

}  // namespace

std::string timeline_svg(const TrainingPlan& plan) {
  const std::vector<TimelineSpan> spans = timeline(plan);
  if (spans.size() > kMaxSpansDrawn) {
    throw usage_error("--timeline", fmt::format("{} spans are too many for a picture", spans.size()),
                      "write FILE.json for Perfetto, or give a smaller --gbs: the pattern repeats");
  }
  const double end = end_of(spans);
  const double scale = (kTimelineWidth - kLaneLeft - 20) / end;
  pugi::xml_document document;
  const pugi::xml_node svg = begin_svg(document, title_of(plan, end), timeline_styles());
  const pugi::xml_node page = draw_shape(svg, "rect", "page", 0, 0);
  draw_text(svg, "title", 14, 24, title_of(plan, end));
  draw_text(svg, "faint", 14, 44,
            "A lane for each pipeline stage, micro-batches by number; exposed collectives are in their "
            "passes, data-parallel ones of the whole step together at its end. A plan, not a measurement.");
  for (int stage = 0; stage < plan.job.pp; ++stage)
    draw_text(svg, "faint", 14, kLaneTop + stage * kLane + kLane / 2 + 2, fmt::format("stage {}", stage));
  for (const TimelineSpan& span : spans) draw_span(svg, span, scale, plan.job.vpp);
  const double bottom = kLaneTop + plan.job.pp * kLane + 24;
  draw_span_kinds(svg, bottom, plan.job.is_zero_bubble());
  set_size(page, kTimelineWidth, bottom + 16);
  return finish_svg(document, kTimelineWidth, bottom + 16);
}

std::string timeline_trace(const TrainingPlan& plan) {
  constexpr double kMicroseconds = 1e6;
  const std::vector<TimelineSpan> spans = timeline(plan);
  Json events = Json::array();
  const auto name_it = [&events](int stage, const char* what, Json args) {
    events.push_back({{"ph", "M"}, {"pid", 0}, {"tid", stage}, {"name", what}, {"args", std::move(args)}});
  };
  name_it(0, "process_name", {{"name", title_of(plan, end_of(spans))}});
  for (int stage = 0; stage < plan.job.pp; ++stage) {
    name_it(stage, "thread_name", {{"name", fmt::format("stage {}", stage)}});
    name_it(stage, "thread_sort_index", {{"sort_index", stage}});
  }
  for (const TimelineSpan& span : spans) {
    Json event = {{"ph", "X"},
                  {"pid", 0},
                  {"tid", span.stage},
                  {"name", name(span.kind)},
                  {"cat", "plan"},
                  {"ts", span.begin * kMicroseconds},
                  {"dur", (span.end - span.begin) * kMicroseconds}};
    if (span.kind <= SpanKind::weights) {
      event["name"] = fmt::format("{} {}", name(span.kind), span.micro_batch);
      event["args"] = {{"micro_batch", span.micro_batch}, {"chunk", span.chunk}};
    }
    events.push_back(std::move(event));
  }
  const Json trace = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return json_document(trace, 1);
}

}  // namespace collbench::analysis
