#pragma once

#include <string>

namespace cornerturn {

/// "0.1.0"
std::string program_version();

/// The version and what this build has and lacks, several lines: for --version and bug reports.
std::string version_text();

}  // namespace cornerturn
