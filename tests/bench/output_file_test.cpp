// What --out, --junit and the like do to what they are given.

#include "bench/output/document_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <thread>

#include "bench/command/common_options.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::output_file_test {
namespace {

namespace fs = std::filesystem;
using testing::_;

class OutputFile : public testing::Test {
 protected:
  void put(const fs::path& file, const std::string& text = "new") const {
    check_writable(file, "--out");
    write_whole(file, text, "--out");
  }
  void refused(const fs::path& file, const std::string& why) const {
    expect_error([&] { put(file); }, ExitCode::environment, HasSubstr(why), HasSubstr("--out"));
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), {}));
  }

  const TemporaryFolder folder_;
};

fs::perms mode_of(const fs::path& file) { return fs::status(file).permissions(); }

TEST_F(OutputFile, ReplacesWhatALinkNamesAndKeepsTheLink) {
  write_bytes(folder_ / "real", "precious");
  fs::create_symlink("real", folder_ / "link");
  fs::create_symlink(folder_ / "link", folder_ / "second");
  fs::create_symlink("not-yet", folder_ / "dangling");
  put(folder_ / "second");
  put(folder_ / "dangling");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link") && fs::is_symlink(folder_ / "second"));
  EXPECT_EQ(bytes_of(folder_ / "real"), "new");
  EXPECT_EQ(bytes_of(folder_ / "not-yet"), "new");
  EXPECT_EQ(files(), 5u) << "nothing else stays";
  fs::create_symlink("circle", folder_ / "circle");
  refused(folder_ / "circle", "Too many levels of symbolic links");
}

TEST_F(OutputFile, KeepsTheModeOfAFile) {
  const mode_t mask = umask(022);
  put(folder_ / "public");
  umask(mask);
  EXPECT_EQ(mode_of(folder_ / "public"), fs::perms(0644));
  for (const auto mode : {fs::perms(0600), fs::perms(0640), fs::perms(0755)}) {
    fs::permissions(folder_ / "public", mode);
    put(folder_ / "public");
    EXPECT_EQ(mode_of(folder_ / "public"), mode);
  }
}

TEST_F(OutputFile, IsWrittenThroughToAPipe) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string text(1 << 20, 'x');
  std::string read;
  std::thread reader([&] { read = bytes_of(pipe); });
  put(pipe, text);
  reader.join();
  EXPECT_EQ(read, text);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(OutputFile, DoesNotWaitForEverForAReader) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  refused(folder_ / "pipe", "no program reads this pipe");
}

TEST_F(OutputFile, EndsWithAnErrorWhereTheReaderHasGone) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  refused(fmt::format("/dev/fd/{}", ends[1]), "Broken pipe");
  close(ends[1]);
}

TEST_F(OutputFile, IsWrittenToADescriptorAsItIs) {
  const int file = open((folder_ / "out").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(write(file, "before ", 7), 7);
  fs::create_symlink(fmt::format("/proc/self/fd/{}", file), folder_ / "link");
  put(fmt::format("/dev/fd/{}", file), "one ");
  put(folder_ / "link", "two");
  ASSERT_EQ(write(file, " after", 6), 6);
  close(file);
  EXPECT_EQ(bytes_of(folder_ / "out"), "before one two after");
}

TEST_F(OutputFile, IsSentToASocket) {
  const fs::path path = folder_ / "socket";
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.native().copy(address.sun_path, path.native().size());
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(server, 1), 0);
  put(path, "hello");
  const int client = accept(server, nullptr, nullptr);
  char text[6] = {};
  EXPECT_EQ(read(client, text, 5), 5);
  EXPECT_STREQ(text, "hello");
  EXPECT_TRUE(fs::is_socket(path));
  close(client);
  close(server);
}

TEST_F(OutputFile, HasNoTemporaryNameThatSomebodyMayGuess) {
  write_bytes(folder_ / "victim", "precious");
  fs::create_symlink("victim", folder_ / "x.partial");
  ASSERT_EQ(mkfifo((folder_ / "y.partial").c_str(), 0600), 0);
  put(folder_ / "x");
  put(folder_ / "y");
  EXPECT_EQ(bytes_of(folder_ / "victim"), "precious");
  EXPECT_EQ(bytes_of(folder_ / "x"), "new");
}

TEST_F(OutputFile, IsRefusedWhereNothingCanBeWritten) {
  refused(folder_.path(), "Is a directory");
  refused(folder_ / "none" / "file", "No such file or directory");
  refused("/dev/fd/999", "Bad file descriptor");
  if (geteuid() == 0) return;  // who may write everything
  write_bytes(folder_ / "fixed", "precious");
  fs::permissions(folder_ / "fixed", fs::perms(0444));
  refused(folder_ / "fixed", "Permission denied");
}

TEST_F(OutputFile, IsNeverADatabase) {
  const std::string database = "SQLite format 3" + std::string(1, '\0') + "rows";
  write_bytes(folder_ / "x.db", database);
  expect_error([&] { put(folder_ / "x.db"); }, ExitCode::usage, HasSubstr("would replace a database of results"),
               HasSubstr("--out"));
  EXPECT_EQ(bytes_of(folder_ / "x.db"), database);
}

TEST_F(OutputFile, IsNoFileThatTheSameCommandNames) {
  write_bytes(folder_ / "in.csv", "precious");
  fs::create_symlink("in.csv", folder_ / "link");
  fs::create_hard_link(folder_ / "in.csv", folder_ / "hard");
  const auto parse = [&](const std::vector<std::string>& words) {
    fs::path out, junit, database;
    std::string name;
    std::vector<std::string> lists;
    Arguments app("", "hbench list");
    app.add_option("NAME", name, "");
    app.add_list("--workload", lists, "");
    add_database(app, database);
    add_out(app, out, "");
    app.add_option("--junit", junit, "")->writes();
    app.parse({.arguments = words, .command = ""});
  };
  const std::string in = folder_ / "in.csv", elsewhere = folder_ / "new.csv";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{in, "--out", in},
                                             {in, "--out", folder_ / "." / "in.csv"},
                                             {in, "--out", folder_ / "link"},
                                             {folder_ / "link", "--junit", folder_ / "hard"},
                                             {"--db", in, "--junit", in},
                                             {"--workload", "vgg16," + in, "--out", in},
                                             {"--db", elsewhere, "--out", elsewhere},
                                             {"--junit", "no-such-file", "--out", "./no-such-file"}})
    expect_error([&] { parse(words); }, ExitCode::usage, HasSubstr(" would replace what "),
                 HasSubstr("name another file with --"));
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{in, "--out", elsewhere},
                                             {"ring", "--out", "ring"},
                                             {"--junit", "/dev/null", "--out", "/dev/null"},
                                             {"--out", in},
                                             {"--db", in, "--out", "-"}})
    EXPECT_NO_THROW(parse(words)) << fmt::format("{}", fmt::join(words, " "));
}

}  // namespace
}  // namespace hbench::output_file_test
