#include "src/config/chain_toml.h"

#include <utility>

#include <fmt/format.h>

#include "src/config/chain_key.h"

namespace cornerturn {
namespace {

// Reads one key; on a fault the reader remembers the error and the current value stays.
ChainValue read_value(TomlReader& table, const ChainKey& key, const ChainValue& current) {
  const std::string leaf(key.leaf());
  struct {
    TomlReader& table;
    const ChainKey& key;
    const std::string& leaf;
    ChainValue operator()(double fallback) const { return table.number(leaf, fallback, key.range); }
    ChainValue operator()(std::int64_t fallback) const { return table.integer(leaf, fallback, key.range); }
    ChainValue operator()(bool fallback) const { return table.flag(leaf, fallback); }
    ChainValue operator()(const std::string& fallback) const {
      const std::string word = table.text(leaf, fallback);
      for (const std::string& known : key.words)
        if (known == word) return word;
      table.fail(leaf, fmt::format("'{}' is not one of its words", word),
                 fmt::format("use one of {}", fmt::join(key.words, ", ")));
      return fallback;
    }
  } read{table, key, leaf};
  return std::visit(read, current);
}

}  // namespace

Error ChainSettings::locate(Error error) const {
  const auto origin = origins.find(error.where);
  if (origin != origins.end()) error.where = origin->second;
  return error;
}

void read_chain_table(TomlReader& root, ChainSettings& settings) {
  for (const ChainKey& key : chain_keys()) {
    TomlReader table = key.section().empty() ? root : root.table(key.section());
    // Absent keys are asked for too: the reader learns from it which keys exist.
    key.set(settings.config, read_value(table, key, key.get(settings.config)));
    if (table.has(key.leaf())) settings.origins[key.name] = table.where(key.leaf());
  }
}

Expected<void> load_chain(const std::string& path, ChainSettings& settings) {
  Expected<TomlReader> reader = TomlReader::open(path);
  if (!reader) return unexpected(reader.error());
  read_chain_table(*reader, settings);
  return reader->finish();
}

Expected<void> parse_chain(std::string_view text, const std::string& source_name, ChainSettings& settings) {
  Expected<TomlReader> reader = TomlReader::parse(text, source_name);
  if (!reader) return unexpected(reader.error());
  read_chain_table(*reader, settings);
  return reader->finish();
}

Expected<void> apply_chain_override(std::string_view assignment, ChainSettings& settings) {
  const std::string origin = fmt::format("--set {}", assignment);
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == assignment.size())
    return usage_error(origin, "is not of the form KEY=VALUE", "write for example --set cfar.pfa=1e-4");
  const Expected<const ChainKey*> key = find_chain_key(assignment.substr(0, equals));
  if (!key) return usage_error(origin, key.error().what, key.error().remedy);

  std::string value(assignment.substr(equals + 1));
  if (value.find_first_of("\r\n#") != std::string::npos)
    return usage_error(origin, "holds more than one value", "give one --set for each key");
  if (!(*key)->words.empty() && value.front() != '"' && value.front() != '\'') value = '"' + value + '"';
  const Expected<void> parsed = parse_chain(fmt::format("{} = {}", (*key)->name, value), "--set", settings);
  if (!parsed) return usage_error(origin, parsed.error().what, parsed.error().remedy);
  settings.origins[(*key)->name] = origin;
  return {};
}

std::string print_chain(const ChainConfig& config) {
  std::string text = "# Cornerturn chain; docs/chain.md explains each key.\n";
  std::string_view section;
  for (const ChainKey& key : chain_keys()) {
    if (key.section() != section) {
      section = key.section();
      text += fmt::format("\n[{}]\n", section);
    } else if (&key == chain_keys().data()) {
      text += '\n';
    }
    const std::string assignment = fmt::format("{} = {}", key.leaf(), to_toml(key.get(config)));
    const std::string allowed =
        std::holds_alternative<bool>(key.get(config)) ? "" : fmt::format(" [{}]", describe_allowed(key));
    text += fmt::format("{:<32} # {}{}\n", assignment, key.doc, allowed);
  }
  return text;
}

}  // namespace cornerturn
