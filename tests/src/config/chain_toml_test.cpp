#include "src/config/chain_toml.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "src/config/chain_docs.h"
#include "src/config/chain_key.h"

namespace cornerturn {
namespace {

// A value of the key that differs from its default, so that a row that reads or writes the wrong member shows.
ChainValue another_value(const ChainKey& key) {
  const ChainValue value = key.get(ChainConfig());
  if (const auto* is_set = std::get_if<bool>(&value)) return !*is_set;
  if (const auto* word = std::get_if<std::string>(&value))
    return key.words.front() == *word ? key.words.back() : key.words.front();
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole + 3;
  const double number = std::get<double>(value);
  return number == 0.0 ? 0.125 : number * 0.75;
}

std::string message_of(const Expected<void>& result) { return result ? "no error" : result.error().message(); }

TEST(ChainKeys, EachRowChangesItsOwnMemberAndNoOther) {
  for (const ChainKey& key : chain_keys()) {
    ChainConfig chain;
    key.set(chain, another_value(key));
    EXPECT_EQ(key.get(chain), another_value(key)) << key.name;
    for (const ChainKey& other : chain_keys()) {
      if (other.name == key.name) continue;
      EXPECT_EQ(other.get(chain), other.get(ChainConfig())) << key.name << " changes " << other.name;
    }
  }
}

TEST(ChainKeys, DefaultsLieInsideTheirRanges) {
  ChainSettings settings;
  EXPECT_EQ(message_of(parse_chain(print_chain(ChainConfig()), "default", settings)), "no error");
}

TEST(ChainKeys, LightKeysAreThoseOfLightParameters) {
  for (const ChainKey& key : chain_keys()) {
    ChainConfig chain;
    key.set(chain, another_value(key));
    EXPECT_EQ(key.light, light_parameters(chain) != light_parameters(ChainConfig())) << key.name;
  }
}

TEST(ChainToml, PrintedChainReadsBackAsTheSameChain) {
  ChainConfig chain;
  for (const ChainKey& key : chain_keys()) key.set(chain, another_value(key));
  ChainSettings settings;
  ASSERT_EQ(message_of(parse_chain(print_chain(chain), "printed", settings)), "no error");
  for (const ChainKey& key : chain_keys()) EXPECT_EQ(key.get(settings.config), key.get(chain)) << key.name;
}

TEST(ChainToml, NumbersKeepAllTheirDigits) {
  ChainConfig chain;
  chain.cfar.pfa = 0.1 + 0.2 - 0.25;  // not the number that 0.05 stands for
  ChainSettings settings;
  ASSERT_TRUE(parse_chain(print_chain(chain), "printed", settings));
  EXPECT_EQ(settings.config.cfar.pfa, chain.cfar.pfa);
}

TEST(ChainToml, KeysLeftOutKeepTheirValue) {
  ChainSettings settings;
  settings.config.cfar.pfa = 1e-3;
  settings.config.doppler.fft_length = 64;
  ASSERT_TRUE(parse_chain("[cfar]\npfa = 1e-5\n", "c.toml", settings));
  EXPECT_EQ(settings.config.cfar.pfa, 1e-5);
  EXPECT_EQ(settings.config.doppler.fft_length, 64u);
}

TEST(ChainToml, WrongValuesNameFileLineKeyAndRemedy) {
  const auto message = [](std::string_view text) {
    ChainSettings settings;
    return message_of(parse_chain(text, "c.toml", settings));
  };
  EXPECT_EQ(message("[cfar]\npfa = 1.5\n"), "c.toml:2:cfar.pfa: 1.5 is out of range; give a number from 1e-12 to 0.5");
  EXPECT_EQ(message("\n\n[cfar]\n\ntrain_range = -1\n").rfind("c.toml:5:cfar.train_range: -1 is out of range", 0), 0u);
  EXPECT_EQ(message("canceller = \"avg\"\n"),
            "c.toml:1:canceller: 'avg' is not one of its words; use one of none, mean, two_pulse, three_pulse");
  EXPECT_EQ(message("[cfar]\nenabled = 1\n").rfind("c.toml:2:cfar.enabled: is an integer", 0), 0u);
  EXPECT_EQ(message("[cfar\n").rfind("c.toml:1:", 0), 0u);
}

TEST(ChainToml, UnknownKeysSuggestTheNearestOne) {
  const auto message = [](std::string_view text) {
    ChainSettings settings;
    return message_of(parse_chain(text, "c.toml", settings));
  };
  EXPECT_NE(message("[cfar]\npfs = 1e-4\n").find("did you mean 'pfa'?"), std::string::npos);
  EXPECT_NE(message("[cfra]\npfa = 1e-4\n").find("did you mean 'cfar'?"), std::string::npos);
}

TEST(ChainToml, FaultsFoundLaterPointAtTheLineThatSetTheKey) {
  ChainSettings settings;
  ASSERT_TRUE(parse_chain("[cfar]\ntrain_range = 100\n", "c.toml", settings));
  EXPECT_EQ(settings.locate({ErrorKind::usage, "cfar.train_range", "too wide", ""}).where, "c.toml:2:cfar.train_range");
  EXPECT_EQ(settings.locate({ErrorKind::usage, "cfar.guard_range", "too wide", ""}).where, "cfar.guard_range");
  ASSERT_TRUE(apply_chain_override("cfar.train_range=90", settings));
  EXPECT_EQ(settings.locate({ErrorKind::usage, "cfar.train_range", "too wide", ""}).where, "--set cfar.train_range=90");
}

TEST(ChainOverride, SetsOneKeyAndLeavesTheOthers) {
  ChainSettings settings;
  ASSERT_EQ(message_of(apply_chain_override("cfar.pfa=1e-4", settings)), "no error");
  ASSERT_EQ(message_of(apply_chain_override("canceller=mean", settings)), "no error");
  ASSERT_EQ(message_of(apply_chain_override("range.window=\"taylor\"", settings)), "no error");
  ASSERT_EQ(message_of(apply_chain_override("range.max_m=25", settings)), "no error");
  EXPECT_EQ(settings.config.cfar.pfa, 1e-4);
  EXPECT_EQ(settings.config.canceller, Canceller::mean);
  EXPECT_EQ(settings.config.range.window.kind, WindowKind::taylor);
  EXPECT_EQ(settings.config.range.max_m, 25.0);
  EXPECT_EQ(settings.config.cfar.train_range, ChainConfig().cfar.train_range);
}

TEST(ChainOverride, FaultsNameTheOverride) {
  ChainSettings settings;
  EXPECT_EQ(message_of(apply_chain_override("cfar.pfs=1", settings)),
            "--set cfar.pfs=1: the chain has no such key; did you mean 'cfar.pfa'?");
  EXPECT_EQ(message_of(apply_chain_override("cfar.pfa", settings)),
            "--set cfar.pfa: is not of the form KEY=VALUE; write for example --set cfar.pfa=1e-4");
  EXPECT_EQ(message_of(apply_chain_override("cfar.pfa=2", settings)),
            "--set cfar.pfa=2: 2 is out of range; give a number from 1e-12 to 0.5");
  EXPECT_EQ(message_of(apply_chain_override("cfar.pfa=often", settings)).rfind("--set cfar.pfa=often: ", 0), 0u);
  // A value is a value, never more TOML.
  EXPECT_FALSE(apply_chain_override("cfar.pfa=1e-4\ncanceller='mean'", settings));
  EXPECT_EQ(settings.config.cfar.pfa, ChainConfig().cfar.pfa);
}

TEST(ChainDocs, CommittedPageIsTheGeneratedOne) {
  std::ifstream file(CORNERTURN_SOURCE_DIR "/docs/chain.md");
  std::stringstream committed;
  committed << file.rdbuf();
  EXPECT_EQ(committed.str(), chain_documentation()) << "run: cornerturn process --print-chain-docs > docs/chain.md";
}

}  // namespace
}  // namespace cornerturn
