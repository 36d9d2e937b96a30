//===- Sample.cpp - One question of a wanted length -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tasks/Sample.h"

#include "runtime/support/Hash.h"
#include "runtime/support/TextBytes.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <cmath>

using namespace gist;
using namespace gist::tasks;

size_t Sample::countTokens() const {
  size_t count = 0;
  for (const TurnTokens &part : parts)
    count += part.text.size() + part.question.size() + part.target.size();
  return count;
}

std::vector<int32_t> Sample::join(std::vector<bool> *areAnswers) const {
  std::vector<int32_t> tokens;
  for (const TurnTokens &turn : parts)
    for (const auto *part : {&turn.text, &turn.question, &turn.target}) {
      tokens.insert(tokens.end(), part->begin(), part->end());
      if (areAnswers)
        areAnswers->resize(tokens.size(), part == &turn.target);
    }
  return tokens;
}

/// What looks like a special token in a text stays text.
static void encode(const Tokenizer &tokenizer, Sample &sample) {
  sample.parts.clear();
  for (const Turn &turn : sample.turns) {
    TurnTokens &part = sample.parts.emplace_back();
    bool isFirst = sample.parts.size() == 1;
    if (isFirst)
      part.text.assign(tokenizer.spec().prefix.begin(),
                       tokenizer.spec().prefix.end());
    EncodeOptions goesOn = {
        .addSpecial = false, .parseSpecial = false, .continuesText = true};
    EncodeOptions first = goesOn;
    first.continuesText = !isFirst;
    tokenizer.encode(turn.text, part.text, first);
    tokenizer.encode(turn.question, part.question, goesOn);
    tokenizer.encode(turn.target, part.target, goesOn);
  }
}

Status tasks::makeSample(const Tokenizer &tokenizer, const Task &task,
                         const Filler &filler, const SampleOptions &options,
                         size_t number, Sample &sample) {
  std::string name = std::string(task.name) + "/" +
                     std::to_string(options.seed) + "/" +
                     std::to_string(number);
  uint64_t seed = hashBytes(bytesOf(name));
  auto make = [&](size_t units) {
    Random random(seed);
    Sample made{&task, number, task.make(random, filler, units), {}};
    encode(tokenizer, made);
    return made;
  };
  auto room = static_cast<double>(options.length) - kMoreTokens;
  auto sizeOf = [](const Sample &made) {
    return static_cast<double>(made.countTokens());
  };
  // Two short ones say how many tokens a unit has.
  constexpr size_t kShort = 16, kLonger = 64;
  double few = sizeOf(make(kShort)), more = sizeOf(make(kLonger));
  double ofUnit = std::max((more - few) / (kLonger - kShort), 0.1);
  auto units =
      static_cast<int64_t>(static_cast<double>(kShort) + (room - few) / ofUnit);
  bool isFound = false;
  constexpr int kTimes = 6;
  for (int i = 0; i < kTimes; ++i) {
    units = std::max<int64_t>(units, 1);
    Sample made = make(static_cast<size_t>(units));
    double left = room - sizeOf(made);
    if (left >= 0 && (!isFound || sizeOf(made) > sizeOf(sample))) {
      sample = std::move(made);
      isFound = true;
    }
    // Within two units of the length, or of a hundredth of it.
    if (left >= 0 && left < std::max(2 * ofUnit, room / 100))
      break;
    if (left < 0 && units == 1)
      break;
    units += static_cast<int64_t>(std::floor(left / ofUnit));
  }
  if (isFound)
    return {};
  return Status::error(
      Code::BadArgument,
      "a sample of '%s' does not fit %lld tokens; the shortest has %zu",
      task.name, static_cast<long long>(options.length),
      make(1).countTokens() + kMoreTokens);
}

std::string tasks::printSample(const Sample &sample,
                               const SampleOptions &options) {
  nlohmann::json turns = nlohmann::json::array();
  for (size_t i = 0; i < sample.turns.size(); ++i) {
    const Turn &turn = sample.turns[i];
    const TurnTokens &part = sample.parts[i];
    turns.push_back({{"text", turn.text},
                     {"question", turn.question},
                     {"target", turn.target},
                     {"answers", turn.answers},
                     {"text_tokens", part.text},
                     {"question_tokens", part.question},
                     {"target_tokens", part.target}});
  }
  nlohmann::json json = {{"task", sample.task->name},
                         {"seed", options.seed},
                         {"number", sample.number},
                         {"tokens", sample.countTokens()},
                         {"turns", turns}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
