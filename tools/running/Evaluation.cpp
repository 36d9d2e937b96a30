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

#include "runtime/device/CpuTopology.h"
#include "runtime/device/ThreadPool.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <string>

using namespace gist;
using namespace gist::run;

/// log of the sum of exponentials, without overflow.
static double logSumExp(std::span<const float> logits, double largest) {
  double sum = 0;
  for (float logit : logits)
    sum += std::exp(logit - largest);
  return largest + std::log(sum);
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

/// KL(reference || model): how many nats are lost by believing the model where
/// the reference is right. With q = e / sum of e it is
///
///   sum of q (other - logits) + normalizer - otherNormalizer
///
/// so that each exponential serves the normalizer and the divergence.
void Comparison::addDivergence(std::span<const float> logits, double normalizer,
                               std::span<const float> other, double largest,
                               int32_t next) {
  double sum = 0, above = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    double x = other[i], e = std::exp(x - largest);
    sum += e;
    if (e > 0) // 0 times anything is 0 here
      above += e * (x - logits[i]);
  }
  double otherNormalizer = largest + std::log(sum);
  referenceNll += otherNormalizer - static_cast<double>(other[next]);
  double divergence = above / sum + (normalizer - otherNormalizer);
  kl += divergence;
  klMax = std::max(klMax, divergence);
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
  addDistance(logits, other);
  addDivergence(logits, normalizer, other, *otherBest, next);
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
}

void Comparison::addRows(std::span<const float> logits,
                         std::span<const float> other,
                         std::span<const int32_t> next, ThreadPool &pool) {
  if (next.empty())
    return;
  struct Rows {
    std::span<const float> logits, other;
    std::span<const int32_t> next;
    std::vector<Comparison> results;
    std::atomic<size_t> taken = 0;
  };
  Rows rows{logits, other, next, std::vector<Comparison>(next.size())};
  auto addTaken = [](void *context, unsigned) {
    Rows &rows = *static_cast<Rows *>(context);
    size_t width = rows.logits.size() / rows.next.size();
    size_t i = 0;
    while ((i = rows.taken.fetch_add(1)) < rows.next.size())
      rows.results[i].add(rows.logits.subspan(i * width, width),
                          rows.other.empty()
                              ? rows.other
                              : rows.other.subspan(i * width, width),
                          rows.next[i]);
  };
  pool.run(addTaken, &rows,
           static_cast<unsigned>(std::min<size_t>(next.size(), pool.size())));
  // In the order of the rows, whichever thread was ready first.
  for (const Comparison &row : rows.results)
    *this += row;
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

/// Rows of a large vocabulary come a few at a time: more threads than these
/// would find none.
static constexpr size_t kMaxThreads = 32;

Evaluator::Evaluator(Runner &model, Runner *reference)
    : model(model), reference(reference) {
  CpuTopology topology = readTopology(allowedCpus());
  size_t threads = model.threads() != 0
                       ? model.threads()
                       : std::max<size_t>(topology.cores.size(), 1);
  auto count = static_cast<unsigned>(std::min(threads, kMaxThreads));
  pool = std::make_unique<ThreadPool>(count, placeThreads(topology, count));
}

Evaluator::~Evaluator() = default;

/// A decoder is fed up to `start` and then scored token by token. A module that
/// sees whole sequences gives all logits in one call.
Status Evaluator::begin(Runner &runner, std::span<const int32_t> fed,
                        size_t start, std::vector<uint8_t> &whole) {
  Session &session = *runner.session;
  GIST_TRY(session.reset());
  Stopwatch &clock = getClock(runner);
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

/// Logits of a row: of those in `whole`, for `count` tokens, or of the
/// session's.
static size_t getWidth(const Runner &runner, const std::vector<uint8_t> &whole,
                       size_t count) {
  return whole.empty()
             ? static_cast<size_t>(runner.module->spec().model.vocabSize)
             : whole.size() / sizeof(float) / count;
}

Status Evaluator::eachRows(Runner &runner, const std::vector<uint8_t> &whole,
                           std::span<const int32_t> fed, size_t from,
                           size_t count, const Session::RowsSink &sink) {
  if (!whole.empty()) {
    size_t width = getWidth(runner, whole, fed.size());
    auto *rows = reinterpret_cast<const float *>(whole.data());
    return sink(0, {rows + from * width, count * width});
  }
  Stopwatch &clock = getClock(runner);
  clock.start();
  GIST_TRY(runner.session->scoreRows(
      fed.subspan(from, count),
      [&](size_t first, std::span<const float> rows) -> Status {
        // Only the model's own time counts, not the comparison.
        clock.stop();
        GIST_TRY(sink(first, rows));
        clock.start();
        return {};
      }));
  clock.stop();
  return {};
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
  // What follows the last token is unknown.
  std::span<const int32_t> fed(all.data(), all.size() - 1);

  std::vector<uint8_t> whole, wholeReference;
  GIST_TRY(begin(model, fed, start, whole));
  if (reference)
    GIST_TRY(begin(*reference, fed, start, wholeReference));
  size_t width = getWidth(model, whole, fed.size());
  if (reference && getWidth(*reference, wholeReference, fed.size()) != width)
    return Status::error(Code::BadArgument,
                         "the modules have different vocabularies");
  std::span<const int32_t> targets = std::span(all).subspan(1);
  // In pieces, so that only a few rows of logits are in memory.
  constexpr size_t kPiece = 32;
  for (size_t from = start; from < fed.size(); from += kPiece) {
    auto compare = [&](size_t first, std::span<const float> rows) -> Status {
      size_t begin = from + first, numRows = rows.size() / width;
      if (!reference) {
        result.addRows(rows, {}, targets.subspan(begin, numRows), *pool);
        return {};
      }
      // The rows stay where they are until the reference has its own.
      return eachRows(
          *reference, wholeReference, fed, begin, numRows,
          [&](size_t next, std::span<const float> others) {
            result.addRows(rows.subspan(next * width, others.size()), others,
                           targets.subspan(begin + next, others.size() / width),
                           *pool);
            return Status();
          });
    };
    GIST_TRY(eachRows(model, whole, fed, from,
                      std::min(kPiece, fed.size() - from), compare));
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
