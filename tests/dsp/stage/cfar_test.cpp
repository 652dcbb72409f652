#include "dsp/stage/cfar.h"

#include <cmath>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "dsp/theory/cfar_factor.h"
#include "tests/dsp/stage/exponential_map.h"

namespace cornerturn {
namespace {

ChainConfig::Cfar make_config(CfarAxes axes, double pfa, bool wraps = true) {
  ChainConfig::Cfar config;
  config.axes = axes;
  config.pfa = pfa;
  config.train_range = 5;
  config.guard_range = 2;
  config.train_doppler = 3;
  config.guard_doppler = 1;
  config.doppler_wraps = wraps;
  return config;
}

/// The definition, cell by cell in double precision.
struct Training {
  double sum = 0.0;
  std::size_t count = 0;
};
Training training_by_definition(MatrixView<const float> power, const ChainConfig::Cfar& config, int gate, int bin) {
  const int reach_range =
      config.axes == CfarAxes::doppler ? 0 : static_cast<int>(config.train_range + config.guard_range);
  const int guard_range = config.axes == CfarAxes::doppler ? 0 : static_cast<int>(config.guard_range);
  const int reach_doppler =
      config.axes == CfarAxes::range ? 0 : static_cast<int>(config.train_doppler + config.guard_doppler);
  const int guard_doppler = config.axes == CfarAxes::range ? 0 : static_cast<int>(config.guard_doppler);
  const int gates = static_cast<int>(power.line_count());
  const int bins = static_cast<int>(power.element_count());
  Training training;
  for (int g = gate - reach_range; g <= gate + reach_range; ++g)
    for (int b = bin - reach_doppler; b <= bin + reach_doppler; ++b) {
      if (std::abs(g - gate) <= guard_range && std::abs(b - bin) <= guard_doppler) continue;
      if (g < 0 || g >= gates) continue;
      if (!config.doppler_wraps && (b < 0 || b >= bins)) continue;
      training.sum +=
          static_cast<double>(power(static_cast<std::size_t>(g), static_cast<std::size_t>((b + bins) % bins)));
      ++training.count;
    }
  return training;
}

using Cells = std::set<std::pair<int, int>>;
Cells cells_of(const AlarmList& list) {
  Cells cells;
  for (const CfarAlarm& alarm : list.alarms()) cells.emplace(alarm.gate, alarm.doppler_bin);
  return cells;
}

TEST(Cfar, AgreesWithItsDefinitionEverywhere) {
  ThreadPool pool(2);
  for (const CfarAxes axes : {CfarAxes::range, CfarAxes::doppler, CfarAxes::range_doppler})
    for (const bool wraps : {true, false})
      for (const auto& [gates, bins] : {std::pair<std::size_t, std::size_t>{70, 33}, {9, 130}, {3, 9}, {40, 64}}) {
        const auto config = make_config(axes, 0.05, wraps);
        ExponentialMap map(gates, bins, 7);
        map.draw();
        map.at(gates / 2, bins / 2) = 1e6F;
        CfarDetector detector(config, {gates, bins, 1}, pool.thread_count());
        AlarmList list(gates * bins);
        detector.process(map.view(), pool, list);
        const Cells cells = cells_of(list);
        for (std::size_t gate = 0; gate < gates; ++gate)
          for (std::size_t bin = 0; bin < bins; ++bin) {
            const auto training =
                training_by_definition(map.view(), config, static_cast<int>(gate), static_cast<int>(bin));
            ASSERT_EQ(detector.training_count(gate, bin), training.count) << gate << " " << bin;
            if (training.count == 0) continue;
            const double factor = ca_cfar_factor(config.pfa, training.count);
            ASSERT_DOUBLE_EQ(detector.factor(gate, bin), factor);
            const double ratio =
                static_cast<double>(map.at(gate, bin)) * static_cast<double>(training.count) / (factor * training.sum);
            // Single precision sums of at most 84 cells: decisions may differ within 1e-5 of the threshold.
            if (std::abs(ratio - 1.0) < 1e-5) continue;
            ASSERT_EQ(cells.contains({static_cast<int>(gate), static_cast<int>(bin)}), ratio > 1.0)
                << gate << " " << bin << " ratio " << ratio;
          }
        for (const CfarAlarm& alarm : list.alarms()) {
          const auto training = training_by_definition(map.view(), config, alarm.gate, alarm.doppler_bin);
          EXPECT_FLOAT_EQ(alarm.noise_mean, static_cast<float>(training.sum / static_cast<double>(training.count)));
        }
      }
}

TEST(Cfar, StrongCellChangesNoThresholdOutsideItsWindow) {
  // Flat map, one cell 60 dB up, and one probe just above or just below its threshold, far and near in each direction.
  constexpr std::size_t kGates = 60;
  constexpr std::size_t kBins = 80;
  ThreadPool pool(1);
  const auto config = make_config(CfarAxes::range_doppler, 1e-4);
  CfarDetector detector(config, {kGates, kBins, 1}, 1);
  AlarmList list(64);
  for (const auto& [gate, bin] : {std::pair<std::size_t, std::size_t>{38, 40},
                                  {22, 40},
                                  {30, 45},
                                  {30, 35},
                                  {59, 40},
                                  {0, 40},
                                  {30, 0},
                                  {30, 79},
                                  {38, 45}}) {
    for (const double excess : {1e-5, -1e-5}) {
      std::vector<float> cells(kGates * kBins, 1.0F);
      cells[30 * kBins + 40] = 1e6F;
      cells[gate * kBins + bin] = static_cast<float>(detector.factor(gate, bin) * (1.0 + excess));
      detector.process({cells.data(), kGates, kBins}, pool, list);
      EXPECT_EQ(cells_of(list).contains({static_cast<int>(gate), static_cast<int>(bin)}), excess > 0.0)
          << gate << " " << bin << " " << excess;
    }
  }
}

TEST(Cfar, StrongCellLeavesDistantDecisionsUntouched) {
  ThreadPool pool(1);
  ExponentialMap map(200, 64, 3);
  map.draw();
  const auto config = make_config(CfarAxes::range_doppler, 0.2);
  CfarDetector detector(config, {200, 64, 1}, 1);
  AlarmList before(200 * 64);
  detector.process(map.view(), pool, before);
  map.at(100, 32) = 1e6F;
  AlarmList after(200 * 64);
  detector.process(map.view(), pool, after);
  const auto outside = [](const AlarmList& list) {
    Cells cells;
    for (const CfarAlarm& alarm : list.alarms())
      if (std::abs(alarm.gate - 100) > 7 || std::abs(alarm.doppler_bin - 32) > 4)
        cells.emplace(alarm.gate, alarm.doppler_bin);
    return cells;
  };
  EXPECT_GT(outside(before).size(), 1000U);
  EXPECT_EQ(outside(before), outside(after));
}

TEST(Cfar, ResultDoesNotDependOnThreadCount) {
  ExponentialMap map(333, 100, 4);
  map.draw();
  std::vector<std::vector<CfarAlarm>> results;
  for (const std::size_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    CfarDetector detector(make_config(CfarAxes::range_doppler, 0.01), {333, 100, 1}, threads);
    AlarmList list(5000);
    detector.process(map.view(), pool, list);
    results.emplace_back(list.alarms().begin(), list.alarms().end());
  }
  for (const auto& result : results) {
    ASSERT_EQ(result.size(), results.front().size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      EXPECT_EQ(result[i].gate, results.front()[i].gate);
      EXPECT_EQ(result[i].doppler_bin, results.front()[i].doppler_bin);
      EXPECT_EQ(result[i].noise_mean, results.front()[i].noise_mean);
      if (i == 0) continue;
      EXPECT_LT(std::pair(result[i - 1].gate, result[i - 1].doppler_bin),
                std::pair(result[i].gate, result[i].doppler_bin));
    }
  }
}

TEST(Cfar, CountsAlarmsThatFindNoRoom) {
  ThreadPool pool(2);
  ExponentialMap map(100, 100, 5);
  map.draw();
  CfarDetector detector(make_config(CfarAxes::range, 0.1), {100, 100, 1}, 2);
  AlarmList all(10'000);
  detector.process(map.view(), pool, all);
  AlarmList few(10);
  detector.process(map.view(), pool, few);
  EXPECT_EQ(few.size(), 10U);
  EXPECT_EQ(few.size() + few.overflow(), all.size());
  EXPECT_EQ(all.overflow(), 0U);
}

TEST(Cfar, PfaIsALightParameter) {
  ThreadPool pool(1);
  CfarDetector detector(make_config(CfarAxes::range_doppler, 1e-3), {50, 20, 4}, 1);
  EXPECT_DOUBLE_EQ(detector.factor(25, 10), ca_cfar_factor(1e-3, detector.training_count(25, 10), 4));
  detector.set_pfa(1e-6);
  EXPECT_DOUBLE_EQ(detector.factor(25, 10), ca_cfar_factor(1e-6, detector.training_count(25, 10), 4));
  EXPECT_DOUBLE_EQ(detector.factor(0, 0), ca_cfar_factor(1e-6, detector.training_count(0, 0), 4));
}

TEST(Cfar, CellsWithoutTrainingRaiseNoAlarm) {
  ThreadPool pool(1);
  const std::vector<float> cells(3, 1e9F);
  CfarDetector detector(make_config(CfarAxes::range, 1e-3), {3, 1, 1}, 1);  // all inside the guard
  EXPECT_EQ(detector.training_count(1, 0), 0U);
  AlarmList list(8);
  detector.process({cells.data(), 3, 1}, pool, list);
  EXPECT_EQ(list.size(), 0U);
}

TEST(Cfar, WindowThatWrapsNeverMeetsItself) {
  // 5 bins hold 2 on each side, one of them guard; none is counted twice.
  CfarDetector detector(make_config(CfarAxes::doppler, 1e-3), {4, 5, 1}, 1);
  EXPECT_EQ(detector.training_count(0, 0), 2U);
}

TEST(Cfar, AllZeroMapRaisesNoAlarm) {
  ThreadPool pool(1);
  const std::vector<float> cells(64 * 16, 0.0F);
  CfarDetector detector(make_config(CfarAxes::range_doppler, 0.5), {64, 16, 1}, 1);
  AlarmList list(2000);
  detector.process({cells.data(), 64, 16}, pool, list);
  EXPECT_EQ(list.size(), 0U);
}

}  // namespace
}  // namespace cornerturn
