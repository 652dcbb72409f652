#include "src/config/toml_reader.h"

#include <gtest/gtest.h>

namespace cornerturn {
namespace {

TomlReader read(std::string_view text) { return TomlReader::parse(text, "chain.toml").value(); }

TEST(TomlReader, ReadsValuesAndFallsBack) {
  TomlReader root = read("[cfar]\npfa = 1e-3\nguard = 2\n");
  TomlReader cfar = root.table("cfar");
  EXPECT_DOUBLE_EQ(cfar.number("pfa", 1.0), 1e-3);
  EXPECT_EQ(cfar.size("guard", 7), 2u);
  EXPECT_EQ(cfar.size("train", 7), 7u);
  EXPECT_EQ(root.table("absent").number("x", 4.0), 4.0);
  EXPECT_TRUE(root.finish());
}

TEST(TomlReader, ErrorNamesFileLineAndKey) {
  TomlReader root = read("\n[cfar]\npfa = 2.0\n");
  root.table("cfar").number("pfa", 1e-6, {0.0, 0.5, true});
  const auto done = root.finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "chain.toml:3:cfar.pfa: 2 is out of range; give a number above 0 and at most 0.5");
  EXPECT_EQ(done.error().kind, ErrorKind::usage);
}

TEST(TomlReader, UnknownKeyGetsASuggestion) {
  TomlReader root = read("[cfar]\npfaa = 1e-3\n");
  root.table("cfar").number("pfa", 1e-6);
  const auto done = root.finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "chain.toml:2:cfar.pfaa: unknown key; did you mean 'pfa'?");
}

TEST(TomlReader, HugeIntegerIsAFiniteNumber) {
  TomlReader root = read("x = 9007199254740993\n");
  EXPECT_DOUBLE_EQ(root.number("x", 0.0), 9007199254740992.0);
  EXPECT_TRUE(root.finish());
}

TEST(TomlReader, EndlessFileIsRefused) { EXPECT_FALSE(TomlReader::open("/dev/zero")); }

TEST(TomlReader, MistypedKeyIsNotReportedAsMissing) {
  TomlReader root = read("pfaa = 1e-3\n");
  root.required_number("pfa");
  const auto done = root.finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "chain.toml:1:pfaa: unknown key; did you mean 'pfa'?");
}

TEST(TomlReader, UnknownTableIsAnError) {
  TomlReader root = read("[cfarr]\npfa = 1e-3\n");
  root.table("cfar");
  EXPECT_FALSE(root.finish());
}

TEST(TomlReader, WrongTypesAndMissingKeysAreErrors) {
  TomlReader text_for_number = read("x = 'one'\n");
  text_for_number.number("x", 0.0);
  EXPECT_FALSE(text_for_number.finish());
  TomlReader fraction_for_integer = read("x = 1.5\n");
  fraction_for_integer.integer("x", 0);
  EXPECT_FALSE(fraction_for_integer.finish());
  TomlReader missing = read("");
  missing.required_number("x");
  EXPECT_FALSE(missing.finish());
  TomlReader nan_in_list = read("x = [1.0, nan]\n");
  nan_in_list.numbers("x");
  EXPECT_FALSE(nan_in_list.finish());
}

TEST(TomlReader, BrokenTomlNamesLineAndColumn) {
  const auto broken = TomlReader::parse("a = \n", "x.toml");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().where.rfind("x.toml:1:", 0), 0u);
}

TEST(TomlReader, TablesOfAnArrayAreReadInOrder) {
  TomlReader root = read("[[target]]\nx = 1\n[[target]]\nx = 2\n");
  auto targets = root.tables("target");
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[1].integer("x", 0), 2);
  targets[0].integer("x", 0);
  EXPECT_TRUE(root.finish());
}

TEST(TomlReader, ReportsTheFirstOfSeveralUnknownKeys) {
  auto reader = TomlReader::parse("[b]\nwrong = 1\n[a]\nwrong = 2\n", "c.toml");
  ASSERT_TRUE(reader);
  reader->table("a").number("right", 0.0);
  reader->table("b").number("right", 0.0);
  EXPECT_EQ(reader->finish().error().where, "c.toml:2:b.wrong");
}

}  // namespace
}  // namespace cornerturn
