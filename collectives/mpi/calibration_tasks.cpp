#include "collectives/mpi/calibration.hpp"

#include <algorithm>
#include <tuple>

namespace collbench::collectives {
namespace {

constexpr int kMaxRepeats =
    3;  // of points that do not fit the others: what stays off so often is no accident

/// Of the time allowed: what a block takes longer than those before it has the rest.
constexpr double kPlannedShare = 0.9;

/// The ones between the first and the last.
void spread_between(std::span<CalibrationTask> curve, int level) {
  if (curve.size() < 3) return;
  const std::size_t middle = curve.size() / 2;
  curve[middle].level = level;
  curve[middle].needed = false;
  spread_between(curve.first(middle + 1), level + 1);
  spread_between(curve.subspan(middle), level + 1);
}

struct Measured {
  const CalibrationTask* task = nullptr;
  CalibrationPoint point{};
};

/// What a task should take, by the largest message of its kind so far, or of the link that it uses. 0 where
/// none was measured.
double likely_seconds(const CalibrationTask& task, const std::vector<Measured>& done) {
  const auto wanted = [&](const CalibrationPoint& point) {
    const bool same = point.kind == task.point.kind && point.type == task.point.type &&
                      point.reduction == task.point.reduction;
    return same || (task.point.kind == CalibrationKind::exchange_inter &&
                    point.kind == CalibrationKind::send_recv_inter);
  };
  const CalibrationPoint* largest = nullptr;
  for (const Measured& each : done) {
    if (wanted(each.point) && (largest == nullptr || each.point.bytes > largest->bytes))
      largest = &each.point;
  }
  if (largest == nullptr) return 0;
  return task.messages * largest->seconds * static_cast<double>(task.point.bytes) /
         static_cast<double>(largest->bytes);
}

class Calibrator {
 public:
  Calibrator(CalibrationBench& bench, double seconds) : bench_(bench), seconds_(kPlannedShare * seconds) {}

  [[nodiscard]] MeasuredCalibration run(const std::vector<CalibrationTask>& tasks) {
    std::vector<const CalibrationTask*> order;
    for (const CalibrationTask& task : tasks) order.push_back(&task);
    // Equals in the order given: by their place in `tasks`, the same on all ranks.
    std::ranges::sort(order, [](const CalibrationTask* left, const CalibrationTask* right) {
      return std::tuple(!left->needed, left->level, left) < std::tuple(!right->needed, right->level, right);
    });
    MeasuredCalibration result{.points = {}, .wanted = tasks.size()};
    for (std::size_t i = 0; i < order.size(); ++i) {
      const CalibrationTask& task = *order[i];
      if (!fits(task)) continue;
      if (const auto seconds = measure(task, order.size() - i)) {
        keep(task, *seconds);
      } else {
        --result.wanted;
      }
    }
    if (!bench_.simulated) repeat_disturbed();
    std::ranges::sort(done_, {}, &Measured::task);
    result.points = points();
    return result;
  }

 private:
  [[nodiscard]] bool fits(const CalibrationTask& task) const {
    return task.needed || bench_.simulated || has_time_for(likely_seconds(task, done_));
  }

  /// Once to warm up, and once for the clock.
  [[nodiscard]] bool has_time_for(double seconds) const { return bench_.passed + 2 * seconds < seconds_; }

  /// Its share of the time that is left for so many tasks.
  [[nodiscard]] std::optional<double> measure(const CalibrationTask& task, std::size_t tasks_left) {
    bench_.point_end = bench_.passed + (seconds_ - bench_.passed) / static_cast<double>(tasks_left);
    return task.measure(bench_);
  }

  void keep(const CalibrationTask& task, double seconds) {
    Measured measured{.task = &task, .point = task.point};
    measured.point.seconds = seconds;
    done_.push_back(measured);
  }

  [[nodiscard]] std::vector<CalibrationPoint> points() const {
    std::vector<CalibrationPoint> all;
    for (const Measured& each : done_) all.push_back(each.point);
    return all;
  }

  /// Points that the others contradict were disturbed. A disturbance only ever adds: the shortest is kept.
  void repeat_disturbed() {
    bench_.repeating = true;
    for (int repeat = 0; repeat < kMaxRepeats; ++repeat) {
      const std::vector<std::size_t> disturbed = disturbed_points(points());
      for (std::size_t i = 0; i < disturbed.size(); ++i) {
        Measured& again = done_[disturbed[i]];
        if (!has_time_for(again.task->messages * again.point.seconds)) continue;
        const auto seconds = measure(*again.task, disturbed.size() - i);
        if (seconds) again.point.seconds = std::min(again.point.seconds, *seconds);
      }
      if (disturbed.empty()) return;
    }
  }

  CalibrationBench& bench_;
  double seconds_;
  std::vector<Measured> done_;
};

}  // namespace

void spread_levels(std::span<CalibrationTask> curve) { spread_between(curve, 1); }

MeasuredCalibration run_calibration_tasks(CalibrationBench& bench, double seconds,
                                          const std::vector<CalibrationTask>& tasks) {
  return Calibrator(bench, seconds).run(tasks);
}

}  // namespace collbench::collectives
