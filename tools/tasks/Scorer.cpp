//===- Scorer.cpp - What a model answers ----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tasks/Scorer.h"

#include <algorithm>
#include <cctype>
#include <cmath>

using namespace gist;
using namespace gist::tasks;

/// log of the probability of a token.
static double logOf(std::span<const float> logits, int32_t token) {
  float largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float logit : logits)
    sum += std::exp(static_cast<double>(logit - largest));
  return static_cast<double>(logits[static_cast<size_t>(token)] - largest) -
         std::log(sum);
}

/// Of equal logits the first counts.
static int32_t bestOf(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) -
                              logits.begin());
}

static std::string lower(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

size_t tasks::countFound(std::string_view text,
                         const std::vector<std::string> &answers) {
  std::string all = lower(text);
  return static_cast<size_t>(
      std::count_if(answers.begin(), answers.end(), [&](const auto &answer) {
        return all.find(lower(answer)) != std::string::npos;
      }));
}

bool Scorer::isEnd(int32_t token) const {
  const std::vector<int64_t> &stops = runner.module->spec().model.stopTokens;
  return runner.tokenizer.isStop(token) ||
         std::find(stops.begin(), stops.end(), token) != stops.end() ||
         runner.tokenizer.tokenText(token).find('\n') != std::string::npos;
}

/// The session that `current` is not. Made when a model errs for the first
/// time.
Status Scorer::spare(Session *&result) {
  if (current != runner.session.get()) {
    result = runner.session.get();
    return {};
  }
  if (!other) {
    SessionOptions options;
    options.context = runner.session->capacity();
    options.trust = true; // The first session runs the same module.
    GIST_TRY(Session::create(runner.module, *runner.device, options, other)
                 .in(runner.path()));
  }
  result = other.get();
  return {};
}

/// The most likely tokens from `token` on.
Status Scorer::writeOn(Session &session, int32_t token, size_t most,
                       std::vector<int32_t> &written) {
  for (size_t i = 0; i < most && !isEnd(token); ++i) {
    written.push_back(token);
    if (session.position() == session.capacity())
      break;
    GIST_TRY(session.feed({&token, 1}));
    token = bestOf(session.logits());
  }
  return {};
}

/// Writes as the model would while that is the right answer. Where it is not,
/// two sessions part: one goes on as the model would, the other with what is
/// right. So the text before is read once.
Status Scorer::answer(const TurnTokens &turn, Score &score,
                      std::vector<int32_t> &written) {
  std::vector<int32_t> prompt = turn.text;
  prompt.insert(prompt.end(), turn.question.begin(), turn.question.end());
  GIST_TRY(current->feed(prompt));
  const std::vector<int32_t> &target = turn.target;
  score.tokens += target.size();
  for (size_t i = 0; i < target.size(); ++i) {
    score.logLikelihood += logOf(current->logits(), target[i]);
    int32_t best = bestOf(current->logits());
    if (best == target[i]) {
      written.push_back(best);
      GIST_TRY(current->feed({&best, 1}));
      continue;
    }
    Session *right = nullptr;
    GIST_TRY(spare(right));
    GIST_TRY(right->takeState(*current));
    GIST_TRY(writeOn(*current, best, target.size() - i + kMoreTokens, written));
    current = right;
    // The logits after the last token are not used, but the next turn needs all
    // tokens.
    for (size_t j = i; j < target.size(); ++j) {
      GIST_TRY(current->feed({&target[j], 1}));
      if (j + 1 < target.size())
        score.logLikelihood += logOf(current->logits(), target[j + 1]);
    }
    return {};
  }
  return {};
}

Status Scorer::score(const Sample &sample, Score &score) {
  score = {};
  current = runner.session.get();
  GIST_TRY(current->reset());
  for (size_t i = 0; i < sample.parts.size(); ++i) {
    std::vector<int32_t> written;
    GIST_TRY(answer(sample.parts[i], score, written));
    score.written.push_back(runner.tokenizer.decode(written));
    score.asked += sample.turns[i].answers.size();
    score.found += countFound(score.written.back(), sample.turns[i].answers);
  }
  if (std::isfinite(score.logLikelihood))
    return {};
  return Status::error(Code::BadArgument,
                       "the model's predictions are not finite numbers");
}
