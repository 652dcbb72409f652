#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "dsp/config/chain_config.h"
#include "dsp/vocabulary/error.h"
#include "src/config/toml_reader.h"

namespace cornerturn {

/// A chain and where each of its keys was set, so that a fault found later (make_chain_plan) can be pointed at.
struct ChainSettings {
  ChainConfig config;
  /// Key to "file:line:key" or "--set cfar.pfa=2"; keys left at their defaults are absent.
  std::map<std::string, std::string, std::less<>> origins;

  /// The error with its chain key (Error::where) replaced by the place where that key was set. A key that was set
  /// nowhere keeps its name.
  Error locate(Error error) const;
};

/// Reads a chain file over `settings`: keys that the file leaves out stay as they are.
/// Errors: input when the file cannot be read; usage ("file:line:key: ...") for TOML faults, unknown keys and values.
Expected<void> load_chain(const std::string& path, ChainSettings& settings);
/// The same for text; `source_name` stands for the file in messages.
Expected<void> parse_chain(std::string_view text, const std::string& source_name, ChainSettings& settings);
/// The same for a table inside another document ([chain] of a sidecar); the caller calls finish() of the document.
void read_chain_table(TomlReader& table, ChainSettings& settings);

/// Sets one key by "cfar.pfa=1e-4"; words need no quotes. Errors: usage, naming the override.
Expected<void> apply_chain_override(std::string_view assignment, ChainSettings& settings);

/// The whole chain as a TOML file with a comment per key; reads back as the same chain.
std::string print_chain(const ChainConfig& config);

}  // namespace cornerturn
