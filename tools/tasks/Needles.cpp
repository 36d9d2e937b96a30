//===- Needles.cpp - Numbers hidden in a long text ------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tasks/Task.h"

#include <algorithm>
#include <numeric>

using namespace gist::tasks;

static constexpr const char *kIntroduction =
    "Some special numbers are hidden in the following text. Remember them: "
    "there will be questions about them afterwards.\n\n";

/// "quiet-river"; the nouns of one sample differ.
static std::vector<std::string> makeKeys(Random &random, size_t count) {
  std::vector<std::string_view> nouns(plainNouns().begin(), plainNouns().end());
  random.shuffle(nouns);
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i)
    keys.push_back(
        std::string(random.choose<std::string_view>(plainAdjectives())) + "-" +
        std::string(nouns[i]));
  return keys;
}

/// Seven digits, the first of them not 0.
static std::string makeNumber(Random &random) {
  return std::to_string(1000000 + random.below(9000000));
}

static std::vector<std::string> makeNumbers(Random &random, size_t count) {
  std::vector<std::string> numbers;
  while (numbers.size() < count) {
    std::string number = makeNumber(random);
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end())
      numbers.push_back(number);
  }
  return numbers;
}

static std::string say(const std::string &key, const std::string &number) {
  return "The special number of " + key + " is " + number + ".";
}

/// The sentences with needles at random places among them, in their order.
static std::string hide(Random &random, std::vector<std::string> sentences,
                        const std::vector<std::string> &needles) {
  std::vector<size_t> places;
  for (size_t i = 0; i < needles.size(); ++i)
    places.push_back(random.below(sentences.size() + 1));
  std::sort(places.begin(), places.end());
  std::string text;
  size_t next = 0;
  for (size_t i = 0; i <= sentences.size(); ++i) {
    for (; next < needles.size() && places[next] == i; ++next)
      text += needles[next] + " ";
    if (i < sentences.size())
      text += sentences[i] + " ";
  }
  text.pop_back(); // a space
  return text;
}

static Turn ask(const std::string &text, const std::string &key,
                const std::string &number) {
  return {text,
          "\n\nQuestion: What is the special number of " + key +
              "?\nAnswer: The special number of " + key + " is",
          " " + number,
          {number}};
}

namespace {
/// Keys with a number each, and the needles that say so.
struct Facts {
  std::vector<std::string> keys, numbers, needles;

  Facts(Random &random, size_t count)
      : keys(makeKeys(random, count)), numbers(makeNumbers(random, count)) {
    for (size_t i = 0; i < count; ++i)
      needles.push_back(say(keys[i], numbers[i]));
  }
};
} // namespace

/// The order in which `count` facts are asked for.
static std::vector<size_t> makeOrder(Random &random, size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  random.shuffle(order);
  return order;
}

/// One of `count` needles is asked for.
static Turns makeOne(Random &random, const Filler &filler, size_t units,
                     size_t count) {
  auto [keys, numbers, needles] = Facts(random, count);
  size_t wanted = random.below(count);
  return {ask(kIntroduction +
                  hide(random, filler.sentences(random, units), needles),
              keys[wanted], numbers[wanted])};
}

Turns gist::tasks::makeNeedle(Random &random, const Filler &filler,
                              size_t units) {
  return makeOne(random, filler, units, 1);
}

Turns gist::tasks::makeNeedleOfKeys(Random &random, const Filler &filler,
                                    size_t units) {
  return makeOne(random, filler, units, 4);
}

Turns gist::tasks::makeNeedleValues(Random &random, const Filler &filler,
                                    size_t units) {
  constexpr size_t kValues = 4;
  std::string key = makeKeys(random, 1).front();
  std::vector<std::string> numbers = makeNumbers(random, kValues), needles;
  for (const std::string &number : numbers)
    needles.push_back("One special number of " + key + " is " + number + ".");
  return {
      {kIntroduction + hide(random, filler.sentences(random, units), needles),
       "\n\nQuestion: What are all the special numbers of " + key +
           "?\nAnswer: The special numbers of " + key + " are",
       " " + join(numbers), numbers}};
}

/// Asked in another order than that of the text.
Turns gist::tasks::makeNeedleQueries(Random &random, const Filler &filler,
                                     size_t units) {
  constexpr size_t kQueries = 4;
  auto [keys, numbers, needles] = Facts(random, kQueries);
  std::vector<size_t> order = makeOrder(random, kQueries);
  std::vector<std::string> askedKeys, answers;
  for (size_t i : order) {
    askedKeys.push_back(keys[i]);
    answers.push_back(numbers[i]);
  }
  std::string names = join(askedKeys, " and ");
  return {
      {kIntroduction + hide(random, filler.sentences(random, units), needles),
       "\n\nQuestion: What are the special numbers of " + names +
           "?\nAnswer: The special numbers of " + names +
           " are, in this order,",
       " " + join(answers), answers}};
}

/// All numbers are in the first half of the text. Questions come one after the
/// other with more text between them: when one is asked, its answer is far
/// outside every window.
Turns gist::tasks::makeTurns(Random &random, const Filler &filler,
                             size_t units) {
  constexpr size_t kTurns = 4;
  auto [keys, numbers, needles] = Facts(random, kTurns);
  std::vector<size_t> order = makeOrder(random, kTurns);
  std::vector<std::string> sentences = filler.sentences(random, units);
  size_t half = units / 2, part = (units - half) / kTurns;
  std::string text =
      kIntroduction + hide(random,
                           {sentences.begin(),
                            sentences.begin() + static_cast<ptrdiff_t>(half)},
                           needles);
  Turns turns;
  size_t next = half;
  for (size_t i = 0; i < kTurns; ++i) {
    size_t end = i + 1 == kTurns ? units : next + part;
    for (; next < end; ++next)
      text += " " + sentences[next];
    turns.push_back(ask(text, keys[order[i]], numbers[order[i]]));
    text = ".\n\n";
  }
  return turns;
}
