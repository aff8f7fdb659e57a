#include "bench/output/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "reports/formats/formats.hpp"
#include "reports/formats/text_table.hpp"

namespace hbench {

std::size_t terminal_width() {
  constexpr std::size_t kLeast = 40;
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return kUsualWidth;
  return std::max<std::size_t>(size.ws_col, kLeast);
}

std::string terminal_text(const Document& document, bool wide) {
  return text_of(document, wide ? kAnyWidth : terminal_width());
}

}  // namespace hbench
