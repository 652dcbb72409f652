#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// Allowed interval of a number; `exclusive_min` excludes the minimum itself.
struct NumberRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool exclusive_min = false;
};
inline constexpr NumberRange kPositive{0.0, std::numeric_limits<double>::infinity(), true};
inline constexpr NumberRange kNotNegative{0.0};

/// Reads one TOML table. The getters return the value or the fallback and remember the first error; finish() reports it
/// as "file:line:key: what; remedy", and an unknown key as an error too. So a caller reads all keys, one line each, and
/// checks once at the end.
/// Threads: one caller per document.
class TomlReader {
 public:
  /// Errors: input when the file cannot be read, usage when it is not TOML (file:line:column).
  static Expected<TomlReader> open(const std::string& path);
  static Expected<TomlReader> parse(std::string_view text, const std::string& source_name);

  bool has(std::string_view key) const;
  /// The sub-table; empty when absent. Shares this document's error.
  TomlReader table(std::string_view key);
  /// Entries of an array of tables [[key]]; empty when absent.
  std::vector<TomlReader> tables(std::string_view key);

  double number(std::string_view key, double fallback, NumberRange range = {});
  double required_number(std::string_view key, NumberRange range = {});
  std::int64_t integer(std::string_view key, std::int64_t fallback, NumberRange range = {});
  std::int64_t required_integer(std::string_view key, NumberRange range = {});
  std::size_t size(std::string_view key, std::size_t fallback, NumberRange range = kNotNegative);
  bool flag(std::string_view key, bool fallback);
  std::string text(std::string_view key, std::string_view fallback);
  std::string required_text(std::string_view key);
  std::vector<double> numbers(std::string_view key);
  std::vector<std::string> texts(std::string_view key);
  /// A word out of a fixed set; `parse` returns Expected<T> whose error lists the words.
  template <typename T, typename Parse> T choice(std::string_view key, T fallback, Parse parse_word) {
    if (!has(key)) return fallback;
    const std::string word = text(key, "");
    auto value = parse_word(word);
    if (value) return *value;
    fail(key, value.error().what, value.error().remedy);
    return fallback;
  }

  /// Reports a fault of `key` found by the caller (a contradiction between keys, say).
  void fail(std::string_view key, std::string what, std::string remedy = {});
  /// "file:line:table.key" of a key of this table.
  std::string where(std::string_view key) const;
  /// The first error so far, unknown keys not looked for: for callers that need some values before they can read the
  /// rest.
  Expected<void> check() const;
  /// The first error of the whole document, or an unknown key ("did you mean ...").
  Expected<void> finish();

 private:
  struct Document;
  TomlReader(std::shared_ptr<Document> document, const void* table, std::string path);
  const void* find(std::string_view key);

  std::shared_ptr<Document> document_;
  const void* table_ = nullptr;  // toml::table const*, null when absent
  std::string path_;             // "cfar" or "radar.waveform"
};

}  // namespace cornerturn
