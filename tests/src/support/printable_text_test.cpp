#include "src/support/printable_text.h"

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

TEST(PrintableText, KeepsTextInAnyLanguage) {
  EXPECT_EQ(printable_text("caf\xC3\xA9 \xE9\x9B\xB7 \xF0\x9F\x93\xA1"), "caf\xC3\xA9 \xE9\x9B\xB7 \xF0\x9F\x93\xA1");
  EXPECT_EQ(printable_text(""), "");
}

TEST(PrintableText, ReplacesControlCharactersAndEscapes) {
  EXPECT_EQ(printable_text("a\nb\x1b[31mc\x7f"), "a?b?[31mc?");
  EXPECT_EQ(printable_text("a\xC2\x9Bz"), "a?z");  // C1 control sequence introducer
}

TEST(PrintableText, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable_text("a\xD0z"), "a?z");
  EXPECT_EQ(printable_text("\xE9\x9B"), "??");            // cut
  EXPECT_EQ(printable_text("\xC0\xAF"), "??");            // overlong
  EXPECT_EQ(printable_text("\xED\xA0\x80"), "???");       // surrogate
  EXPECT_EQ(printable_text("\xF4\x90\x80\x80"), "????");  // beyond U+10FFFF
}

TEST(PrintableText, CutsWhatIsTooLong) {
  const std::string shown = printable_text(std::string(1000, 'x'));
  EXPECT_EQ(shown.size(), 403U);
  EXPECT_EQ(shown.substr(400), "...");
}

}  // namespace
}  // namespace cornerturn
