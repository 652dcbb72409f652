#include <fstream>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "src/batch/host_memory.h"
#include "src/cli/commands.h"
#include "src/cli/quantity.h"
#include "src/cli/text_table.h"
#include "src/stream/backend_choice.h"

namespace cornerturn {
namespace {

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const auto colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

ExitCode run_devices(const Console& console) {
  const std::string model = processor_model();
  const unsigned threads = std::thread::hardware_concurrency();
  const HostMemory memory = host_memory();
  const std::vector<BackendAvailability> backends = available_backends();
  if (console.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const BackendAvailability& backend : backends)
      rows.push_back({{"name", backend.name},
                      {"available", backend.available},
                      {"devices", backend.devices},
                      {"reason", backend.reason}});
    const nlohmann::json document = {{"processor", model},
                                     {"threads", threads},
                                     {"memory_bytes", memory.total_bytes},
                                     {"available_bytes", memory.available_bytes},
                                     {"backends", std::move(rows)}};
    console.output(document.dump(2) + "\n");
    return ExitCode::done;
  }
  console.output(fmt::format("processor  {}, {} thread{}\n", model, threads, threads == 1 ? "" : "s"));
  console.output(fmt::format("memory     {}, {} available\n\n", format_bytes(static_cast<double>(memory.total_bytes)),
                             format_bytes(static_cast<double>(memory.available_bytes))));
  TextTable table({{"backend"}, {"state"}, {""}});
  for (const BackendAvailability& backend : backends) {
    if (!backend.available) table.add({backend.name, "not available", backend.reason});
    for (std::size_t i = 0; backend.available && i < backend.devices.size(); ++i)
      table.add({i == 0 ? backend.name : "", i == 0 ? "available" : "", backend.devices[i]});
  }
  console.output(table.text(0));
  return ExitCode::done;
}

}  // namespace

void add_devices_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("devices", "Show processor, memory and backends, and why a backend is missing");
  add_console_options(*command, invocation.console, true);
  command->footer("Examples:\n  cornerturn devices\n  cornerturn devices --json");
  command->callback([&invocation] { invocation.run = [&invocation] { return run_devices(invocation.console); }; });
}

}  // namespace cornerturn
