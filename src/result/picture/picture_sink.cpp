#include "src/result/picture_sink.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "dsp/stage/detection.h"
#include "src/result/durable_file.h"
#include "src/result/picture/result_picture.h"

namespace cornerturn {
namespace {

class PictureSink final : public ResultSink {
 public:
  PictureSink(std::vector<std::string> paths, PictureChoice choice) : paths_(std::move(paths)), choice_(choice) {}

  std::string name() const override { return "pictures"; }

  Expected<void> begin(const RunDescription& run) override {
    run_ = run;
    for (const std::string& path : paths_) {
      const std::filesystem::path folder = std::filesystem::path(path).parent_path();
      std::error_code ignored;  // check_space() says why the folder cannot be used
      std::filesystem::create_directories(folder, ignored);
      if (Expected<void> writable = check_space(folder.empty() ? "." : folder.string(), 0); !writable) return writable;
    }
    return {};
  }

  Expected<void> accept(const CpiResult& result) override {
    const double strength = detected_power(result);
    const bool better =
        !content_ || choice_ == PictureChoice::last || (choice_ == PictureChoice::strongest && strength > strength_);
    if (!better) return {};
    PictureContent content = make_picture_content(result, run_);
    if (content.axes.empty()) return {};  // a run without maps has no picture
    content_ = std::move(content);
    strength_ = strength;
    return {};
  }

  Expected<void> finish(bool /*complete*/) override {
    if (!content_) return {};
    for (const std::string& path : paths_)
      if (Expected<void> drawn = draw_result_picture(*content_, path); !drawn) return drawn;
    return {};
  }

 private:
  std::vector<std::string> paths_;
  PictureChoice choice_;
  RunDescription run_;
  std::optional<PictureContent> content_;
  double strength_ = 0.0;
};

}  // namespace

std::vector<std::string> picture_kinds() { return {"png", "svg", "pdf"}; }

Expected<std::unique_ptr<ResultSink>> make_picture_sink(const ResultWriterOptions& options) {
  const std::vector<std::string> kinds = picture_kinds();
  for (const std::string& path : options.picture_paths) {
    const std::string ending = std::filesystem::path(path).extension().string();
    if (ending.empty() || std::find(kinds.begin(), kinds.end(), ending.substr(1)) == kinds.end())
      return usage_error(path, "is no kind of picture", "use .png, .svg or .pdf");
  }
  return std::make_unique<PictureSink>(options.picture_paths, options.picture);
}

}  // namespace cornerturn
