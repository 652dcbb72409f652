#pragma once

#include <string>
#include <string_view>

namespace cornerturn {

/// Text of a stranger's file as it may be shown: control characters (line breaks, terminal escapes) and bytes that are
/// not UTF-8 become '?', and what is longer than 400 bytes is cut with "...".
std::string printable_text(std::string_view text);

}  // namespace cornerturn
