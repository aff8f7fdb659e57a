// Models of one's own as files: what they are called, and which are none. Needs no LibTorch.

#include "workloads/models/own_model.hpp"

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::own_model_test {
namespace {

using namespace std::string_view_literals;

TEST(SampleShape, IsReadAsItIsWritten) {
  EXPECT_THAT(parse_sample_shape("3x224x224").sizes, ElementsAre(3, 224, 224));
  EXPECT_EQ(parse_sample_shape("3x224x224").vocabulary, 0);
  EXPECT_THAT(parse_sample_shape("128:vocab=30522").sizes, ElementsAre(128));
  EXPECT_EQ(parse_sample_shape("128:vocab=30522").vocabulary, 30522);
  for (const char* text : {"7", "3x224x224", "128:vocab=30522", "2x3:vocab=2"})
    EXPECT_EQ(parse_sample_shape(text).text(), text);
}

TEST(SampleShape, IsRefusedWhereItIsNone) {
  for (const char* text :
       {"", "x", "3x", "3x0x4", "-1", "3,224", "3x224:float", "3:vocab=", "3:vocab=1", "1e3", "100000x100000", "3X4"})
    expect_error([&] { parse_sample_shape(text); }, ExitCode::usage, HasSubstr(std::string("--input ") + text),
                 HasSubstr("3x224x224"));
}

TEST(OwnModel, IsRecognisedByTheEndingOfItsFile) {
  for (const char* name : {"model.pt", "a/b.pth", "/c.ts", "d.onnx", "e.safetensors", "f.pkl"})
    EXPECT_TRUE(is_model_file(name)) << name;
  for (const char* name : {"resnet50", "my.toml", "./my.toml", "model.pt:3x224x224", "pt"})
    EXPECT_FALSE(is_model_file(name)) << name;
}

TEST(OwnModel, IsNamedByItsFileAndInputAndKnownByItsBytes) {
  const TemporaryFolder folder;
  write_bytes(folder / "model.pt", "a model");
  const OwnModel model{(folder / "model.pt").string(), "", parse_sample_shape("3x8x8")};
  EXPECT_EQ(model.name(), "model.pt:3x8x8");
  const std::string before = model.read_digest();
  EXPECT_EQ(before.size(), 16u);
  EXPECT_EQ(model.read_digest(), before);
  write_bytes(folder / "loss.pt", "a loss");
  OwnModel with_loss = model;
  with_loss.loss = (folder / "loss.pt").string();
  EXPECT_NE(with_loss.read_digest(), before);
  write_bytes(folder / "model.pt", "another model");
  EXPECT_NE(model.read_digest(), before);
}

/// A file that is no TorchScript.
struct Other {
  std::string_view bytes;
  const char* it_is;
};
constexpr Other kOthers[] = {
    {"", "it is empty"},
    {"\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P"sv, "it is a pickle (a state_dict"},
    {"\x80\x04\x95"sv, "it is a pickle"},
    {"\x40\0\0\0\0\0\0\0{\"weight\":{"sv, "it is safetensors: weights without code"},
    {"\x08\x07\x12\x07pytorch"sv, "it is an ONNX model, which has no backward pass"},
    {"\x89HDF\r\n"sv, "it is an HDF5 file"},
    {"GGUF\x03"sv, "it is a GGUF file"},
    {"import torch\n"sv, "it is of another kind"},
};

TEST(OwnModel, IsNoFileOfAnotherFormatAndTheMessageSaysWhich) {
  const TemporaryFolder folder;
  for (const Other& other : kOthers) {
    write_bytes(folder / "model.pt", other.bytes);
    expect_error([&] { require_script((folder / "model.pt").string()); }, ExitCode::usage,
                 HasSubstr(std::string("model.pt is no TorchScript file: ") + other.it_is),
                 HasSubstr("torch.jit.script(model).save"));
  }
  for (const std::string name : {"absent.pt", "."})
    expect_error([&] { require_script((folder / name).string()); }, ExitCode::usage, HasSubstr("cannot read "));
}

}  // namespace
}  // namespace hbench::own_model_test
