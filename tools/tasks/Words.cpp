//===- Words.cpp - Words to count -----------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tasks/Task.h"

#include <algorithm>
#include <cmath>

using namespace gist::tasks;

/// Ten words make up two fifths of a list, each as often as the others; all
/// others are much rarer.
Turns gist::tasks::makeCommonWords(Random &random, const Filler &,
                                   size_t units) {
  constexpr size_t kCommon = 10;
  std::vector<std::string> words;
  for (std::string_view word : plainNouns())
    words.emplace_back(word);
  for (std::string_view word : plainAdjectives())
    words.emplace_back(word);
  random.shuffle(words);
  std::vector<std::string> list;
  // At least twice, so that a short list has an answer too.
  size_t times = std::max<size_t>(units / 25, 2);
  for (size_t i = 0; i < kCommon; ++i)
    list.insert(list.end(), times, words[i]);
  // The others take turns.
  for (size_t i = 0; list.size() < units; ++i)
    list.push_back(words[kCommon + i % (words.size() - kCommon)]);
  random.shuffle(list);
  std::string text = "The following is a list of words, in which some appear "
                     "more often than others.\n\n";
  std::vector<std::string> answers;
  auto isCommon = [&](const std::string &word) {
    return std::find(words.begin(), words.begin() + kCommon, word) !=
           words.begin() + kCommon;
  };
  for (size_t i = 0; i < list.size(); ++i) {
    text += std::to_string(i + 1) + ". " + list[i] + " ";
    // In the order in which they come: an answer needs some order.
    if (isCommon(list[i]) &&
        std::find(answers.begin(), answers.end(), list[i]) == answers.end())
      answers.push_back(list[i]);
  }
  return {{text,
           "\n\nQuestion: What are the ten most common words of the "
           "list?\nAnswer: The ten most common words of the list are",
           " " + join(answers), answers}};
}

/// Six letters, in syllables.
static std::string makeWord(Random &random) {
  static constexpr std::string_view kConsonants = "bdfghklmnprstvz",
                                    kVowels = "aeiou";
  std::string word;
  for (int i = 0; i < 3; ++i) {
    word += kConsonants[random.below(kConsonants.size())];
    word += kVowels[random.below(kVowels.size())];
  }
  return word;
}

/// How often words of natural text appear: the n-th falls with the square of
/// n + 1.
Turns gist::tasks::makeFrequentWords(Random &random, const Filler &,
                                     size_t units) {
  constexpr size_t kAsked = 3;
  std::vector<std::string> words, list;
  while (list.size() < units || words.size() < kAsked) {
    std::string word = makeWord(random);
    if (std::find(words.begin(), words.end(), word) != words.end())
      continue;
    auto rank = static_cast<double>(words.size() + 2);
    // The sum of all is pi^2 / 6 - 1.
    auto share = 1 / (rank * rank) / 0.6449;
    auto count = static_cast<size_t>(share * static_cast<double>(units));
    // The first are never equally frequent.
    count = std::max(count, words.size() < kAsked ? kAsked + 1 - words.size()
                                                  : size_t{1});
    words.push_back(word);
    list.insert(list.end(), count, word);
  }
  random.shuffle(list);
  std::string text = "The following is a text in a secret language. Count how "
                     "often each of its words appears.\n\n";
  for (const std::string &word : list)
    text += word + " ";
  words.resize(kAsked);
  return {{text,
           "\n\nQuestion: Which three words appear most often in the "
           "secret text?\nAnswer: The three words that appear most "
           "often are",
           " " + join(words), words}};
}
