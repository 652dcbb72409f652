#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/batch/job_estimate.h"
#include "src/batch/output_files.h"
#include "src/batch/process_job.h"
#include "src/cli/capture_options.h"
#include "src/cli/commands.h"
#include "src/cli/interrupt.h"
#include "src/cli/json_text.h"
#include "src/cli/process_report.h"
#include "src/cli/progress.h"
#include "src/cli/quantity.h"
#include "src/cli/version.h"
#include "src/config/chain_docs.h"
#include "src/config/chain_toml.h"
#include "src/result/result_sinks.h"
#include "src/stream/backend_choice.h"

namespace cornerturn {
namespace {

// Results, detections and a picture; a build without cairo has no pictures.
std::vector<std::string> default_outputs() {
  std::vector<std::string> kinds;
  for (const std::string& kind : output_words())
    if (kind == "h5" || kind == "csv" || kind == "png") kinds.push_back(kind);
  return kinds;
}

struct ProcessArguments {
  std::vector<std::string> captures;
  JobOptions job;
  std::string cpis;
  std::string output = ".";
  std::vector<std::string> kinds = default_outputs();
  std::string devices;
  bool force = false;
  bool no_hash = false;
  bool dry_run = false;
  bool print_chain = false;
  bool print_chain_docs = false;
};

ExitCode print_chains(const ProcessArguments& arguments, const Console& console) {
  for (const std::string& path : arguments.captures) {
    const Expected<Job> job = open_job(path, arguments.job);
    if (!job) return console.fail(job.error());
    console.output(print_chain(job->plan.config));
  }
  return ExitCode::done;
}

ExitCode estimate_one(Job job, const ProcessArguments& arguments, const Console& console, nlohmann::json& reports) {
  // The estimate takes the source; the rest is for the text.
  const Job described{nullptr, job.info, job.chain, job.products, job.plan, job.cpis};
  const Expected<JobEstimate> estimate = estimate_job(std::move(job), arguments.job);
  if (!estimate) return console.fail(estimate.error());
  console.report(format_estimate(described, *estimate));
  reports.push_back(estimate_json(described, *estimate));
  return ExitCode::done;
}

void tell_details(const JobReport& report, const Console& console) {
  const std::string& path = report.info.path;
  const StatisticsSnapshot& statistics = report.session.statistics;
  if (!report.capture_hash.empty()) console.detail(fmt::format("{}: fingerprint {}", path, report.capture_hash));
  console.detail(fmt::format("{}: latency {} median, {} in 99 of 100 CPIs; {} waits for a free result", path,
                             format_seconds(statistics.latency_p50_s), format_seconds(statistics.latency_p99_s),
                             statistics.result_waits));
  for (const StageTime& stage : report.session.stage_times)
    console.detail(fmt::format("{}: {} took {}", path, stage.stage, format_seconds(stage.seconds)));
  for (const SinkStatistics& sink : statistics.sinks)
    console.detail(fmt::format("{}: {} took {} results, the chain waited {} times for it", path, sink.name,
                               sink.accepted, sink.waits));
}

void warn_about(const JobReport& report, const Console& console) {
  for (const Error& error : report.session.sink_errors) console.warning(error.message());
  for (const Doubt& doubt : report.info.doubts)
    console.warning(fmt::format("{}: {} ({}); {}", report.info.path, doubt.what, doubt.evidence, doubt.remedy));
  if (report.session.first_cpi_error)
    console.error(fmt::format("{} of {} CPIs failed, the first: {}",
                              report.session.statistics.dropped[DropCause::failed], report.session.statistics.cpis_in,
                              report.session.first_cpi_error->message()));
}

ExitCode process_one(Job job, const OutputPlace& place, const ProcessArguments& arguments, const Console& console,
                     nlohmann::json& reports) {
  std::vector<std::string> inputs = arguments.captures;
  inputs.insert(inputs.end(), {arguments.job.chain_path, arguments.job.capture.layout_path});
  Expected<OutputSinks> outputs = open_outputs(place, arguments.kinds, arguments.force, inputs);
  if (!outputs) return console.fail(outputs.error());
  const std::string path = job.info.path;
  const InterruptGuard interrupt;
  Progress progress(console, path);
  Expected<JobReport> report =
      run_job(std::move(job), arguments.job, std::move(outputs->sinks), interrupt.requested(),
              [&progress](std::uint64_t done, std::uint64_t total) { progress.update(done, total); });
  progress.clear();
  if (!report) return console.fail(report.error());
  for (std::string& file : outputs->files)
    if (std::filesystem::exists(file)) report->files.push_back(std::move(file));
  if (report->session.statistics.processed != 0) console.report(format_report(*report));
  reports.push_back(report_json(*report));
  tell_details(*report, console);
  warn_about(*report, console);
  if (report->session.error) return console.fail(*report->session.error);
  if (report->session.interrupted) {
    console.error(fmt::format("{}: interrupted; the results are valid and hold the {} CPIs processed so far", path,
                              report->session.statistics.processed));
    return ExitCode::interrupted;
  }
  return report->session.first_cpi_error ? ExitCode::failed : ExitCode::done;
}

// One capture after the other; one that fails does not stop the others, an interruption does.
ExitCode process_all(const ProcessArguments& arguments, const Console& console) {
  const Expected<std::vector<OutputPlace>> places = place_outputs(arguments.captures, arguments.output);
  if (!places) return console.fail(places.error());
  nlohmann::json reports = nlohmann::json::array();
  nlohmann::json failures = nlohmann::json::array();
  std::vector<std::string> failed;
  ExitCode code = ExitCode::done;
  for (std::size_t i = 0; i < arguments.captures.size() && code != ExitCode::interrupted; ++i) {
    Expected<Job> job = open_job(arguments.captures[i], arguments.job);
    code = !job                ? console.fail(job.error())
           : arguments.dry_run ? estimate_one(std::move(*job), arguments, console, reports)
                               : process_one(std::move(*job), (*places)[i], arguments, console, reports);
    if (code == ExitCode::done) continue;
    failed.push_back(arguments.captures[i]);
    failures.push_back({{"path", arguments.captures[i]}, {"exit_code", static_cast<int>(code)}});
  }
  if (console.json) {
    const nlohmann::json document = {
        {"version", program_version()}, {"captures", std::move(reports)}, {"failed", std::move(failures)}};
    console.output(json_text(document));
  }
  if (failed.empty() || arguments.captures.size() == 1 || code == ExitCode::interrupted) return code;
  console.error(
      fmt::format("{} of {} captures failed: {}", failed.size(), arguments.captures.size(), fmt::join(failed, ", ")));
  return ExitCode::failed;
}

ExitCode run_process(ProcessArguments& arguments, const Console& console) {
  if (arguments.print_chain_docs) {
    console.output(chain_documentation());
    return ExitCode::done;
  }
  if (arguments.captures.empty())
    return console.fail({ErrorKind::usage, "", "no capture given", "see cornerturn process --help"});
  if (!arguments.cpis.empty()) {
    const Expected<CpiRange> cpis = parse_cpi_range(arguments.cpis);
    if (!cpis) return console.fail(cpis.error());
    arguments.job.cpis = *cpis;
  }
  if (const Expected<std::string> memory = parse_memory(arguments.job.backend_options.memory); !memory)
    return console.fail(memory.error());
  if (!arguments.devices.empty()) {
    Expected<std::vector<unsigned>> devices = parse_devices(arguments.devices);
    if (!devices) return console.fail(devices.error());
    arguments.job.backend_options.devices = std::move(*devices);
  }
  if (arguments.kinds == std::vector<std::string>{"none"}) arguments.kinds.clear();
  arguments.job.hash = !arguments.no_hash;
  arguments.job.program_version = program_version();
  return arguments.print_chain ? print_chains(arguments, console) : process_all(arguments, console);
}

constexpr const char* kExamples =
    R"(Results go to DIR/CAPTURE.result.h5 (HDF5, netCDF-4), .csv (detections) and .png (map).

Examples:
  cornerturn process walk.h5                          results here, with the default chain for the capture
  cornerturn process walk.h5 -o out --set cfar.pfa=1e-4 --set canceller=mean
  cornerturn process walk.h5 --print-chain > chain.toml
  cornerturn process walk.h5 -c chain.toml -o walk-results.h5 --outputs h5,csv,svg
  cornerturn process night/*.h5 -o out --json         all of them; one that fails does not stop the others
  cornerturn process capture.h5 --cpi 10:20 --product covariance,range_profiles
  cornerturn process simulated.h5 --score             detections beside the truth
  cornerturn process capture.h5 --memory overlapped --devices 0,1
  cornerturn process huge.h5 --dry-run                memory and time, nothing written)";

}  // namespace

void add_process_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("process", "Process captures: range-Doppler maps, detections, correlation matrices, angles");
  const auto arguments = std::make_shared<ProcessArguments>();
  JobOptions& job = arguments->job;
  command->add_option("CAPTURE", arguments->captures, "Captures, or sim://SCENE.toml for the live simulator");
  command
      ->add_option("-c,--chain", job.chain_path, "Chain file (TOML); default: a sensible one for the kind of capture")
      ->type_name("FILE.toml");
  command->add_option("--set", job.overrides, "Set one key of the chain, as in cfar.pfa=1e-4; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("-o,--output", arguments->output, "Directory for the results, or a result file (.h5)")
      ->type_name("DIR|FILE.h5")
      ->capture_default_str();
  command
      ->add_option("--outputs", arguments->kinds,
                   fmt::format("What to write: {}; none writes nothing", fmt::join(output_words(), ", ")))
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--force", arguments->force, "Write over results that are there already");
  command->add_option("--cpi", arguments->cpis, "CPIs to process: 10:20 (10 to 19), 10:, :20 or 7")
      ->type_name("FIRST:END");
  command->add_option("--product", job.products, fmt::format("More products: {}", fmt::join(product_names(), ", ")))
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--backend", job.backend, fmt::format("{}", fmt::join(backend_names(), ", ")))
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--memory", job.backend_options.memory,
                   fmt::format("How samples reach a GPU: {}", fmt::join(memory_names(), ", ")))
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--devices", arguments->devices,
                   "GPUs that share the CPIs: numbers as cornerturn devices lists them, or all; default: the first")
      ->type_name("LIST");
  command->add_option("--threads", job.backend_options.threads, "Threads of the CPU backend; 0: one per core")
      ->type_name("N")
      ->check(CLI::Range(0, 4096).description(""));
  command->add_flag("--score", job.score, "Compare detections with the truth of a simulated capture");
  command->add_flag("--no-hash", arguments->no_hash, "Leave the capture's fingerprint out of the results");
  command->add_flag("--dry-run", arguments->dry_run, "Say what would be done, memory and time; write nothing");
  command->add_flag("--print-chain", arguments->print_chain, "Print the chain as a chain file and stop");
  command->add_flag("--print-chain-docs", arguments->print_chain_docs)->group("");
  add_capture_options(*command, job.capture);
  add_console_options(*command, invocation.console, true);
  command->footer(kExamples);
  command->callback([arguments, &invocation] {
    invocation.run = [arguments, &invocation] { return run_process(*arguments, invocation.console); };
  });
}

}  // namespace cornerturn
