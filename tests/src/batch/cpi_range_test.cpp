#include "src/batch/cpi_range.h"

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

std::string message_of(const Expected<CpiRange>& range) { return range ? "no error" : range.error().message(); }

TEST(CpiRange, ReadsAllForms) {
  EXPECT_EQ(parse_cpi_range("10:20"), (CpiRange{10, 20}));
  EXPECT_EQ(parse_cpi_range("10:"), (CpiRange{10, SIZE_MAX}));
  EXPECT_EQ(parse_cpi_range(":20"), (CpiRange{0, 20}));
  EXPECT_EQ(parse_cpi_range("7"), (CpiRange{7, 8}));
  EXPECT_EQ(parse_cpi_range(":"), CpiRange());
}

TEST(CpiRange, RefusesWhatIsNone) {
  for (const char* text : {"", "a", "1:b", "-1:3", "1:2:3", "1.5", "99999999999999999999999"})
    EXPECT_NE(message_of(parse_cpi_range(text)).find("is not a range of CPIs"), std::string::npos) << text;
  EXPECT_NE(message_of(parse_cpi_range("5:5")).find("holds no CPI"), std::string::npos);
  EXPECT_NE(message_of(parse_cpi_range("6:5")).find("holds no CPI"), std::string::npos);
}

TEST(CpiRange, IsClippedToWhatTheCaptureHas) {
  CaptureInfo info;
  info.path = "capture.h5";
  info.cpi_count = 5;
  EXPECT_EQ(clip_cpi_range({}, info), (CpiRange{0, 5}));
  EXPECT_EQ(clip_cpi_range({3, 60}, info), (CpiRange{3, 5}));
  EXPECT_EQ(clip_cpi_range({1, 4}, info), (CpiRange{1, 4}));
  EXPECT_EQ(message_of(clip_cpi_range({5, 6}, info)), "--cpi 5: capture.h5 has no CPI 5; it has the CPIs 0 to 4");
}

TEST(CpiRange, OfALiveSourceStaysAsItIs) {
  EXPECT_EQ(clip_cpi_range({7, SIZE_MAX}, CaptureInfo()), (CpiRange{7, SIZE_MAX}));
}

}  // namespace
}  // namespace cornerturn
