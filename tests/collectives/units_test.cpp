#include "collectives/base/units_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "tests/support/expect_error.hpp"

namespace hbench::units_test {
namespace {

TEST(Units, ArithmeticKeepsTheDimension) {
  EXPECT_DOUBLE_EQ((Bytes(1e9) / BytesPerSecond(2e9)).value, 0.5);
  EXPECT_DOUBLE_EQ((Bytes(1e9) / Seconds(0.5)).value, 2e9);
  EXPECT_DOUBLE_EQ((BytesPerSecond(2e9) * Seconds(0.25)).value, 5e8);
  EXPECT_DOUBLE_EQ(Seconds(3) / Seconds(2), 1.5);
}

TEST(ParseSeconds, KnowsItsUnits) {
  EXPECT_DOUBLE_EQ(parse_seconds("2 s").value, 2);
  EXPECT_DOUBLE_EQ(parse_seconds("5ms").value, 5e-3);
  EXPECT_DOUBLE_EQ(parse_seconds("15 us").value, 15e-6);
  EXPECT_DOUBLE_EQ(parse_seconds("15 µs").value, 15e-6);
  EXPECT_DOUBLE_EQ(parse_seconds(" 1.5e2 ns ").value, 1.5e-7);
}

TEST(ParseBytes, IsBinaryOnlyWhenToldSo) {
  EXPECT_EQ(parse_bytes("64MiB").value, 67108864);
  EXPECT_EQ(parse_bytes("64 MB").value, 64e6);
  EXPECT_EQ(parse_bytes("1KiB").value, 1024);
  EXPECT_EQ(parse_bytes("1kB").value, 1000);
  EXPECT_EQ(parse_bytes("1KB").value, 1000);
  EXPECT_EQ(parse_bytes("2GiB").value, 2147483648.0);
  EXPECT_EQ(parse_bytes("7 B").value, 7);
}

TEST(ParseRate, TakesBitsAndBytes) {
  EXPECT_DOUBLE_EQ(parse_rate("25 Gbit/s").value, 3.125e9);
  EXPECT_DOUBLE_EQ(parse_rate("12 GB/s").value, 12e9);
  EXPECT_DOUBLE_EQ(parse_rate("8 bit/s").value, 1);
  EXPECT_DOUBLE_EQ(parse_rate("1.6Tbit/s").value, 2e11);
}

TEST(ParseUnits, SaysWhatIsWrongAndHowToWriteIt) {
  expect_usage_error([] { parse_seconds("5"); },
                     "invalid duration '5': it has no unit; expected a number and s, ms, us, ns or min", "30 s");
  expect_usage_error([] { parse_bytes("64Mib"); },
                     "invalid size '64Mib': expected a number and B, KiB, MiB, GiB, kB, MB or GB", "MiB");
  expect_usage_error([] { parse_rate("25 GiB/s"); },
                     "invalid rate '25 GiB/s': expected a number and bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, B/s, kB/s, "
                     "MB/s, GB/s or TB/s",
                     "Gbit/s");
  expect_usage_error([] { parse_seconds("fast"); },
                     "invalid duration 'fast': expected a number and s, ms, us, ns or min", "30 s");
  expect_usage_error([] { parse_bytes(""); }, "invalid size '': expected a number and B, KiB, MiB, GiB, kB, MB or GB",
                     "64 MiB");
  expect_usage_error([] { parse_bytes("inf B"); },
                     "invalid size 'inf B': expected a number and B, KiB, MiB, GiB, kB, MB or GB", "64 MiB");
  expect_usage_error([] { parse_bytes("nan B"); },
                     "invalid size 'nan B': expected a number and B, KiB, MiB, GiB, kB, MB or GB", "64 MiB");
  expect_usage_error([] { parse_seconds("1e999 s"); },
                     "invalid duration '1e999 s': expected a number and s, ms, us, ns or min", "30 s");
  expect_usage_error([] { parse_bytes("1e300GiB"); }, "'1e300GiB' is out of range", "MiB");
  expect_usage_error([] { parse_seconds("5 ms ms"); },
                     "invalid duration '5 ms ms': expected a number and s, ms, us, ns or min", "30 s");
  expect_usage_error([] { parse_seconds("5 parsecs"); },
                     "invalid duration '5 parsecs': expected a number and s, ms, us, ns or min", "30 s");
  for (const char* text : {"1e300 s", "-1e300 s", "1e8 s", "600000 min"})
    expect_usage_error([&] { parse_seconds(text); }, std::string("'") + text + "' is out of range", "30 s");
  EXPECT_EQ(parse_seconds("366000 min").value, 366000.0 * 60);
}

TEST(FormatUnits, PicksTheUnitThatSuits) {
  EXPECT_EQ(format(Seconds(0.0123)), "12.3 ms");
  EXPECT_EQ(format(Seconds(1)), "1 s");
  EXPECT_EQ(format(Seconds(123.4)), "123 s");
  EXPECT_EQ(format(Seconds(15e-6)), "15 us");
  EXPECT_EQ(format(Seconds(0)), "0 ns");
  EXPECT_EQ(format(Seconds(-0.25)), "-250 ms");
  EXPECT_EQ(format(Bytes(67108864)), "64 MiB");
  EXPECT_EQ(format(Bytes(4096000)), "3.91 MiB");
  EXPECT_EQ(format(Bytes(1023)), "1023 B");
  EXPECT_EQ(format(BytesPerSecond(3.125e9)), "25 Gbit/s");
  EXPECT_EQ(format(BytesPerSecond(2.9875e9)), "23.9 Gbit/s");
}

TEST(FormatUnits, RoundsIntoTheNextUnit) {
  EXPECT_EQ(format(Seconds(0.99951)), "1 s");
  EXPECT_EQ(format(Seconds(0.999)), "999 ms");
  EXPECT_EQ(format(Bytes(1048575)), "1 MiB");
  EXPECT_EQ(format(Seconds(9.999)), "10 s");
  EXPECT_EQ(format(Seconds(99.99)), "100 s");
}

TEST(FormatUnits, IsReadBackToThreeDigits) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-8.9, 4);
  for (int i = 0; i < 20000; ++i) {
    const double time = std::pow(10, exponent(random));
    ASSERT_NEAR(parse_seconds(format(Seconds(time))).value / time, 1, 0.00501) << time;
    const double size = time * 1e9;
    ASSERT_NEAR(parse_bytes(format(Bytes(size))).value / size, 1, 0.00501) << size;
    ASSERT_NEAR(parse_rate(format(BytesPerSecond(size))).value / size, 1, 0.00501) << size;
  }
}

TEST(FormatUnits, OfReadTextIsStable) {
  for (const char* text : {"12.3 ms", "64 MiB", "1 s", "250 ns"}) {
    const bool size = std::string_view(text).ends_with("B");
    EXPECT_EQ(size ? format(parse_bytes(text)) : format(parse_seconds(text)), text);
  }
}

TEST(ParseUnits, SurvivesRandomText) {
  static constexpr std::string_view kAlphabet = "0123456789.eE+- smunMGKiBbkt/:xyz\xC2\xB5\0infa";
  std::mt19937 random(2);
  std::uniform_int_distribution<std::size_t> length(0, 12);
  std::uniform_int_distribution<std::size_t> letter(0, kAlphabet.size() - 1);
  int understood = 0;
  const auto tried = [&](const std::function<double()>& parse, const std::string& text) {
    try {
      EXPECT_TRUE(std::isfinite(parse())) << text;
      ++understood;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage) << text;
    }
  };
  for (int i = 0; i < 50000; ++i) {
    std::string text;
    for (std::size_t n = length(random); n > 0; --n) text += kAlphabet[letter(random)];
    tried([&] { return parse_seconds(text).value; }, text);
    tried([&] { return parse_bytes(text).value; }, text);
    tried([&] { return parse_rate(text).value; }, text);
  }
  EXPECT_GT(understood, 0);  // otherwise the alphabet is too wild to test much
}

}  // namespace
}  // namespace hbench::units_test
