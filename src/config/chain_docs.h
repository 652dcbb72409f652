#pragma once

#include <string>

namespace cornerturn {

/// docs/chain.md, made from the table of chain keys: `cornerturn process --print-chain-docs > docs/chain.md`.
std::string chain_documentation();

}  // namespace cornerturn
