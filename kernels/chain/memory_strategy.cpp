#include "kernels/chain/memory_strategy.h"

namespace cornerturn::cuda {

const StrategyTraits& traits_of(MemoryStrategy strategy) {
  for (const StrategyTraits& traits : kStrategies)
    if (traits.strategy == strategy) return traits;
  return kStrategies.back();
}

Expected<MemoryStrategy> parse_memory_strategy(std::string_view text) {
  for (const StrategyTraits& traits : kStrategies)
    if (traits.name == text) return traits.strategy;
  std::string words = "auto";
  for (const StrategyTraits& traits : kStrategies) words += ", " + std::string(traits.name);
  return usage_error("", "'" + std::string(text) + "' is not a memory strategy", "use one of: " + words);
}

}  // namespace cornerturn::cuda
