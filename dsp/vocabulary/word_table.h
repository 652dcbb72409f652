#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "dsp/vocabulary/error.h"

namespace cornerturn {

/// A value of an enum and the word for it in configuration files, on the command line and in result files.
template <typename T> struct Word {
  T value;
  std::string_view word;
};

template <typename T, std::size_t N> std::string_view word_of(const std::array<Word<T>, N>& table, T value) {
  for (const Word<T>& entry : table)
    if (entry.value == value) return entry.word;
  return "?";
}

/// Errors: usage, listing the words.
template <typename T, std::size_t N>
Expected<T> parse_word(const std::array<Word<T>, N>& table, std::string_view text, std::string_view kind) {
  for (const Word<T>& entry : table)
    if (entry.word == text) return entry.value;
  std::string words;
  for (const Word<T>& entry : table) {
    if (!words.empty()) words += ", ";
    words += entry.word;
  }
  return usage_error("", "'" + std::string(text) + "' is not a " + std::string(kind), "use one of: " + words);
}

}  // namespace cornerturn
