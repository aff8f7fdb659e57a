#include "tests/support/child_process.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

std::string outcome_of(const std::function<std::string()>& body) {
  try {
    return body();
  } catch (const Error& error) {
    return fmt::format("{}: {}", static_cast<int>(error.code()), error.what());
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(descriptor, buffer, sizeof buffer)) > 0;) text.append(buffer, got);
  return text;
}

}  // namespace

std::string in_child(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const std::string text = outcome_of(body);
    const bool written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? fmt::format("killed by signal {}", WTERMSIG(status)) : text;
}

void become_nobody() {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0))
    throw std::runtime_error("cannot become nobody");
}

}  // namespace hbench
