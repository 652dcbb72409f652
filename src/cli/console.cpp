#include "src/cli/console.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace cornerturn {
namespace {

void write(std::FILE* stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); }

// One call per line, so that lines of several threads do not mix.
void write_line(std::string_view kind, std::string_view message) {
  std::string line = "cornerturn: ";
  line += kind;
  // One message is one line, whatever a library put into it.
  for (const char letter : message) line += letter == '\n' || letter == '\r' ? ' ' : letter;
  line += '\n';
  std::fflush(stdout);
  write(stderr, line);
}

}  // namespace

ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return ExitCode::usage;
    case ErrorKind::input:
      return ExitCode::unreadable;
    case ErrorKind::interrupted:
      return ExitCode::interrupted;
    case ErrorKind::runtime:
      break;
  }
  return ExitCode::failed;
}

bool Console::is_interactive() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

void Console::report(std::string_view text) const {
  if (!quiet && !json) write(stdout, text);
}

void Console::output(std::string_view text) const { write(stdout, text); }

void Console::error(std::string_view message) const { write_line("error: ", message); }

void Console::warning(std::string_view message) const { write_line("warning: ", message); }

void Console::detail(std::string_view message) const {
  if (verbose) write_line("", message);
}

ExitCode Console::fail(const Error& failure) const {
  error(failure.message());
  return exit_code_of(failure.kind);
}

}  // namespace cornerturn
