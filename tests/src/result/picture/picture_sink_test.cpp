#include "src/result/picture_sink.h"

#include <fstream>
#include <set>
#include <sstream>

#include <cairo.h>
#include <gtest/gtest.h>

#include "dsp/vocabulary/units.h"
#include "src/result/picture/result_picture.h"
#include "tests/src/result/made_results.h"

namespace cornerturn {
namespace {

using testing::MadeResult;
using testing::MadeShape;
using testing::make_detection;
using testing::make_run;

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// Colours of the pixels of a PNG, as 0x00RRGGBB.
std::multiset<std::uint32_t> colours_of(const std::string& path) {
  std::multiset<std::uint32_t> colours;
  cairo_surface_t* surface = cairo_image_surface_create_from_png(path.c_str());
  EXPECT_EQ(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS) << path;
  const int stride = cairo_image_surface_get_stride(surface);
  for (int y = 0; y < cairo_image_surface_get_height(surface); y += 3)
    for (int x = 0; x < cairo_image_surface_get_width(surface); x += 3)
      colours.insert(0xFFFFFFU &
                     reinterpret_cast<const std::uint32_t*>(cairo_image_surface_get_data(surface) + y * stride)[x]);
  cairo_surface_destroy(surface);
  return colours;
}

Expected<void> draw(const ResultWriterOptions& options, std::vector<MadeResult>& results) {
  auto sink = make_picture_sink(options);
  if (!sink) return unexpected(sink.error());
  if (auto begun = (*sink)->begin(make_run()); !begun) return begun;
  for (MadeResult& result : results)
    if (auto accepted = (*sink)->accept(result.result()); !accepted) return accepted;
  return (*sink)->finish(true);
}

class Picture : public ::testing::Test {
 protected:
  testing::ScratchFolder folder_{"picture"};
};

TEST_F(Picture, IsWrittenInEveryKind) {
  ResultWriterOptions options;
  for (const std::string& kind : picture_kinds()) options.picture_paths.push_back(folder_ / ("map." + kind));
  std::vector<MadeResult> results;
  results.emplace_back(0, std::vector{make_detection(5.0, 1.0, 30.0)});
  const Expected<void> drawn = draw(options, results);
  ASSERT_TRUE(drawn) << drawn.error().message();
  EXPECT_EQ(read_file(folder_ / "map.png").substr(1, 3), "PNG");
  EXPECT_NE(read_file(folder_ / "map.svg").find("</svg>"), std::string::npos);
  EXPECT_EQ(read_file(folder_ / "map.pdf").substr(0, 5), "%PDF-");
  const auto colours = colours_of(folder_ / "map.png");
  EXPECT_GT(colours.count(0xFFFFFFU), colours.size() / 4) << "the page is white";
  EXPECT_GT(colours.count(packed(viridis(0.0))), 100U) << "the map has its lowest colour";
}

TEST_F(Picture, DrawsEveryShapeOfMapAndMapsWithoutPower) {
  ResultWriterOptions options;
  options.picture_paths = {folder_ / "map.png"};
  const std::vector<MadeShape> shapes{{.gates = 1, .bins = 1, .channels = 0},
                                      {.gates = 50, .bins = 1, .channels = 2},
                                      {.gates = 1, .bins = 50, .channels = 16},
                                      {.gates = 2, .bins = 2, .channels = 1},
                                      {.gates = 3000, .bins = 3, .channels = 0}};
  for (const MadeShape& shape : shapes) {
    std::vector<MadeResult> results;
    results.emplace_back(0, std::vector{make_detection(1.0, 0.0, 30.0)}, shape);
    const Expected<void> drawn = draw(options, results);
    EXPECT_TRUE(drawn) << shape.gates << " x " << shape.bins << ": " << drawn.error().message();
  }
  std::vector<MadeResult> results;
  results.emplace_back(0);
  for (const float power : {0.0F, std::nanf(""), INFINITY}) {
    std::vector<float> map(results[0].map().size(), power);
    results[0].result().products.front().bytes = std::as_writable_bytes(std::span(map));
    const Expected<void> drawn = draw(options, results);
    EXPECT_TRUE(drawn) << power << ": " << drawn.error().message();
  }
}

TEST_F(Picture, ShowsTheStrongestCpiUnlessToldOtherwise) {
  std::vector<MadeResult> results;
  results.emplace_back(10);
  results.emplace_back(11, std::vector{make_detection(5.0, 1.0, 40.0)});
  results.emplace_back(12, std::vector{make_detection(5.0, 1.0, 20.0)});
  std::vector<std::string> pictures;
  for (const PictureChoice choice : {PictureChoice::strongest, PictureChoice::first, PictureChoice::last}) {
    ResultWriterOptions options;
    options.picture_paths = {folder_ / "map.png"};
    options.picture = choice;
    ASSERT_TRUE(draw(options, results));
    pictures.push_back(read_file(folder_ / "map.png"));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<MadeResult> alone;
    const std::vector<Detection> detections =
        i == 1 ? std::vector<Detection>{} : std::vector{make_detection(5.0, 1.0, i == 0 ? 40.0 : 20.0)};
    alone.emplace_back(i == 0 ? 11 : i == 1 ? 10 : 12, detections);
    ResultWriterOptions options;
    options.picture_paths = {folder_ / "alone.png"};
    ASSERT_TRUE(draw(options, alone));
    EXPECT_EQ(pictures[i], read_file(folder_ / "alone.png")) << i;
  }
}

TEST_F(Picture, CorrelationIsThatOfTheStrongestDetectionsGate) {
  // Made matrices: 2 on the diagonal, 1 + gate/100 beside it; 5 m is gate 8.
  MadeResult result(0, {make_detection(9.0, 0.0, 10.0), make_detection(5.0, 1.0, 30.0)});
  const PictureContent content = make_picture_content(result.result(), make_run());
  ASSERT_EQ(content.correlation.channel_count, 4U);
  EXPECT_FLOAT_EQ(content.correlation.magnitude[0], 1.0F);
  EXPECT_FLOAT_EQ(content.correlation.magnitude[1], 1.08F / 2.0F);
  EXPECT_FLOAT_EQ(content.correlation.magnitude[4], 1.08F / 2.0F);
  // The made phase is 0.7 rad for each channel that the row is ahead of the column.
  EXPECT_NEAR(content.correlation.phase_deg[4], rad_to_deg(0.7), 1e-4);
  EXPECT_NEAR(content.correlation.phase_deg[1], -rad_to_deg(0.7), 1e-4);
  EXPECT_EQ(content.correlation.title, "Channel correlation at 5.00 m");
  EXPECT_EQ(content.detections.front().range_m, 5.0) << "strongest first";
}

TEST_F(Picture, UnknownEndingsAndBadPlacesAreErrors) {
  ResultWriterOptions options;
  options.picture_paths = {folder_ / "map.gif"};
  EXPECT_EQ(make_picture_sink(options).error().kind, ErrorKind::usage);
  std::ofstream(folder_ / "file") << "not a folder";
  options.picture_paths = {folder_ / "file/map.png"};
  std::vector<MadeResult> results;
  const Expected<void> drawn = draw(options, results);
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().kind, ErrorKind::runtime);
}

}  // namespace
}  // namespace cornerturn
