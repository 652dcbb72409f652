#include "src/batch/process_job.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "src/batch/capture_hash.h"
#include "src/batch/chain_summary.h"
#include "src/batch/output_files.h"
#include "src/capture/simulator_source.h"
#include "src/stream/backend_choice.h"

namespace cornerturn {
namespace {

struct ProductWord {
  std::string_view word;
  bool ProductSet::*wanted;
};
constexpr std::array kProducts{ProductWord{"covariance", &ProductSet::covariance},
                               ProductWord{"range_profiles", &ProductSet::range_profiles},
                               ProductWord{"doppler_cube", &ProductSet::doppler_cube}};

Expected<ProductSet> wanted_products(const std::vector<std::string>& words) {
  ProductSet products;
  for (const std::string& word : words) {
    const auto* known = std::find_if(kProducts.begin(), kProducts.end(),
                                     [&word](const ProductWord& product) { return product.word == word; });
    if (known == kProducts.end())
      return usage_error(fmt::format("--product {}", word), "there is no such product",
                         fmt::format("use one of {}", fmt::join(product_names(), ", ")));
    products.*known->wanted = true;
  }
  return products;
}

Expected<ChainSettings> read_settings(const CaptureInfo& info, const JobOptions& options) {
  ChainSettings settings;
  settings.config = default_chain(info);
  if (!options.chain_path.empty())
    if (const Expected<void> loaded = load_chain(options.chain_path, settings); !loaded)
      return unexpected(loaded.error());
  for (const std::string& assignment : options.overrides)
    if (const Expected<void> set = apply_chain_override(assignment, settings); !set) return unexpected(set.error());
  return settings;
}

// Faults of the radar's description or of the layout are the capture's, not the chain's.
Error locate_plan_error(Error error, const ChainSettings& chain, const std::string& path) {
  if (error.where.rfind("radar.", 0) != 0 && error.where != "layout") return chain.locate(std::move(error));
  error.kind = ErrorKind::input;
  error.where = fmt::format("{}: {}", path, error.where);
  return error;
}

StreamConfiguration make_configuration(const Job& job, const JobOptions& options, std::string& backend_note) {
  return {.chain = job.plan.config,
          .chain_toml = print_chain(job.plan.config),
          .products = job.products,
          .make_backend = chain_backend_factory(options.backend, options.backend_options,
                                                [&backend_note](const std::string& note) { backend_note = note; }),
          .chain_summary = summarise_chain(job.plan)};
}

}  // namespace

std::vector<std::string> product_names() {
  std::vector<std::string> names;
  names.reserve(kProducts.size());
  for (const ProductWord& product : kProducts) names.emplace_back(product.word);
  return names;
}

ChainConfig default_chain(const CaptureInfo& info) {
  ChainConfig chain = info.suggested_chain;
  if (info.shape.channel_count > 1) chain.covariance.enabled = true;
  return chain;
}

Expected<std::unique_ptr<CaptureSource>> open_source(const std::string& path, const CaptureOptions& options) {
  return is_simulator_uri(path) ? open_simulator(path) : open_capture(path, options);
}

Expected<Job> open_job(const std::string& path, const JobOptions& options) {
  Expected<ProductSet> products = wanted_products(options.products);
  if (!products) return unexpected(products.error());
  Expected<std::unique_ptr<CaptureSource>> source = open_source(path, options.capture);
  if (!source) return unexpected(source.error());
  CaptureInfo info = (*source)->info();
  Expected<CpiRange> cpis = clip_cpi_range(options.cpis, info);
  if (!cpis) return unexpected(cpis.error());
  Expected<ChainSettings> chain = read_settings(info, options);
  if (!chain) return unexpected(chain.error());
  if (products->covariance) chain->config.covariance.enabled = true;
  products->covariance = chain->config.covariance.enabled;
  products->detections = chain->config.cfar.enabled;
  Expected<ChainPlan> plan = make_chain_plan(info.radar, info.layout, info.shape, chain->config);
  if (!plan) return unexpected(locate_plan_error(plan.error(), *chain, path));
  if (options.score && !info.truth)
    return usage_error(path, "has no truth to score against", "only captures made by 'cornerturn simulate' have one");
  return Job{std::move(*source), std::move(info), std::move(*chain), *products, std::move(*plan), *cpis};
}

Expected<JobReport> run_job(Job job, const JobOptions& options, std::vector<SinkSetup> sinks,
                            const std::atomic<bool>& stop,
                            const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
  JobReport report;
  report.info = job.info;
  report.notes = job.plan.notes;
  report.chain_summary = summarise_chain(job.plan);
  if (options.hash && !job.info.live) {
    Expected<std::string> hash = hash_capture(job.info.path, stop);
    if (!hash) return unexpected(hash.error());
    report.capture_hash = std::move(*hash);
  }

  // The session owns the sinks; they are read when it has ended and before it dies.
  auto digest_sink = std::make_unique<DetectionDigestSink>();
  const DetectionDigestSink& digest = *digest_sink;
  sinks.push_back({std::move(digest_sink), SinkPolicy::lossless, kWriterQueue});
  const ScoreSink* score = nullptr;
  if (options.score) {
    auto score_sink = std::make_unique<ScoreSink>(*job.info.truth);
    score = score_sink.get();
    sinks.push_back({std::move(score_sink), SinkPolicy::lossless, kWriterQueue});
  }

  Session* running = nullptr;
  SessionOptions session_options;
  session_options.first_cpi = job.cpis.first;
  session_options.cpi_count = job.cpis.end == SIZE_MAX ? 0 : job.cpis.end - job.cpis.first;
  session_options.program_version = options.program_version;
  session_options.capture_hash = report.capture_hash;
  session_options.progress = [&](std::uint64_t done, std::uint64_t total) {
    if (stop) running->stop();
    if (progress) progress(done, total);
  };
  StreamConfiguration configuration = make_configuration(job, options, report.backend_note);
  Session session(std::move(job.source), std::move(configuration), std::move(sinks), std::move(session_options));
  running = &session;
  report.session = session.run();
  report.digest = digest.digest();
  if (score != nullptr) report.score = score->report();
  return report;
}

}  // namespace cornerturn
