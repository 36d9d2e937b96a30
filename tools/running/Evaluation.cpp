//===- Evaluation.cpp - How well a model predicts a text ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Perplexity and comparisons of two modules, window by window.
//
//===----------------------------------------------------------------------===//

#include "tools/running/Evaluation.h"

#include <algorithm>
#include <map>
#include <string>

using namespace gist;
using namespace gist::run;

/// log of the sum of exponentials, without overflow.
static double logSumExp(std::span<const float> logits, float largest) {
  double sum = 0;
  for (float logit : logits)
    sum += std::exp(static_cast<double>(logit - largest));
  return static_cast<double>(largest) + std::log(sum);
}

/// A relative error of the whole row. It also shows what does not change the
/// order of tokens.
void Comparison::addDistance(std::span<const float> logits,
                             std::span<const float> other) {
  double difference = 0, length = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    double x = other[i], distance = static_cast<double>(logits[i]) - x;
    difference += distance * distance;
    length += x * x;
  }
  double here = length > 0 ? std::sqrt(difference / length) : 0;
  error += here;
  errorMax = std::max(errorMax, here);
}

void Comparison::add(std::span<const float> logits,
                     std::span<const float> other, int32_t next) {
  auto best = std::max_element(logits.begin(), logits.end());
  double normalizer = logSumExp(logits, *best);
  double loss = normalizer - static_cast<double>(logits[next]);
  ++count;
  nll += loss;
  nllSquares += loss * loss;
  // Of equal logits the first counts, on both sides.
  right += best - logits.begin() == next;
  if (other.empty())
    return;
  auto otherBest = std::max_element(other.begin(), other.end());
  double otherNormalizer = logSumExp(other, *otherBest);
  referenceNll += otherNormalizer - static_cast<double>(other[next]);
  addDistance(logits, other);
  if (best - logits.begin() == otherBest - other.begin()) {
    ++equal;
  } else {
    // The lead over the best of the others. `second` begins with what the model
    // chose, so that it is a token that is not the best.
    float second = other[best - logits.begin()];
    for (auto it = other.begin(); it != other.end(); ++it)
      if (it != otherBest)
        second = std::max(second, *it);
    lostLead = std::max(lostLead, static_cast<double>(*otherBest - second));
  }
  // KL(reference || model): how many nats are lost by believing the model where
  // the reference is right.
  double divergence = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    double logQ = static_cast<double>(other[i]) - otherNormalizer;
    double logP = static_cast<double>(logits[i]) - normalizer;
    double q = std::exp(logQ);
    if (q > 0) // 0 times anything is 0 here
      divergence += q * (logQ - logP);
  }
  kl += divergence;
  klMax = std::max(klMax, divergence);
}

Comparison &Comparison::operator+=(const Comparison &other) {
  count += other.count;
  nll += other.nll;
  nllSquares += other.nllSquares;
  referenceNll += other.referenceNll;
  right += other.right;
  equal += other.equal;
  kl += other.kl;
  klMax = std::max(klMax, other.klMax);
  error += other.error;
  errorMax = std::max(errorMax, other.errorMax);
  lostLead = std::max(lostLead, other.lostLead);
  return *this;
}

Spread run::spreadOf(const std::vector<Comparison> &windows,
                     double (Comparison::*of)() const) {
  Spread spread;
  auto count = static_cast<double>(windows.size());
  for (const Comparison &window : windows)
    spread.mean += (window.*of)() / count;
  double squares = 0;
  for (const Comparison &window : windows)
    squares += ((window.*of)() - spread.mean) * ((window.*of)() - spread.mean);
  if (windows.size() > 1)
    spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

/// A decoder is fed up to `start` and then scored token by token. A module that
/// sees whole sequences gives all logits in one call.
Status Evaluator::begin(Runner &runner, std::span<const int32_t> fed,
                        size_t start, std::vector<uint8_t> &whole) {
  Session &session = *runner.session;
  GIST_TRY(session.reset());
  Stopwatch &clock = &runner == &model ? watch : referenceWatch;
  clock.start();
  if (session.hasEntry(kEntryPrefill) || !session.hasEntry(kEntryScore)) {
    if (start != 0)
      GIST_TRY(session.feed(fed.first(start)));
    clock.stop();
    return {};
  }
  std::map<std::string, std::vector<uint8_t>> outputs;
  GIST_TRY(session.call(
      kEntryScore, {{kSymbolTokens, static_cast<int64_t>(fed.size())}},
      {{"tokens",
        {reinterpret_cast<const uint8_t *>(fed.data()), fed.size_bytes()}}},
      outputs));
  clock.stop();
  // The reference's calls are not counted.
  if (afterWhole && &runner == &model)
    afterWhole(session, static_cast<int64_t>(fed.size()));
  whole = std::move(outputs[std::string(kEntryScore) + "." + kTensorLogits]);
  if (whole.empty() || whole.size() % (fed.size() * sizeof(float)) != 0)
    return Status::error(
        Code::BadFile, "the module returned %zu bytes of logits for %zu tokens",
        whole.size(), fed.size());
  return {};
}

/// The logits after token `number` of `count`.
static std::span<const float> getRow(const std::vector<uint8_t> &logits,
                                     size_t number, size_t count) {
  size_t width = logits.size() / sizeof(float) / count;
  return {reinterpret_cast<const float *>(logits.data()) + number * width,
          width};
}

Status Evaluator::predict(std::span<const int32_t> tokens, size_t first,
                          Comparison &result) {
  // What the model was trained to see before any text (BOS); never predicted.
  std::vector<int32_t> all(model.tokenizer.spec().prefix.begin(),
                           model.tokenizer.spec().prefix.end());
  size_t prefix = all.size();
  all.insert(all.end(), tokens.begin(), tokens.end());
  // The logits after `all[i]` predict `all[i + 1]`; the first ones wanted are
  // those that predict token `first`, if there is anything before it.
  size_t start = std::max<size_t>(prefix + first, 1) - 1;
  // The last token predicts nothing that is known.
  std::span<const int32_t> fed(all.data(), all.size() - 1);

  std::vector<uint8_t> whole, wholeReference;
  GIST_TRY(begin(model, fed, start, whole));
  if (reference)
    GIST_TRY(begin(*reference, fed, start, wholeReference));
  // In pieces, so that only a few rows of the reference's logits are kept.
  constexpr size_t kPiece = 32;
  std::vector<float> kept;
  for (size_t from = start; from < fed.size(); from += kPiece) {
    auto piece = fed.subspan(from, std::min(kPiece, fed.size() - from));
    kept.clear();
    if (!wholeReference.empty())
      for (size_t i = 0; i < piece.size(); ++i) {
        std::span<const float> row =
            getRow(wholeReference, from + i, fed.size());
        kept.insert(kept.end(), row.begin(), row.end());
      }
    else if (reference) {
      referenceWatch.start();
      GIST_TRY(reference->session->score(
          piece, [&](size_t, std::span<const float> logits) {
            kept.insert(kept.end(), logits.begin(), logits.end());
            return Status();
          }));
      referenceWatch.stop();
    }
    auto compare = [&](size_t i, std::span<const float> logits) -> Status {
      std::span<const float> row;
      if (reference) {
        if (kept.size() != piece.size() * logits.size())
          return Status::error(Code::BadArgument,
                               "the modules have different vocabularies");
        row = std::span(kept).subspan(i * logits.size(), logits.size());
      }
      result.add(logits, row, all[from + i + 1]);
      return {};
    };
    if (whole.empty()) {
      watch.start();
      GIST_TRY(model.session->score(
          piece, [&](size_t i, std::span<const float> logits) -> Status {
            // Only the model's own time counts, not the comparison.
            watch.stop();
            GIST_TRY(compare(i, logits));
            watch.start();
            return {};
          }));
      watch.stop();
    }
    for (size_t i = 0; !whole.empty() && i < piece.size(); ++i)
      GIST_TRY(compare(i, getRow(whole, from + i, fed.size())));
  }
  return {};
}

Status Evaluator::windows(const std::vector<int32_t> &tokens, int64_t window,
                          int64_t stride, std::vector<Comparison> &results) {
  if (tokens.size() < 2)
    return Status::error(Code::BadArgument,
                         "a text of %zu tokens has nothing to predict",
                         tokens.size());
  // The prefix takes room of the window.
  // At least two tokens are left: one to see and one to predict.
  auto width = static_cast<size_t>(window) -
               std::min(static_cast<size_t>(window) - 2,
                        model.tokenizer.spec().prefix.size());
  size_t predicted = 0; // tokens before this one are done
  for (size_t begin = 0;; begin += static_cast<size_t>(stride)) {
    size_t end = std::min(begin + width, tokens.size());
    if (end > predicted) {
      auto seen = std::span(tokens).subspan(begin, end - begin);
      Comparison &result = results.emplace_back();
      // Tokens that an earlier window has predicted are only context here.
      GIST_TRY(predict(seen, predicted - begin, result));
      if (result.count == 0) // a first token that nothing predicts
        results.pop_back();
      if (afterWindow)
        GIST_TRY(afterWindow(seen));
    }
    predicted = end;
    if (end == tokens.size())
      return {};
  }
}

Status Evaluator::recall(const std::vector<int32_t> &tokens, int64_t count,
                         Comparison &result) {
  auto wanted = static_cast<size_t>(count);
  if (tokens.size() < wanted)
    return Status::error(
        Code::BadArgument,
        "the recall probe needs %zu tokens, but the text has %zu", wanted,
        tokens.size());
  std::vector<int32_t> twice(tokens.begin(),
                             tokens.begin() + static_cast<ptrdiff_t>(count));
  twice.insert(twice.end(), tokens.begin(),
               tokens.begin() + static_cast<ptrdiff_t>(count));
  return predict(twice, wanted, result);
}
