#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dsp/config/chain_config.h"
#include "src/config/toml_reader.h"

namespace cornerturn {

/// A value of a chain file: number, whole number, flag or word.
using ChainValue = std::variant<double, std::int64_t, bool, std::string>;

/// One key of a chain file. Reading, checking, printing, overriding and documenting a chain are all made from the table
/// of these, so that a new parameter is one row.
struct ChainKey {
  std::string name;                ///< "cfar.pfa": the path in the TOML file, in --set and in error messages
  std::string unit;                ///< "m", "deg", "cells"; empty: none
  NumberRange range;               ///< of numbers and whole numbers
  std::vector<std::string> words;  ///< of words
  std::string doc;                 ///< one line, a sentence without its full stop
  bool light = false;              ///< may change from CPI to CPI without a new pipeline
  std::function<ChainValue(const ChainConfig&)> get;
  /// Requires a value of the type that get() returns, inside range or words.
  std::function<void(ChainConfig&, const ChainValue&)> set;

  /// "cfar" of "cfar.pfa"; empty for a key of the root table.
  std::string_view section() const;
  /// "pfa" of "cfar.pfa".
  std::string_view leaf() const;
};

/// All keys, in the order of the chain; keys of one section stand together, keys of the root table first.
std::span<const ChainKey> chain_keys();

/// The key of that name. Errors: usage, naming the nearest key.
Expected<const ChainKey*> find_chain_key(std::string_view name);

/// The value as TOML text: 1e-06, 8, true, "hann".
std::string to_toml(const ChainValue& value);

/// What a key takes, for people: "0 < number < 1", "whole number >= 0", "true or false", "none, mean".
std::string describe_allowed(const ChainKey& key);

}  // namespace cornerturn
