#include "src/batch/host_memory.h"

#include <fstream>
#include <limits>
#include <string>

namespace cornerturn {

HostMemory host_memory() {
  HostMemory memory;
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    std::size_t kibibytes = 0;
    if (word == "MemTotal:" && file >> kibibytes) memory.total_bytes = kibibytes * 1024;
    if (word == "MemAvailable:" && file >> kibibytes) memory.available_bytes = kibibytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return memory;
}

}  // namespace cornerturn
