#include "src/cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cornerturn {
namespace {

constexpr std::chrono::milliseconds kBarInterval{100};
constexpr std::chrono::seconds kLineInterval{10};

std::size_t terminal_columns() {
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string in_time(double seconds) {
  const long long whole = std::llround(seconds);
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                       : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

double remaining_s(std::uint64_t done, std::uint64_t total, double elapsed_s) {
  return done == 0 ? 0.0 : elapsed_s * static_cast<double>(total - std::min(done, total)) / static_cast<double>(done);
}

// The name without its folders, short enough to leave room for the bar.
std::string short_label(const std::string& path) {
  constexpr std::size_t kMost = 24;
  const auto slash = path.find_last_of('/');
  const std::string name = slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
  return name.size() <= kMost ? name : name.substr(0, kMost - 3) + "...";
}

}  // namespace

Progress::Progress(const Console& console, const std::string& path)
    : label_(short_label(path)), enabled_(!console.quiet), interactive_(Console::is_interactive()) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void Progress::update(std::uint64_t done, std::uint64_t total) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (now - shown_ < (interactive_ ? Clock::duration(kBarInterval) : Clock::duration(kLineInterval))) return;
  shown_ = now;
  const double elapsed_s = std::chrono::duration<double>(now - start_).count();
  interactive_ ? show_bar(done, total, elapsed_s) : show_line(done, total, elapsed_s);
}

void Progress::show_bar(std::uint64_t done, std::uint64_t total, double elapsed_s) {
  const double rate = static_cast<double>(done) / elapsed_s;
  std::string line;
  if (total == 0) {
    line = fmt::format("{}  {} CPIs  {:.3g} CPI/s", label_, done, rate);
  } else {
    const std::string figures = fmt::format(" {}/{} CPIs  {:.3g} CPI/s  {} left", done, total, rate,
                                            in_time(remaining_s(done, total, elapsed_s)));
    const std::size_t used = label_.size() + figures.size() + 5;
    const std::size_t columns = terminal_columns();
    const std::size_t width = columns > used + 10 ? std::min<std::size_t>(columns - used, 40) : 0;
    const std::size_t filled = width * std::min(done, total) / total;
    line = width == 0 ? label_ + figures
                      : fmt::format("{} [{}{}]{}", label_, std::string(filled, '#'), std::string(width - filled, '.'),
                                    figures);
    if (line.size() >= columns) line.resize(columns - 1);
  }
  fmt::print(stderr, "\r{}\033[K", line);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::show_line(std::uint64_t done, std::uint64_t total, double elapsed_s) {
  const double rate = static_cast<double>(done) / elapsed_s;
  if (total == 0)
    fmt::print(stderr, "{}: {} CPIs, {:.3g} CPI/s\n", label_, done, rate);
  else
    fmt::print(stderr, "{}: {} of {} CPIs ({} %), {:.3g} CPI/s, {} left\n", label_, done, total, 100 * done / total,
               rate, in_time(remaining_s(done, total, elapsed_s)));
}

}  // namespace cornerturn
