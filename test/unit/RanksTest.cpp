//===- RanksTest.cpp - What ranks do together, and without one another ----===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/ranks/CardRanks.h"
#include "runtime/ranks/Collectives.h"
#include "runtime/ranks/Lifeline.h"
#include "runtime/ranks/ThreadRanks.h"

#include "gtest/gtest.h"

#include <dlfcn.h>
#include <functional>
#include <thread>

using namespace gist;
using std::chrono::milliseconds;

/// Runs `body` on `count` ranks at once and returns what each gave.
static std::vector<Status>
runRanks(uint32_t count, const std::function<Status(Communicator &)> &body,
         const CommunicatorOptions &options = {}) {
  std::vector<std::unique_ptr<Communicator>> ranks =
      makeThreadRanks(count, options);
  std::vector<Status> results(count);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] { results[rank] = body(*ranks[rank]); });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

static void expectOk(const std::vector<Status> &results) {
  for (const Status &status : results)
    EXPECT_TRUE(status.ok()) << status.text;
}

/// Numbers whose sum depends on the order in which they are added.
static float numberOf(uint32_t rank, size_t i) {
  return (rank % 2 == 0 ? 1e8F : -1e8F) +
         static_cast<float>(i % 7 + 3 * rank + 1);
}

// Small sums are added by every rank, large ones by pieces (Collectives.cpp):
// 8 Ki numbers are 32 KiB. Sizes that ranks cannot share out evenly, too.
TEST(Ranks, SumsAreInTheOrderOfRanks) {
  for (uint32_t count : {2U, 3U, 4U})
    for (size_t size :
         {size_t{1}, size_t{7}, size_t{576}, size_t{8192}, size_t{20001}})
      expectOk(runRanks(count, [&](Communicator &ranks) -> Status {
        std::vector<float> part(size), sum(size);
        for (size_t i = 0; i < size; ++i)
          part[i] = numberOf(ranks.rank(), i);
        CollectiveScratch scratch;
        GIST_TRY(allReduce(ranks, part, sum, scratch));
        for (size_t i = 0; i < size; ++i) {
          float expected = numberOf(0, i);
          for (uint32_t rank = 1; rank < count; ++rank)
            expected += numberOf(rank, i);
          if (sum[i] != expected)
            return Status::error(Code::Io, "%zu: %g instead of %g", i,
                                 static_cast<double>(sum[i]),
                                 static_cast<double>(expected));
        }
        return {};
      }));
}

// Ranks with 3, 1 and 2 columns; one row, and several.
TEST(Ranks, ColumnsAreGathered) {
  const std::vector<int64_t> columns = {3, 1, 2};
  const std::vector<size_t> first = {0, 3, 4};
  for (size_t rows : {size_t{1}, size_t{5}})
    expectOk(runRanks(3, [&](Communicator &ranks) -> Status {
      auto own = static_cast<size_t>(columns[ranks.rank()]);
      std::vector<float> part, all(rows * 6);
      for (size_t row = 0; row < rows; ++row)
        for (size_t i = 0; i < own; ++i)
          part.push_back(
              static_cast<float>(100 * row + first[ranks.rank()] + i));
      CollectiveScratch scratch;
      GIST_TRY(allGather(ranks, part, columns, all, scratch));
      for (size_t row = 0; row < rows; ++row)
        for (size_t i = 0; i < 6; ++i)
          if (all[row * 6 + i] != static_cast<float>(100 * row + i))
            return Status::error(Code::Io, "row %zu column %zu", row, i);
      return {};
    }));
}

TEST(Ranks, MessagesOfAllSizes) {
  for (size_t size :
       {size_t{0}, size_t{1}, size_t{120}, size_t{121}, size_t{100000}})
    expectOk(runRanks(3, [&](Communicator &ranks) -> Status {
      std::vector<uint8_t> expected(size), message;
      for (size_t i = 0; i < size; ++i)
        expected[i] = static_cast<uint8_t>(i * 31);
      if (ranks.rank() == 0)
        message = expected;
      GIST_TRY(broadcast(ranks, message, Patience::Bounded));
      return message == expected ? Status()
                                 : Status::error(Code::Io, "another message");
    }));
}

TEST(Ranks, OneThatIsMissingIsNamed) {
  std::vector<Status> results =
      runRanks(3,
               [](Communicator &ranks) -> Status {
                 if (ranks.rank() == 2)
                   std::this_thread::sleep_for(milliseconds(400));
                 return compareHashes(ranks, 1);
               },
               {.timeout = milliseconds(100)});
  for (const Status &status : results)
    EXPECT_EQ(status.text, "rank 2 has not answered for 100 ms");
}

TEST(Ranks, OneThatFailsIsNamed) {
  std::vector<Status> results = runRanks(3, [](Communicator &ranks) -> Status {
    if (ranks.rank() == 1) {
      Status status = Status::error(Code::OutOfMemory, "no memory");
      ranks.fail(status);
      return status;
    }
    std::vector<uint8_t> message(1);
    return broadcast(ranks, message, Patience::Endless);
  });
  EXPECT_EQ(results[0].text, "rank 1 cannot go on: no memory");
  EXPECT_EQ(results[2].text, "rank 1 cannot go on: no memory");
}

TEST(Ranks, OneThatDisagreesIsNamed) {
  std::vector<Status> results = runRanks(4, [](Communicator &ranks) {
    return compareHashes(ranks, ranks.rank() == 3 ? 8 : 7);
  });
  for (const Status &status : results)
    EXPECT_EQ(status.text, "rank 3 disagrees with rank 0: what they computed "
                           "together is not the same");
}

TEST(Ranks, SizesThatDisagreeAreAnError) {
  std::vector<Status> results = runRanks(2, [](Communicator &ranks) {
    std::vector<float> part(4 + ranks.rank()), sum(part.size());
    CollectiveScratch scratch;
    return allReduce(ranks, part, sum, scratch);
  });
  for (const Status &status : results)
    EXPECT_FALSE(status.ok());
}

//===----------------------------------------------------------------------===//
// Lifeline
//===----------------------------------------------------------------------===//

namespace {
/// Three ranks in one process that watch each other.
struct Lines {
  void open() {
    Meeting meeting;
    Status status = Lifeline::open(3, /*isLocal=*/true, meeting, lines[0]);
    ASSERT_TRUE(status.ok()) << status.text;
    for (uint32_t rank : {2U, 1U}) {
      status = Lifeline::connect(rank, meeting, lines[rank]);
      ASSERT_TRUE(status.ok()) << status.text;
    }
    status = lines[0]->accept();
    ASSERT_TRUE(status.ok()) << status.text;
    for (uint32_t rank : {0U, 1U, 2U})
      lines[rank]->start({}, &work[rank]);
  }

  /// Waits until the line of `rank` has failed.
  std::string failure(uint32_t rank) {
    for (int i = 0; i < 500 && !lines[rank]->hasFailed(); ++i)
      std::this_thread::sleep_for(milliseconds(10));
    return lines[rank]->hasFailed() ? lines[rank]->failure().text : "";
  }

  std::array<WorkWatch, 3> work; ///< outlives the lines
  std::array<std::unique_ptr<Lifeline>, 3> lines;
};
} // namespace

TEST(Lifeline, AnEndIsNoFailure) {
  Lines ranks;
  ranks.open();
  ranks.lines[1].reset();
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_FALSE(ranks.lines[0]->hasFailed());
  EXPECT_FALSE(ranks.lines[2]->hasFailed());
}

TEST(Lifeline, WhatOneReportsAllKnow) {
  Lines ranks;
  ranks.open();
  ranks.lines[2]->report("no memory");
  EXPECT_EQ(ranks.failure(0), "rank 2 cannot go on: no memory");
  EXPECT_EQ(ranks.failure(1), "rank 2 cannot go on: no memory");
}

// Each rank in turn does work whose count stands still, while another one's
// gets on for as long.
TEST(Lifeline, OneThatHangsIsNamed) {
  for (uint32_t stuck : {0U, 1U, 2U}) {
    Lines ranks;
    ranks.open();
    std::atomic<uint64_t> looks = 0;
    WorkWatch::Scope busy(
        ranks.work[(stuck + 1) % 3], [&] { return ++looks; }, milliseconds(50));
    WorkWatch::Scope hangs(
        ranks.work[stuck], [] { return 7; }, milliseconds(50));
    std::string sentence = "rank " + std::to_string(stuck) +
                           " hangs: its work has stood still for";
    for (uint32_t rank : {0U, 1U, 2U})
      EXPECT_EQ(ranks.failure(rank).substr(0, sentence.size()), sentence);
  }
}

// What is around is watched again when what is inside is over; between the two
// it had no time to get on.
TEST(WorkWatch, ScopesAreInsideEachOther) {
  WorkWatch work;
  EXPECT_EQ(work.hangsFor().count(), 0);
  WorkWatch::Scope outer(work, [] { return 1; }, milliseconds(20));
  {
    WorkWatch::Scope inner(work, [] { return 1; }, milliseconds(100000));
    work.hangsFor();
    std::this_thread::sleep_for(milliseconds(60));
    EXPECT_EQ(work.hangsFor().count(), 0);
  }
  EXPECT_EQ(work.hangsFor().count(), 0);
  std::this_thread::sleep_for(milliseconds(60));
  EXPECT_GT(work.hangsFor().count(), 20);
  work.restart();
  EXPECT_EQ(work.hangsFor().count(), 0);
}

TEST(Lifeline, StrangersAreTurnedAway) {
  Meeting meeting;
  std::unique_ptr<Lifeline> root, stranger, friendly;
  ASSERT_TRUE(Lifeline::open(2, /*isLocal=*/true, meeting, root).ok());
  Meeting wrong = meeting;
  ++wrong.secret[0];
  ASSERT_TRUE(Lifeline::connect(1, wrong, stranger).ok());
  ASSERT_TRUE(Lifeline::connect(1, meeting, friendly).ok());
  Status status = root->accept();
  EXPECT_TRUE(status.ok()) << status.text;
}

//===----------------------------------------------------------------------===//
// Cards
//===----------------------------------------------------------------------===//

/// What rank `rank` has asked of the stand-in.
static std::string fakeLog(int rank) {
  void *library = ::dlopen(GIST_TEST_FAKE_NCCL, RTLD_NOW);
  auto *log =
      reinterpret_cast<const char *(*)(int)>(::dlsym(library, "fakeNcclLog"));
  return log(rank);
}

// The calls that NCCL and RCCL get: ids are the same, sums are f32 (type 7, by
// 0), and columns of each rank go to their place in one group.
TEST(CardRanks, CallsOfBothLibraries) {
  for (const char *kind : {"cuda", "hip"}) {
    expectOk(runRanks(2, [&](Communicator &ranks) -> Status {
      ranks.cards = {.areUsed = true, .library = GIST_TEST_FAKE_NCCL};
      std::unique_ptr<CardRanks> cards;
      GIST_TRY(CardRanks::open(kind, ranks, cards));
      auto *stream = reinterpret_cast<void *>(0x99);
      GIST_TRY(cards->allReduce(0x1000, 0x2000, 576, stream));
      std::vector<int64_t> columns = {3, 5};
      GIST_TRY(cards->allGather(0x3000, columns, 0x4000, stream));
      return {};
    }));
    EXPECT_EQ(fakeLog(0),
              "init 0 of 2;"
              "sum 576 of type 7 by 0 from 0x1000 to 0x2000 in 0x99;"
              "grouped 3 of type 7 of 0 from 0x3000 to 0x4000 in 0x99;"
              "grouped 5 of type 7 of 1 from 0x400c to 0x400c in 0x99;"
              "destroy;");
    EXPECT_EQ(fakeLog(1),
              "init 1 of 2;"
              "sum 576 of type 7 by 0 from 0x1000 to 0x2000 in 0x99;"
              "grouped 3 of type 7 of 0 from 0x4000 to 0x4000 in 0x99;"
              "grouped 5 of type 7 of 1 from 0x3000 to 0x400c in 0x99;"
              "destroy;");
  }
}

// One rank without the library is enough for all to use the host, and no rank
// waits in ncclCommInitRank.
TEST(CardRanks, AllOrNone) {
  std::vector<Status> results = runRanks(3, [](Communicator &ranks) {
    ranks.cards = {.areUsed = true,
                   .library = ranks.rank() == 2 ? "/no/such/libnccl.so"
                                                : GIST_TEST_FAKE_NCCL};
    std::unique_ptr<CardRanks> cards;
    return CardRanks::open("cuda", ranks, cards);
  });
  for (const Status &status : results)
    EXPECT_EQ(status.code, Code::NotFound);
  EXPECT_EQ(results[0].text, "rank 2 cannot use the library");
  EXPECT_EQ(results[2].text,
            "NCCL was not found; looked for: /no/such/libnccl.so");
}

// A kernel of the library would wait for the card of a rank that is gone for
// ever, so it is given up; what is asked of it later is refused with the
// reason.
TEST(CardRanks, GivenUpWhenARankFails) {
  std::vector<Status> results = runRanks(2, [](Communicator &ranks) -> Status {
    ranks.cards = {.areUsed = true, .library = GIST_TEST_FAKE_NCCL};
    std::unique_ptr<CardRanks> cards;
    GIST_TRY(CardRanks::open("cuda", ranks, cards));
    if (ranks.rank() == 1)
      ranks.fail(Status::error(Code::Device, "the card has a fault"));
    for (int tries = 0; fakeLog(0) != "init 0 of 2;abort;" && tries < 500;
         ++tries)
      std::this_thread::sleep_for(milliseconds(10));
    return cards->allReduce(0x1000, 0x2000, 576, nullptr);
  });
  EXPECT_EQ(fakeLog(0), "init 0 of 2;abort;");
  EXPECT_EQ(results[0].text, "rank 1 cannot go on: the card has a fault");
}

// What one rank hands on another gets; the rest keep their own.
TEST(Ranks, HandOn) {
  expectOk(runRanks(3, [](Communicator &ranks) -> Status {
    auto own = static_cast<float>(ranks.rank());
    std::vector<float> part(5, own), result(5, -1);
    GIST_TRY(handOn(ranks, 2, 0, part, result));
    EXPECT_EQ(result, std::vector<float>(5, own == 0 ? 2 : own));
    return {};
  }));
}
