#include "src/stream/memory_cache.h"

#include <cstdlib>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace cornerturn {
namespace {

nlohmann::json read_object(const std::filesystem::path& file) {
  std::ifstream stream(file);
  nlohmann::json json = nlohmann::json::parse(stream, nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

}  // namespace

std::filesystem::path MemoryCache::default_file() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  std::filesystem::path folder = variable("XDG_CACHE_HOME");
  if (!folder.is_absolute()) {  // as the XDG specification says, relative ones do not count
    const std::filesystem::path home = variable("HOME");
    if (!home.is_absolute()) return {};
    folder = home / ".cache";
  }
  return folder / "cornerturn" / "memory-strategy.json";
}

std::string MemoryCache::key_of(const std::string& device, const ChainPlan& plan) {
  return fmt::format("{}, {}, {} bytes in, {} gates x {} bins{}", CORNERTURN_VERSION, device,
                     required_bytes(plan.layout, plan.shape).value_or(0), plan.gate_count, plan.doppler_fft_length,
                     plan.config.covariance.enabled ? ", matrices back" : "");
}

std::optional<MemoryChoice> MemoryCache::find(const std::string& key) const {
  if (file_.empty()) return std::nullopt;
  const nlohmann::json json = read_object(file_);
  const auto entry = json.find(key);
  if (entry == json.end() || !entry->is_object()) return std::nullopt;
  const auto memory = entry->find("memory");
  const auto reason = entry->find("reason");
  if (memory == entry->end() || reason == entry->end() || !memory->is_string() || !reason->is_string())
    return std::nullopt;
  return MemoryChoice{memory->get<std::string>(), reason->get<std::string>()};
}

void MemoryCache::remember(const std::string& key, const MemoryChoice& choice) const {
  if (file_.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(file_.parent_path(), failed);
  if (failed) return;
  nlohmann::json json = read_object(file_);
  json[key] = {{"memory", choice.memory}, {"reason", choice.reason}};
  // Whoever reads meanwhile sees the old file or the new one, never half of one.
  std::filesystem::path whole = file_;
  whole += fmt::format(".{}", ::getpid());
  std::ofstream stream(whole);
  stream << json.dump(2) << '\n';
  stream.close();
  if (stream) std::filesystem::rename(whole, file_, failed);
  if (!stream || failed) std::filesystem::remove(whole, failed);
}

}  // namespace cornerturn
