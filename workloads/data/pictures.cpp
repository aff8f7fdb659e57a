// Pictures in a folder for each class, as torchvision's ImageFolder has them: train/CLASS/*.jpg and val/CLASS/*.jpg.

#include <fmt/format.h>
#include <png.h>
#include <turbojpeg.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>

#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "workloads/data/dataset.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

/// Of all samples together: each rank has them in its memory.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
/// Of a picture: 64 million, more than cameras take, and less than a file that was made to fill the memory has.
constexpr std::int64_t kMostPixels = std::int64_t{1} << 26;
constexpr int kMostClasses = 256;

/// Three bytes a pixel, row by row.
struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> bytes = {};
};

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw Error(ExitCode::usage, fmt::format("{}: {}", file.string(), why), "copy the picture again, or leave it out");
}

Picture blank(const fs::path& file, std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1 || width * height > kMostPixels)
    refuse(file, fmt::format("{} x {} pixels, and at most 64 million are read", width, height));
  return {static_cast<int>(width), static_cast<int>(height), std::vector<std::uint8_t>(3 * width * height)};
}

/// As small as the decoder makes it at no cost, but not below `size`.
Picture read_jpeg(const fs::path& file, int size) {
  const std::string packed = read_file(file);
  const auto* bytes = reinterpret_cast<const unsigned char*>(packed.data());
  const std::unique_ptr<void, int (*)(tjhandle)> decoder(tjInitDecompress(), tjDestroy);
  int width = 0, height = 0, sampling = 0, space = 0;
  if (tjDecompressHeader3(decoder.get(), bytes, packed.size(), &width, &height, &sampling, &space) != 0)
    refuse(file, tjGetErrorStr2(decoder.get()));
  int shrunk = 1;
  while (shrunk < 8 && std::min(width, height) / (2 * shrunk) >= size) shrunk *= 2;
  const tjscalingfactor scale{1, shrunk};
  Picture picture = blank(file, TJSCALED(width, scale), TJSCALED(height, scale));
  if (tjDecompress2(decoder.get(), bytes, packed.size(), picture.bytes.data(), picture.width, 0, picture.height,
                    TJPF_RGB, TJFLAG_STOPONWARNING) != 0)
    refuse(file, tjGetErrorStr2(decoder.get()));
  return picture;
}

Picture read_png(const fs::path& file) {
  const std::string packed = read_file(file);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, void (*)(png_imagep)> freed(&image, png_image_free);
  if (png_image_begin_read_from_memory(&image, packed.data(), packed.size()) == 0) refuse(file, image.message);
  image.format = PNG_FORMAT_RGB;
  Picture picture = blank(file, image.width, image.height);
  const png_color black{};
  if (png_image_finish_read(&image, &black, picture.bytes.data(), 0, nullptr) == 0) refuse(file, image.message);
  return picture;
}

/// Its middle as `size` x `size` pixels, red, green and blue one after the other: each is the mean of what it covers.
void add_square(const Picture& picture, int size, std::vector<std::uint8_t>& to) {
  const int side = std::min(picture.width, picture.height);
  const int left = (picture.width - side) / 2, top = (picture.height - side) / 2;
  const auto begin = [&](int i) { return static_cast<int>(std::int64_t{i} * side / size); };
  const auto end = [&](int i) { return std::max(begin(i) + 1, begin(i + 1)); };
  for (int channel = 0; channel < 3; ++channel)
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x) {
        std::int64_t sum = 0;
        for (int row = top + begin(y); row < top + end(y); ++row)
          for (int column = left + begin(x); column < left + end(x); ++column)
            sum += picture.bytes[static_cast<std::size_t>(3 * (std::int64_t{row} * picture.width + column) + channel)];
        to.push_back(static_cast<std::uint8_t>(sum / (std::int64_t{end(y) - begin(y)} * (end(x) - begin(x)))));
      }
}

/// What a folder has, in the order of names; hidden entries are none.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (!entry.path().filename().string().starts_with('.')) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

std::string ending_of(const fs::path& file) {
  std::string ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return ending;
}

bool is_png(const fs::path& file) { return ending_of(file) == ".png"; }
bool is_picture(const fs::path& file) {
  return is_png(file) || ending_of(file) == ".jpg" || ending_of(file) == ".jpeg";
}

/// The pictures of a folder by the names of their classes.
std::map<std::string, std::vector<fs::path>> classes_of(const fs::path& folder) {
  std::map<std::string, std::vector<fs::path>> classes;
  for (const fs::path& entry : entries_of(folder)) {
    if (!fs::is_directory(entry)) continue;
    std::vector<fs::path> pictures = entries_of(entry);
    std::erase_if(pictures, [](const fs::path& file) { return !is_picture(file); });
    if (pictures.empty())
      throw Error(ExitCode::usage, fmt::format("{} has no .jpg, .jpeg or .png", entry.string()),
                  "each folder of train and val is a class with its pictures");
    classes.emplace(entry.filename().string(), std::move(pictures));
  }
  return classes;
}

}  // namespace

Dataset load_pictures(const std::string& folder, int image_size) {
  const fs::path base(folder);
  const fs::path judged = base / (fs::is_directory(base / "val") ? "val" : "test");
  if (!fs::is_directory(judged))
    throw Error(ExitCode::usage, fmt::format("{} has train, and neither val nor test", folder),
                "pictures to be judged by are in val/CLASS, such as a tenth of those in train/CLASS");
  const auto train = classes_of(base / "train"), test = classes_of(judged);
  Dataset data;
  data.shape.sizes = {3, image_size, image_size};
  data.classes = static_cast<int>(train.size());
  if (data.classes < 2 || data.classes > kMostClasses)
    throw Error(ExitCode::usage, fmt::format("{} has {} folders of pictures", (base / "train").string(), data.classes),
                fmt::format("pictures are of 2 to {} classes", kMostClasses));
  std::int64_t bytes = 0;
  for (const auto* of : {&train, &test})
    for (const auto& [name, pictures] : *of) bytes += std::ssize(pictures) * 3 * image_size * image_size;
  if (bytes > kMostBytes)
    throw Error(ExitCode::usage,
                fmt::format("the pictures of {} are {:.3g} GB at {} pixels a side, and a rank takes 1.07 GB", folder,
                            static_cast<double>(bytes) * 1e-9, image_size),
                "a smaller --image-size, or fewer pictures");
  const auto add = [&](const auto& classes, LabelledSamples& samples) {
    for (const auto& [name, pictures] : classes) {
      const auto known = train.find(name);
      if (known == train.end())
        throw Error(ExitCode::usage, fmt::format("{} has a class {}, and train has none", judged.string(), name),
                    "the folders of both have the same names");
      for (const fs::path& file : pictures) {
        add_square(is_png(file) ? read_png(file) : read_jpeg(file, image_size), image_size, samples.bytes);
        samples.labels.push_back(static_cast<std::uint8_t>(std::distance(train.begin(), known)));
      }
    }
  };
  add(train, data.train);
  add(test, data.test);
  return normalised(std::move(data), folder);
}

}  // namespace hbench
