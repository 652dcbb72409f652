#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace cornerturn {

/// Levenshtein distance: insertions, deletions and substitutions that turn one word into the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The known word nearest to a mistyped one, or empty when none is near (more than a third of its letters differ).
std::string nearest_word(std::string_view word, const std::set<std::string, std::less<>>& known);

}  // namespace cornerturn
