#include "src/batch/cpi_range.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace cornerturn {
namespace {

Expected<std::size_t> parse_index(std::string_view text, std::string_view whole) {
  std::size_t index = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (fault != std::errc() || end != text.data() + text.size())
    return usage_error(fmt::format("--cpi {}", whole), "is not a range of CPIs",
                       "write FIRST:END, as in 10:20 for the CPIs 10 to 19");
  return index;
}

}  // namespace

Expected<CpiRange> parse_cpi_range(std::string_view text) {
  CpiRange range;
  const auto colon = text.find(':');
  const std::string_view first = text.substr(0, colon);
  if (!first.empty() || colon == std::string_view::npos) {
    const Expected<std::size_t> index = parse_index(first, text);
    if (!index) return unexpected(index.error());
    range.first = *index;
  }
  if (colon == std::string_view::npos) {
    range.end = range.first + 1;
  } else if (colon + 1 < text.size()) {
    const Expected<std::size_t> index = parse_index(text.substr(colon + 1), text);
    if (!index) return unexpected(index.error());
    range.end = *index;
  }
  if (range.end <= range.first)
    return usage_error(fmt::format("--cpi {}", text), "holds no CPI", "END is not included and must be above FIRST");
  return range;
}

Expected<CpiRange> clip_cpi_range(const CpiRange& range, const CaptureInfo& info) {
  if (info.cpi_count == 0) return range;
  if (range.first >= info.cpi_count)
    return usage_error(fmt::format("--cpi {}", range.first), fmt::format("{} has no CPI {}", info.path, range.first),
                       fmt::format("it has the CPIs 0 to {}", info.cpi_count - 1));
  return CpiRange{range.first, std::min(range.end, info.cpi_count)};
}

}  // namespace cornerturn
