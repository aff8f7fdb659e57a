// Folders of pictures: what is read of them, and what is refused.

#include <fmt/format.h>
#include <png.h>
#include <turbojpeg.h>

#include <cstdlib>

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workloads/data/dataset.hpp"

namespace hbench::pictures_test {
namespace {

/// Three bytes a pixel, all of a row alike but for its two halves.
std::vector<std::uint8_t> halves(int width, int height, std::array<std::uint8_t, 3> left,
                                 std::array<std::uint8_t, 3> right) {
  std::vector<std::uint8_t> bytes;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (const std::uint8_t byte : 2 * x < width ? left : right) bytes.push_back(byte);
  return bytes;
}

constexpr std::array<std::uint8_t, 3> kRed{200, 0, 0}, kBlue{0, 0, 120}, kGrey{50, 50, 50};

/// Two classes with a picture each to train on, the first of them to be judged by.
class PictureFolders : public testing::Test {
 protected:
  PictureFolders() {
    png("train/cat/a.png", 8, 4, halves(8, 4, kRed, kBlue));
    jpeg("train/dog/b.JPG", 64, 32, halves(64, 32, kGrey, kGrey));
    png("val/dog/c.png", 2, 2, halves(2, 2, kRed, kBlue));
  }

  std::string path(const std::string& name) {
    const auto file = folder_ / name;
    std::filesystem::create_directories(file.parent_path());
    return file.string();
  }
  void png(const std::string& name, int width, int height, const std::vector<std::uint8_t>& bytes) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<unsigned>(width);
    image.height = static_cast<unsigned>(height);
    image.format = PNG_FORMAT_RGB;
    ASSERT_NE(png_image_write_to_file(&image, path(name).c_str(), 0, bytes.data(), 0, nullptr), 0) << image.message;
  }
  void jpeg(const std::string& name, int width, int height, const std::vector<std::uint8_t>& bytes) {
    const tjhandle coder = tjInitCompress();
    unsigned char* packed = nullptr;
    unsigned long size = 0;
    ASSERT_EQ(tjCompress2(coder, bytes.data(), width, 0, height, TJPF_RGB, &packed, &size, TJSAMP_444, 95, 0), 0);
    write_bytes(path(name), {reinterpret_cast<const char*>(packed), size});
    tjFree(packed);
    tjDestroy(coder);
  }
  Dataset load(int size = 4) const { return load_dataset(folder_.path().string(), size); }
  void refused(const std::string& why) {
    expect_error([&] { load(); }, ExitCode::usage, HasSubstr(why), testing::_);
  }
  TemporaryFolder folder_;
};

TEST_F(PictureFolders, AreTheirMiddleSquareAndOfTheClassOfTheirFolder) {
  const Dataset data = load();
  EXPECT_THAT(data.shape.sizes, ElementsAre(3, 4, 4));
  EXPECT_EQ(data.classes, 2);
  EXPECT_THAT(data.train.labels, ElementsAre(0, 1));
  EXPECT_THAT(data.test.labels, ElementsAre(1));
  EXPECT_EQ(usual_model(folder_.path().string()), "resnet18");
  // Of 8 x 4 pixels the middle four columns: two red ones, and two blue ones.
  const std::vector<std::uint8_t> first(data.train.bytes.begin(), data.train.bytes.begin() + 48);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(first[i], i % 4 < 2 ? 200 : 0) << i;
    EXPECT_EQ(first[16 + i], 0) << i;
    EXPECT_EQ(first[32 + i], i % 4 < 2 ? 0 : 120) << i;
  }
  for (std::size_t i = 48; i < 96; ++i) EXPECT_NEAR(data.train.bytes[i], 50, 2) << "JPEG loses a little";
}

TEST_F(PictureFolders, AreScaledDownByMeansAndUpByRepeating) {
  const Dataset one = load(1);
  EXPECT_EQ(one.train.bytes[0], 100) << "half of the middle is red";
  EXPECT_EQ(one.train.bytes[2], 60);
  const Dataset eight = load(8);
  EXPECT_EQ(eight.test.bytes[0], 200);
  EXPECT_EQ(eight.test.bytes[3], 200);
  EXPECT_EQ(eight.test.bytes[4], 0);
}

TEST_F(PictureFolders, MayLieInTestAndBesideOtherFiles) {
  std::filesystem::rename(folder_ / "val", folder_ / "test");
  write_bytes(folder_ / "train/cat/notes.txt", "no picture");
  std::filesystem::create_directories(folder_ / "train/.cache");
  EXPECT_EQ(load().train.count(), 2);
}

TEST_F(PictureFolders, ThatAreDamagedAreNamed) {
  write_bytes(path("train/cat/a.png"), "no picture");
  refused("train/cat/a.png: Not a PNG file");
  std::filesystem::remove(folder_ / "train/cat/a.png");
  refused("train/cat has no .jpg, .jpeg or .png");
  write_bytes(path("train/cat/a.jpg"), "no picture");
  refused("train/cat/a.jpg: Not a JPEG file");
  const std::string whole = bytes_of(folder_ / "train/dog/b.JPG");
  write_bytes(path("train/cat/a.jpg"), whole.substr(0, whole.size() - 40));
  refused("train/cat/a.jpg: Premature end of JPEG file");
}

TEST_F(PictureFolders, OfOneClassOrOfOneThatNobodyLearnsAreRefused) {
  png("val/cow/d.png", 2, 2, halves(2, 2, kRed, kBlue));
  refused("val has a class cow, and train has none");
  std::filesystem::remove_all(folder_ / "train/dog");
  refused("train has 1 folders of pictures");
  std::filesystem::remove_all(folder_ / "val");
  refused("has train, and neither val nor test");
}

TEST_F(PictureFolders, ThatFillTheMemoryAreRefusedBeforeTheyAreRead) {
  expect_error([&] { load(16'384); }, ExitCode::usage, HasSubstr("are 2.42 GB at 16384 pixels a side"),
               HasSubstr("a smaller --image-size"));
}

}  // namespace
}  // namespace hbench::pictures_test
