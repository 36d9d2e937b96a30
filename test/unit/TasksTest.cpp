//===- TasksTest.cpp - Questions whose answers are known ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What samples say is checked by test/tools/gist-run-tasks.test, which answers
// them from their text alone.
//
//===----------------------------------------------------------------------===//

#include "tools/tasks/Scorer.h"
#include "tools/tasks/Summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace gist::tasks;

// The first numbers of SplitMix64 as its authors publish them.
TEST(Tasks, RandomNumbersAreThoseOfSplitMix64) {
  Random random(1234567);
  for (uint64_t expected :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
        4593380528125082431u, 16408922859458223821u})
    EXPECT_EQ(random.next(), expected);
}

TEST(Tasks, ShuffleKeepsAll) {
  std::vector<int> list;
  for (int i = 0; i < 50; ++i)
    list.push_back(i);
  std::vector<int> shuffled = list;
  Random(3).shuffle(shuffled);
  EXPECT_NE(shuffled, list);
  EXPECT_EQ(std::set<int>(shuffled.begin(), shuffled.end()).size(), 50u);
}

TEST(Tasks, WordsAreDifferent) {
  std::set<std::string_view> words;
  for (auto list : {plainNouns(), plainAdjectives()})
    for (std::string_view word : list) {
      EXPECT_TRUE(words.insert(word).second) << word;
      // None is found inside of an answer by chance: they are whole words.
      EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz"),
                word.npos);
    }
}

// Sentences end with a mark and a space; titles and scraps are left out.
TEST(Tasks, FillerOfText) {
  Filler filler("A title\n\nThe first sentence is\nhere, at last. No. And this "
                "is the second one! ");
  Random random(1);
  std::vector<std::string> found = filler.sentences(random, 4);
  EXPECT_EQ(std::set<std::string>(found.begin(), found.end()),
            (std::set<std::string>{"The first sentence is here, at last.",
                                   "And this is the second one!"}));
  EXPECT_EQ(found[0], found[2]); // From the beginning again.
}

TEST(Tasks, FillerOfNothingIsMade) {
  Random random(1);
  std::vector<std::string> made = Filler("no sentence").sentences(random, 200);
  // So many shapes and words that hardly two are alike.
  EXPECT_GT(std::set<std::string>(made.begin(), made.end()).size(), 195u);
}

TEST(Tasks, EveryTaskCanBeFound) {
  for (const Task &task : allTasks())
    EXPECT_EQ(findTask(task.name), &task);
  EXPECT_EQ(findTask("nothing"), nullptr);
}

TEST(Tasks, CountFound) {
  EXPECT_EQ(countFound(" 123 and abc", {"ABC", "123", "7"}), 2u);
  EXPECT_EQ(countFound("", {"a"}), 0u);
}

// Two samples of each of two tasks; the figures follow by hand.
TEST(Tasks, SummaryHasTheWorstFirst) {
  auto score = [](double log, size_t tokens, size_t found) {
    Score score;
    score.logLikelihood = log;
    score.tokens = tokens;
    score.asked = 2;
    score.found = found;
    return score;
  };
  const Task *needle = findTask("needle"), *pairs = findTask("key-values");
  std::vector<ScoredSample> samples = {
      {needle, 0, score(-2, 2, 2), score(-2, 2, 2)},
      {needle, 1, score(-4, 2, 1), score(-2, 2, 2)},
      {pairs, 0, score(-9, 3, 0), score(-6, 3, 0)},
      {pairs, 1, score(-9, 3, 0), score(-3, 3, 2)},
  };
  std::vector<TaskSummary> found = summarise(samples);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].task, "key-values");
  // Of a token: 1 and 2 nats lost, so 1.5 in the mean.
  EXPECT_NEAR(found[0].ratio(), std::exp(-1.5), 1e-12);
  EXPECT_EQ(found[0].right, 0u);
  EXPECT_EQ(found[0].againstRight, 1u);
  EXPECT_EQ(found[0].found, 0);
  EXPECT_NEAR(found[1].ratio(), std::exp(-0.5), 1e-12);
  EXPECT_EQ(found[1].right, 1u);
  EXPECT_EQ(found[1].found, 0.75);
  EXPECT_NEAR(found[1].log.value, -1.5, 1e-12);
}
