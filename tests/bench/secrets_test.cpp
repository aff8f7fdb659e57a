#include "bench/command/command_line.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hbench::secrets_test {
namespace {

std::string masked(std::string_view command) { return without_secrets(command); }

TEST(Secrets, AreMaskedInCommands) {
  EXPECT_EQ(masked("TOKEN=abc ./bench"), "TOKEN=*** ./bench");
  EXPECT_EQ(masked("AWS_SECRET_ACCESS_KEY='a b' ./x; DB_PASSWORD=\"p\" ./y"),
            "AWS_SECRET_ACCESS_KEY='***' ./x; DB_PASSWORD=\"***\" ./y");
  EXPECT_EQ(masked("./x --password hunter2 --api-key=k --gpus 8"), "./x --password *** --api-key=*** --gpus 8");
  EXPECT_EQ(masked("curl -H 'Authorization: Bearer eyJ.x+y/z==' https://u:p@h/x"),
            "curl -H 'Authorization: Bearer ***' https://u:***@h/x");
  EXPECT_EQ(masked("curl -H \"authorization: Basic dTpw\" x"), "curl -H \"authorization: Basic ***\" x");
  EXPECT_EQ(masked("curl -H 'Authorization: raw'"), "curl -H 'Authorization: ***'");
  EXPECT_EQ(masked("curl -H 'X-Api-Key: k1' x"), "curl -H 'X-Api-Key: ***' x");
  EXPECT_EQ(masked("login ghp_0123456789abcdefghij"), "login ***");
}

TEST(Secrets, AreNoOtherWords) {
  for (const char* command :
       {"NCCL_ALGO=Ring ./all_reduce_perf -g 8", "TOKENIZERS_PARALLELISM=false python train.py --max-tokens 512",
        "./x --metric tokens_per_s --key=7", "git clone https://host:8080/a@b", "./hf_ sk- --token", "", "://",
        "a=b=c"})
    EXPECT_EQ(masked(command), command);
}

TEST(Secrets, AreWholeArguments) {
  const std::vector<std::string> words{
      "track", "pair", "--base", "TOKEN=a ./b", "--password", "two words", "API_KEY=three words", "--gpus", "8"};
  EXPECT_EQ(without_secrets(words), "track pair --base TOKEN=*** --password *** API_KEY=*** --gpus 8");
}

}  // namespace
}  // namespace hbench::secrets_test
