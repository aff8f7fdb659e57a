#include "collectives/exchange/exchange.hpp"

#include <array>
#include <functional>
#include <map>
#include <thread>

#include "collectives/transport/transport.hpp"
#include "tests/collectives/conformance.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/sanitized.hpp"

namespace hbench::exchange_test {
namespace {

using namespace ::hbench::support;

constexpr Seconds kTimeout{60};

/// Runs `body` on one thread a rank. Endpoints outlive all of them.
void on_ranks(int ranks, const std::function<void(Endpoint&)>& body) {
  const auto endpoints = make_thread_endpoints(ranks);
  std::vector<std::jthread> threads;
  for (const auto& endpoint : endpoints) threads.emplace_back([&] { body(*endpoint); });
}

ExchangeRequest request_of(const Case& c, std::span<float> buffer) {
  return {.world = c.world, .algorithm = c.algorithm, .compressor = c.compressor, .operand = Operand::of(buffer)};
}

void exchange(Endpoint& endpoint, const ExchangeRequest& request) {
  wait_for(*prepare_exchange(endpoint, request), kTimeout, "a rank");
}

/// An all-reduce.
Case case_of(std::string_view algorithm, std::string_view compressor, int workers, std::int64_t elements) {
  return {.algorithm = parse_algorithm(algorithm),
          .compressor = parse_compressor(compressor),
          .world = {.workers = workers},
          .elements = elements};
}

/// The gradients of `steps` exchanges after one another, with one memory: what each rank ended with, step by step.
std::vector<std::vector<std::vector<float>>> exchanged(const Case& c, int steps) {
  std::vector<std::vector<std::vector<float>>> results(static_cast<std::size_t>(c.world.ranks()));
  on_ranks(c.world.ranks(), [&](Endpoint& endpoint) {
    const Rank rank = endpoint.transport().rank();
    std::vector<float> buffer(static_cast<std::size_t>(c.elements));
    const auto operation = prepare_exchange(endpoint, request_of(c, buffer));
    for (int step = 0; step < steps; ++step) {
      std::ranges::copy(gradient_of(rank, c.elements, step), buffer.begin());
      if (step > 0) operation->restart();
      wait_for(*operation, kTimeout, "a rank");
      results[static_cast<std::size_t>(rank)].push_back(buffer);
    }
  });
  return results;
}

std::vector<Case> cases_of(Exchange exchange, std::span<const int> sizes) {
  std::vector<Case> cases;
  for (const int ranks : sizes)
    for (Case& c : compressed_cases(ranks))
      if (c.compressor.compressor->exchange == exchange) cases.push_back(std::move(c));
  return cases;
}

const std::vector<int> kSizes = support::kSanitized ? std::vector{1, 2, 3} : std::vector{1, 2, 3, 5, 8};

TEST(PerHopExchange, EndsWithTheSameBitsOnEveryWorkerAndWithinTheDeclaredError) {
  for (Case& c : cases_of(Exchange::per_hop, kSizes)) {
    if (c.algorithm.algorithm->collective != CollectiveKind::all_reduce) continue;
    c.elements = 1009;
    const auto results = exchanged(c, 2);
    for (int worker = 1; worker < c.world.workers; ++worker)
      ASSERT_EQ(results[static_cast<std::size_t>(worker)], results[0]) << c.name() << ", worker " << worker;
    ASSERT_EQ(judge_sum(c, results[0][0]), "");
  }
}

TEST(PerHopExchange, TakesAwkwardCounts) {
  for (Case& c : cases_of(Exchange::per_hop, std::array{2, 5}))
    for (const std::int64_t elements : {0, 1, 4, 6}) {
      if (c.algorithm.algorithm->collective != CollectiveKind::all_reduce) continue;
      c.elements = elements;
      ASSERT_EQ(judge_sum(c, exchanged(c, 1)[0][0]), "");
    }
}

TEST(GatherExchange, EndsWithTheSumOfAllDecodedGradientsInRankOrder) {
  for (Case& c : cases_of(Exchange::gather, kSizes))
    for (const std::int64_t elements : {1, 100, 1009}) {
      c.elements = elements;
      const auto right = gathered_sums(c, 3);
      for (const auto& result : exchanged(c, 3)) ASSERT_EQ(result, right) << c.name();
    }
}

/// One rank's side of an encoded exchange, or the sum's: what it lost of one step comes with the next.
struct Side {
  std::vector<float> residual;

  /// Returns what others decode of it.
  std::vector<float> sent(const CompressorChoice& compressor, std::vector<float> values) {
    residual.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += residual[i];
    std::vector<std::byte> encoded(static_cast<std::size_t>(compressor.codec->max_wire_bytes(std::ssize(values))));
    compressor.codec->encode(values, {}, encoded);
    std::vector<float> decoded(values.size());
    compressor.codec->decode(encoded, TransferKind::copy, decoded);
    for (std::size_t i = 0; i < values.size(); ++i) residual[i] = values[i] - decoded[i];
    return decoded;
  }
};

/// Tang et al., DoubleSqueeze, algorithm 1, part by part.
std::vector<std::vector<float>> squeezed_twice(const Case& c, int steps) {
  const std::vector<std::int64_t> offsets = even_offsets(c.world.workers, c.elements);
  std::map<std::pair<Rank, int>, Side> ranks;
  std::map<int, Side> sums;
  std::vector<std::vector<float>> results;
  for (int step = 0; step < steps; ++step) {
    std::vector<float>& result = results.emplace_back();
    for (int part = 0; part < c.world.workers; ++part) {
      const std::int64_t begin = offsets[static_cast<std::size_t>(part)],
                         end = offsets[static_cast<std::size_t>(part) + 1];
      std::vector<float> sum(static_cast<std::size_t>(end - begin));
      for (Rank rank = 0; rank < c.world.workers; ++rank) {
        const std::vector<float> gradient = gradient_of(rank, c.elements, step);
        const std::vector<float> sent =
            ranks[{rank, part}].sent(c.compressor, {gradient.begin() + begin, gradient.begin() + end});
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += sent[i];
      }
      const std::vector<float> all = sums[part].sent(c.compressor, sum);
      result.insert(result.end(), all.begin(), all.end());
    }
  }
  return results;
}

TEST(BothSidesExchange, EndsWithSumsThatAreEncodedAsWell) {
  for (const char* compressor : {"ef2:onebit", "ef2:sign"})
    for (const char* algorithm : {"ring", "direct", "recursive-doubling", "ring-segmented"})
      for (const int workers : kSizes)
        for (const std::int64_t elements : {1, 100, 5009}) {
          const Case c = case_of(algorithm, compressor, workers, elements);
          const auto right = squeezed_twice(c, 3);
          const auto results = exchanged(c, 3);
          for (const auto& result : results) ASSERT_EQ(result, results[0]) << c.name();
          for (std::size_t step = 0; step < right.size(); ++step)
            for (std::size_t i = 0; i < right[step].size(); ++i)
              ASSERT_NEAR(results[0][step][i], right[step][i], 1e-4 * (1 + std::abs(right[step][i])))
                  << c.name() << ", step " << step << ", element " << i;
        }
}

/// Of rank 1, and so is the sum over ranks: reproduced but for float32's rounding.
std::vector<float> outer_product(Rank rank, int side) {
  std::vector<float> matrix;
  for (int row = 0; row < side; ++row)
    for (int column = 0; column < side; ++column)
      matrix.push_back(support::contribution(rank, row) * (1.0F + support::contribution(7, column)));
  return matrix;
}

TEST(LowRankExchange, ReproducesASumOfMatricesThatSpanOneDirection) {
  constexpr int kSide = 31;
  for (const Case& c : cases_of(Exchange::low_rank, kSizes)) {
    std::vector<std::vector<float>> results(static_cast<std::size_t>(c.world.workers));
    std::vector<double> sum(kSide * kSide);
    double norm = 0;
    for (Rank rank = 0; rank < c.world.workers; ++rank)
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += outer_product(rank, kSide)[i];
    on_ranks(c.world.workers, [&](Endpoint& endpoint) {
      std::vector<float> matrix = outer_product(endpoint.transport().rank(), kSide);
      exchange(endpoint, request_of(c, matrix));
      results[static_cast<std::size_t>(endpoint.transport().rank())] = matrix;
    });
    double error = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      error += (results[0][i] - sum[i]) * (results[0][i] - sum[i]);
      norm += sum[i] * sum[i];
    }
    EXPECT_LT(std::sqrt(error), 1e-4 * std::sqrt(norm)) << c.name();
    for (const auto& result : results) ASSERT_EQ(result, results[0]) << c.name();
  }
}

TEST(Exchange, AveragesCompressedGradients) {
  for (Case& c : compressed_cases(2)) {
    if (c.algorithm.algorithm->collective != CollectiveKind::all_reduce || c.algorithm.algorithm->uses_servers)
      continue;
    c.elements = 64;
    const std::vector<float> sum = exchanged(c, 1)[0][0];
    std::vector<float> average(sum.size());
    on_ranks(2, [&](Endpoint& endpoint) {
      std::vector<float> buffer = gradient_of(endpoint.transport().rank(), c.elements);
      ExchangeRequest request = request_of(c, buffer);
      request.operand.op = ReduceOp::average;
      exchange(endpoint, request);
      if (endpoint.transport().rank() == 0) average = buffer;
    });
    for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(average[i], sum[i] / 2) << c.name();
  }
}

TEST(Exchange, CountsWhatItSendsAndTimesItsCodecWhenAsked) {
  for (Case& c : compressed_cases(3)) {
    if (c.algorithm.algorithm->collective != CollectiveKind::all_reduce || c.algorithm.algorithm->uses_servers)
      continue;
    c.elements = 4000;
    std::int64_t sent = 0;
    CodecTimes times;
    on_ranks(3, [&](Endpoint& endpoint) {
      std::vector<float> buffer = gradient_of(endpoint.transport().rank(), c.elements);
      const bool watched = endpoint.transport().rank() == 0;
      ExchangeRequest request = request_of(c, buffer);
      if (watched) request.times = &times;
      const auto operation = prepare_exchange(endpoint, request);
      EXPECT_EQ(endpoint.byte_counts().sent(), 0);
      wait_for(*operation, kTimeout, "a rank");
      if (watched) sent = endpoint.byte_counts().sent();
    });
    EXPECT_GT(sent, 0) << c.name();
    EXPECT_GT(times.encode, Seconds(0)) << c.name();
    EXPECT_GT(times.decode, Seconds(0)) << c.name();
  }
}

TEST(Exchange, InGroupsOfRanksAddsUpWithinEachOfThem) {
  constexpr int kWorkers = 6;
  for (const RankGroups& groups : {RankGroups{.size = 3}, RankGroups{.size = 0, .stride = 3}})
    on_ranks(kWorkers, [&](Endpoint& endpoint) {
      const Rank own = endpoint.transport().rank();
      const ExchangeRequest request{.world = {.workers = kWorkers}, .groups = groups};
      float sum = 0;
      for (const std::vector<Rank>& group : groups.members(kWorkers))
        if (std::ranges::find(group, own) != group.end())
          for (const Rank rank : group) sum += static_cast<float>(1 << rank);
      for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter}) {
        std::vector<float> buffer(11, static_cast<float>(1 << own));
        ExchangeRequest asked = request;
        asked.algorithm = part_of(parse_algorithm("ring"), kind).value();
        asked.compressor = parse_compressor("none");
        asked.operand = Operand::of(buffer);
        exchange(endpoint, asked);
        const ElementRange whole{0, 11};
        const ElementRange part = kind == CollectiveKind::all_reduce
                                      ? whole
                                      : own_part(endpoint, asked.algorithm, asked.world, groups, buffer);
        EXPECT_EQ(part.size() == 11, kind == CollectiveKind::all_reduce);
        for (std::int64_t i = part.begin; i < part.end; ++i) EXPECT_EQ(buffer[static_cast<std::size_t>(i)], sum);
      }
    });
}

TEST(Exchange, CountsTheBytesThatItSends) {
  const auto expect_sent = [](const Case& c, std::int64_t bytes) {
    on_ranks(c.world.workers, [&](Endpoint& endpoint) {
      std::vector<float> buffer = gradient_of(endpoint.transport().rank(), c.elements);
      exchange(endpoint, request_of(c, buffer));
      EXPECT_EQ(endpoint.byte_counts().sent(), bytes) << c.name();
    });
  };
  // 2 (P-1) chunks of 1000 / 4 elements, of two bytes each with fp16.
  expect_sent(case_of("ring", "none", 4, 1000), 6 * 250 * 4);
  expect_sent(case_of("ring", "fp16", 4, 1000), 6 * 250 * 2);
  // 10,000 elements are 100 x 100: two factors of 400 elements, each in 2 (P-1) = 6 messages of a quarter.
  expect_sent(case_of("ring", "powersgd:4", 4, 10'000), 2 * 6 * 100 * 4);
  // Of a part each rank sends one to its owner, and an owner its sum to all others: 2 (N - 1) / N of the encoded
  // buffer.
  constexpr std::int64_t kPart = 3 * 2048, kPartBytes = kPart / 8 + 3 * 8;
  expect_sent(case_of("direct", "ef2:onebit", 4, 4 * kPart), 2 * 3 * kPartBytes);
}

/// The gradient of rank `rank` in a step in which so many of its elements reach the threshold.
std::vector<float> with_large(int count) {
  std::vector<float> gradient(100, 0.25F);
  std::fill_n(gradient.begin(), count, 2.0F);
  return gradient;
}

// Each of two ranks sends a length of 8 bytes and its encoding: a count of 4 bytes and 8 for each element of at least
// 1. The third step has the lengths of the second.
TEST(Exchange, CountsTheBytesOfEncodingsOfVaryingLengths) {
  const std::vector<std::array<int, 2>> large{{1, 5}, {3, 2}, {3, 2}};
  std::array<std::vector<std::int64_t>, 2> sent;
  on_ranks(2, [&](Endpoint& endpoint) {
    const auto rank = static_cast<std::size_t>(endpoint.transport().rank());
    std::vector<float> buffer(100);
    const auto operation = prepare_exchange(endpoint, request_of(case_of("ring", "threshold:1", 2, 100), buffer));
    for (std::size_t step = 0; step < large.size(); ++step) {
      std::ranges::copy(with_large(large[step][rank]), buffer.begin());
      if (step > 0) operation->restart();
      wait_for(*operation, kTimeout, "a rank");
      sent[rank].push_back(endpoint.byte_counts().sent());
    }
  });
  EXPECT_EQ(sent[0], (std::vector<std::int64_t>{8 + 12, 8 + 12 + 8 + 28, 8 + 12 + 2 * (8 + 28)}));
  EXPECT_EQ(sent[1], (std::vector<std::int64_t>{8 + 44, 8 + 44 + 8 + 20, 8 + 44 + 2 * (8 + 20)}));
}

TEST(Exchange, NamesWhomItWaitsForInASecondRunToo) {
  for (const char* compressor : {"none", "fp16", "topk", "threshold:0", "powersgd"}) {
    const auto endpoints = make_thread_endpoints(2);
    std::array<std::vector<float>, 2> buffers{gradient_of(0, 1000), gradient_of(1, 1000)};
    std::vector<std::unique_ptr<Operation>> ranks;
    for (std::size_t rank = 0; rank < 2; ++rank)
      ranks.push_back(
          prepare_exchange(*endpoints[rank], request_of(case_of("ring", compressor, 2, 1000), buffers[rank])));
    for (bool done = false; !done;) {
      const bool first = ranks[0]->progress();
      done = ranks[1]->progress() && first;
    }
    EXPECT_TRUE(ranks[0]->waiting_ranks().empty()) << compressor;
    ranks[0]->restart();
    EXPECT_FALSE(ranks[0]->progress()) << compressor;
    EXPECT_EQ(ranks[0]->waiting_ranks(), std::vector<Rank>{1}) << compressor;
    EXPECT_THAT(ranks[0]->waiting_for(), HasSubstr("rank 1 in round 1")) << compressor;
  }
}

TEST(Exchange, KeepsTheMemoryThatItsCallerGives) {
  for (Case& c : cases_of(Exchange::gather, std::array{2})) {
    c.elements = 100;
    const auto right = gathered_sums(c, 2);
    on_ranks(2, [&](Endpoint& endpoint) {
      const auto memory = std::make_shared<ExchangeMemory>(c.compressor, c.elements);
      for (int step = 0; step < 2; ++step) {
        std::vector<float> buffer = gradient_of(endpoint.transport().rank(), c.elements, step);
        ExchangeRequest request = request_of(c, buffer);
        request.memory = memory;
        exchange(endpoint, request);
        EXPECT_EQ(buffer, right[static_cast<std::size_t>(step)]) << c.name();
      }
    });
  }
}

std::string refusal(std::string_view algorithm, std::string_view compressor, DataType type = DataType::float32,
                    ReduceOp op = ReduceOp::sum, World world = {.workers = 4}) {
  return refuse_exchange(parse_algorithm(algorithm), parse_compressor(compressor), type, op, world);
}

TEST(RefuseExchange, SaysInWordsWhatMakesNoSense) {
  EXPECT_EQ(refusal("ring", "fp16"), "");
  EXPECT_EQ(refusal("ring", "none", DataType::int64, ReduceOp::max), "");
  EXPECT_EQ(refusal("vendor", "none", DataType::uint8, ReduceOp::average), "");
  EXPECT_EQ(refusal("ring", "fp16", DataType::int32), "fp16 compresses float32, not int32");
  EXPECT_EQ(refusal("ring", "fp16", DataType::float64), "fp16 compresses float32, not float64");
  EXPECT_EQ(refusal("ring", "fp16", DataType::float32, ReduceOp::min),
            "fp16 compresses gradients, which are added up: min cannot be combined with it");
  EXPECT_EQ(refusal("vendor", "fp16"), "vendor sends elements as they are: it cannot be combined with fp16");
  EXPECT_EQ(refusal("vendor", "none", DataType::bfloat16), "vendor is MPI's, which has no type for bfloat16");
  EXPECT_THAT(refusal("ps", "none"), HasSubstr("at least 1 parameter server"));
  EXPECT_THAT(refusal("double-binary-tree", "ef2:onebit"), HasSubstr("no all-gather called double-binary-tree"));
  const World servers{.workers = 4, .servers = 2};
  for (const Compressor* compressor : compressors()) {
    const std::string why = refusal("ps", compressor->name, DataType::float32, ReduceOp::sum, servers);
    switch (compressor->exchange) {
      case Exchange::per_hop:
        EXPECT_EQ(why, "") << compressor->name;
        break;
      case Exchange::gather:
        EXPECT_THAT(why, HasSubstr("there is no all-gather called ps; there is one for: ")) << compressor->name;
        break;
      case Exchange::low_rank:
        EXPECT_THAT(why, HasSubstr("needs all-reduces among workers: ps has servers")) << compressor->name;
        break;
    }
  }
}

TEST(PrepareExchange, RefusesWithTheSameWords) {
  const auto endpoints = make_thread_endpoints(1);
  std::vector<float> buffer(3);
  expect_error([&] { prepare_exchange(*endpoints[0], request_of(case_of("vendor", "fp16", 1, 3), buffer)); },
               ExitCode::usage, "vendor sends elements as they are: it cannot be combined with fp16", ::testing::_);
}

}  // namespace
}  // namespace hbench::exchange_test
