#include <algorithm>
#include <cctype>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "src/batch/host_memory.h"
#include "src/cli/bench_report.h"
#include "src/cli/commands.h"
#include "src/cli/json_text.h"
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

/// One line that the system tells of a PCI device; empty where it does not (a virtual machine, say).
std::string pci_attribute(const std::string& bus_id, const char* name) {
  std::string id = bus_id;
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char letter) { return std::tolower(letter); });
  std::ifstream file("/sys/bus/pci/devices/" + id + "/" + name);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "32.0 GT/s PCIe x 16 lanes, NUMA node 0"
std::string link_text(const DeviceDescription& device) {
  const std::string speed = pci_attribute(device.bus_id, "current_link_speed");
  const std::string width = pci_attribute(device.bus_id, "current_link_width");
  const std::string node = pci_attribute(device.bus_id, "numa_node");
  std::string text = speed.empty() || width.empty() || width == "0" || speed.find("Unknown") != std::string::npos
                         ? "speed not told by this system"
                         : fmt::format("{} x {} lanes", speed, width);
  if (!node.empty() && node != "-1") text += ", NUMA node " + node;
  return fmt::format("{} ({})", text, device.bus_id);
}

/// Large buffers, and results going back at an eighth of their rate.
Expected<LinkRow> measure_link_of(const DeviceDescription& device) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const Expected<const BackendModule*> module = cuda_module();
  if (!module) return unexpected(module.error());
  const Expected<LinkRates> rates = (*module)->measure_link({device.index, kBytes, kBytes / 8});
  if (!rates) return unexpected(rates.error());
  return LinkRow{kBytes, kBytes / 8, *rates};
}

struct DeviceFacts {
  DeviceDescription device;
  std::string link;
  std::vector<LinkRow> measured;  // one row, or none
  std::string problem;
};

std::vector<DeviceFacts> facts_of(const std::vector<BackendAvailability>& backends, bool measure) {
  std::vector<DeviceFacts> facts;
  for (const BackendAvailability& backend : backends)
    for (const DeviceDescription& device : backend.descriptions) {
      DeviceFacts& entry = facts.emplace_back(DeviceFacts{device, link_text(device), {}, {}});
      if (!measure || !device.usable) continue;
      const Expected<LinkRow> row = measure_link_of(device);
      if (row) {
        entry.measured.push_back(*row);
      } else {
        entry.problem = row.error().message();
      }
    }
  return facts;
}

std::string format_facts(const DeviceFacts& facts) {
  TextTable table({{""}, {""}});
  for (const auto& [name, value] : facts.device.facts) table.add({name, value});
  table.add({"link", facts.link});
  if (!facts.problem.empty()) table.add({"measured link", facts.problem});
  std::string text = fmt::format("\nGPU {}  {}\n{}", facts.device.index, facts.device.name, table.text());
  if (!facts.measured.empty()) text += format_link(facts.measured, facts.measured);
  return text;
}

nlohmann::json facts_json(const DeviceFacts& facts) {
  nlohmann::json words = nlohmann::json::object();
  for (const auto& [name, value] : facts.device.facts) words[name] = value;
  nlohmann::json json = {{"index", facts.device.index},   {"name", facts.device.name}, {"bus_id", facts.device.bus_id},
                         {"usable", facts.device.usable}, {"facts", std::move(words)}, {"link", facts.link}};
  if (!facts.problem.empty()) json["problem"] = facts.problem;
  if (!facts.measured.empty()) {
    BenchReport report;
    report.link = facts.measured;
    json["measured_link"] = bench_json(report)["link"][0];
  }
  return json;
}

ExitCode run_devices(bool measure, const Console& console) {
  const std::string model = processor_model();
  const unsigned threads = std::thread::hardware_concurrency();
  const HostMemory memory = host_memory();
  const std::vector<BackendAvailability> backends = available_backends();
  const std::vector<DeviceFacts> facts = facts_of(backends, measure);
  if (console.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const BackendAvailability& backend : backends)
      rows.push_back({{"name", backend.name},
                      {"available", backend.available},
                      {"devices", backend.devices},
                      {"reason", backend.reason}});
    nlohmann::json gpus = nlohmann::json::array();
    for (const DeviceFacts& entry : facts) gpus.push_back(facts_json(entry));
    const nlohmann::json document = {{"gpus", std::move(gpus)},
                                     {"processor", model},
                                     {"threads", threads},
                                     {"memory_bytes", memory.total_bytes},
                                     {"available_bytes", memory.available_bytes},
                                     {"backends", std::move(rows)}};
    console.output(json_text(document));
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
  for (const DeviceFacts& entry : facts) console.output(format_facts(entry));
  return ExitCode::done;
}

}  // namespace

void add_devices_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("devices", "Show processor, memory and backends, and why a backend is missing");
  const auto measure = std::make_shared<bool>(false);
  command->add_flag("--measure", *measure, "Measure the link of each GPU, which takes a few seconds");
  add_console_options(*command, invocation.console, true);
  command->footer("Examples:\n  cornerturn devices\n  cornerturn devices --measure\n  cornerturn devices --json");
  command->callback([measure, &invocation] {
    invocation.run = [measure, &invocation] { return run_devices(*measure, invocation.console); };
  });
}

}  // namespace cornerturn
