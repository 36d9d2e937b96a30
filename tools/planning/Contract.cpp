//===- Contract.cpp - What a plan must keep, measured ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Contract.h"

#include "tools/running/Embedding.h"
#include "tools/tasks/Sample.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <filesystem>

using namespace gist;
using namespace gist::plan;

/// How many sequences of `length` a term is measured on, if the text has as
/// many: a single short one is too noisy, and long ones take time.
static size_t countSequences(size_t length, int64_t tokens) {
  constexpr size_t kMost = 8;
  return std::clamp<size_t>(static_cast<size_t>(tokens) / length, 1, kMost);
}

Attempt::Attempt(const Plan &heads, bool isWhole)
    // The printed plan is the same for the same plan, whatever its file.
    : name(isWhole && !heads.layers.empty() ? printPlan(heads) : ""),
      run([heads, isWhole](Prober &prober, std::span<const int32_t> tokens,
                           size_t firstCounted, ProbeRun &result) {
        Session &session = *prober.model().session;
        session.readWhole(isWhole);
        if (heads.layers.empty()) {
          GIST_TRY(session.reset());
          return prober.predict(tokens, firstCounted, result.losses);
        }
        int64_t end[] = {static_cast<int64_t>(tokens.size())};
        return prober.run(heads, tokens, end, result, firstCounted);
      }) {}

Attempt::Attempt(std::vector<double> taus)
    : run([taus](Prober &prober, std::span<const int32_t> tokens, size_t,
                 ProbeRun &result) {
        return prober.embed(taus, tokens, result);
      }) {}

Status Contract::open(ProbePool &pool, const std::vector<std::string> &texts,
                      const std::vector<int64_t> &lengths) {
  paths = texts;
  for (size_t text = 0; text < texts.size(); ++text) {
    std::vector<int32_t> tokens;
    GIST_TRY(readTokens(pool.first(), texts[text], tokens));
    size_t before = list.size();
    for (int64_t length : lengths)
      if (pool.first().countTaus() > 0)
        addPieces(text, tokens, length, pool.first().model().tokenizer.spec());
      else if (answer == 0 && copied == 0)
        addTexts(text, tokens, length);
      else
        addWithCopy(text, tokens, length);
    if (list.size() == before)
      return Status::error(
          Code::BadArgument,
          "%s: the text has %zu tokens, which is too few for any sequence",
          texts[text].c_str(), tokens.size());
  }
  return {};
}

void Contract::addTexts(size_t text, std::span<const int32_t> tokens,
                        int64_t length) {
  for (TermKind kind : {TermKind::Perplexity, TermKind::Recall}) {
    auto count = static_cast<size_t>(length);
    bool isRecall = kind == TermKind::Recall;
    // A recall sequence is half as much text, twice.
    size_t taken = isRecall ? count / 2 : count;
    // Sequences do not overlap, so that each says something of its own.
    size_t fit =
        std::min(tokens.size() / taken, countSequences(count, tokensOfTerm));
    if (fit == 0)
      continue;
    list.push_back({text, length, kind});
    for (size_t i = 0; i < fit; ++i) {
      std::span<const int32_t> piece = tokens.subspan(i * taken, taken);
      Window window{isRecall ? repeatHalf(tokens, i * taken, count)
                             : std::vector(piece.begin(), piece.end()),
                    {}};
      window.kind = letterOf(kind);
      // Nothing predicts the very first token, and recall is about the second
      // copy.
      window.count(isRecall ? window.tokens.size() / 2 : 1,
                   window.tokens.size(), list.size() - 1);
      windows.push_back(std::move(window));
    }
  }
}

void Contract::addWithCopy(size_t text, std::span<const int32_t> tokens,
                           int64_t length) {
  auto all = static_cast<size_t>(length);
  // Without a prompt, all of the text counts.
  size_t prompt = answer > 0 ? all : 0, judged = answer > 0 ? answer : all,
         taken = prompt + judged;
  size_t fit =
      std::min(tokens.size() / taken, countSequences(judged, tokensOfTerm));
  if (fit == 0)
    return;
  list.push_back({text, length, TermKind::Perplexity});
  list.push_back({text, length, TermKind::Recall});
  for (size_t i = 0; i < fit; ++i) {
    std::span<const int32_t> piece = tokens.subspan(i * taken, taken);
    Window window{std::vector(piece.begin(), piece.end()), {}};
    std::span<const int32_t> again =
        piece.first(std::min(answer > 0 ? answer : copied, all));
    window.tokens.insert(window.tokens.end(), again.begin(), again.end());
    window.kind = answer > 0 ? 'a' : 'c';
    // Nothing predicts the very first token.
    window.count(std::max<size_t>(prompt, 1), taken, list.size() - 2);
    // What the first token of the copy is cannot be known.
    window.count(taken + 1, window.tokens.size(), list.size() - 1);
    windows.push_back(std::move(window));
  }
}

void Contract::addPieces(size_t text, std::span<const int32_t> tokens,
                         int64_t length, const TokenizerSpec &around) {
  size_t ends = around.prefix.size() + around.suffix.size();
  tokens = tokens.subspan(around.prefix.size());
  if (static_cast<size_t>(length) <= ends)
    return;
  // What is left after whole pieces is not used, unless it is all there is.
  size_t width = std::min(static_cast<size_t>(length) - ends, tokens.size());
  size_t fit =
      std::min(tokens.size() / width,
               countSequences(static_cast<size_t>(length), tokensOfTerm));
  list.push_back(
      {text, static_cast<int64_t>(width + ends), TermKind::Embedding});
  for (size_t i = 0; i < fit; ++i) {
    std::span<const int32_t> piece = tokens.subspan(i * width, width);
    Window window{{around.prefix.begin(), around.prefix.end()},
                  {0},
                  {list.size() - 1},
                  letterOf(TermKind::Embedding)};
    std::ranges::copy(piece, std::back_inserter(window.tokens));
    std::ranges::copy(around.suffix, std::back_inserter(window.tokens));
    windows.push_back(std::move(window));
  }
}

void Contract::Window::count(size_t begin, size_t end, size_t term) {
  // Losses of neighbouring tokens have to do with each other, those of long
  // stretches hardly.
  constexpr size_t kFewest = 32, kMostParts = 16;
  size_t counted = end - begin, first = termOf.size();
  size_t parts = std::clamp<size_t>(counted / kFewest, 1, kMostParts);
  partOf.resize(tokens.size(), -1);
  for (size_t i = 0; i < counted; ++i)
    partOf[begin + i] = static_cast<int>(first + i * parts / counted);
  termOf.resize(first + parts, term);
}

/// The tokens of the right answers count, and each sample is a part.
Status Contract::addTasks(ProbePool &pool, const TaskTerms &options) {
  const Tokenizer &tokenizer = pool.first().model().tokenizer;
  std::span<const tasks::Task> all = tasks::allTasks();
  tasks::SampleOptions samples{options.seed, options.length};
  tasks::Filler filler;
  size_t total = options.samples * (options.isEach ? all.size() : 1);
  for (size_t i = 0; i < total; ++i) {
    // One task after the other, or all of them in turns.
    size_t task = options.isEach ? i / options.samples : i % all.size();
    size_t number = options.isEach ? i % options.samples : i / all.size();
    if (options.isEach ? number == 0 : i == 0) {
      list.push_back({taskNames.size(), options.length, TermKind::Tasks,
                      options.isEach ? 1 : std::min(total, all.size())});
      taskNames.emplace_back(options.isEach ? all[task].name : "all tasks");
    }
    tasks::Sample sample;
    GIST_TRY(tasks::makeSample(tokenizer, all[task], filler, samples, number,
                               sample));
    Window window{{}, {}};
    window.termOf = {list.size() - 1};
    window.kind = letterOf(TermKind::Tasks);
    std::vector<bool> areAnswers;
    window.tokens = sample.join(&areAnswers);
    for (bool isAnswer : areAnswers)
      window.partOf.push_back(isAnswer ? 0 : -1);
    windows.push_back(std::move(window));
  }
  return {};
}

std::string Contract::title(const Term &term) const {
  return term.kind == TermKind::Tasks
             ? taskNames[term.text]
             : std::filesystem::path(paths[term.text]).filename().string();
}

size_t Contract::countTokens() const {
  size_t count = 0;
  for (const Window &window : windows)
    count += window.tokens.size();
  return count;
}

static double cosine(const std::vector<float> &a, const std::vector<float> &b) {
  double norms = std::sqrt(run::dotProduct(a, a) * run::dotProduct(b, b));
  return norms > 0 ? run::dotProduct(a, b) / norms : 0;
}

Status Contract::measureWindow(Prober &prober, const Attempt &attempt,
                               size_t number, WindowResult &result,
                               std::vector<float> &losses) const {
  const Window &window = windows[number];
  const AttentionShape &shape = prober.module().shape;
  std::string key;
  bool isKept = trials && !attempt.name.empty();
  if (isKept) {
    key = Trials::nameOf(attempt.name, window.tokens, window.kind);
    // A file of people may say anything.
    if (trials->find(key, result) &&
        result.losses.size() == window.termOf.size() &&
        result.clusters.size() == static_cast<size_t>(shape.heads()))
      return {};
    result = {};
  }
  ProbeRun run;
  auto counts = [](int part) { return part >= 0; };
  auto first = std::ranges::find_if(window.partOf, counts);
  GIST_TRY(attempt.run(prober, window.tokens,
                       static_cast<size_t>(first - window.partOf.begin()),
                       run));
  result.losses.resize(window.termOf.size());
  if (window.kind == letterOf(TermKind::Embedding)) {
    result.work = run.attention;
    // The model as it is comes first, and loses nothing.
    if (denseLosses.empty())
      losses = std::move(run.embedding);
    else
      result.losses.front() = 1 - cosine(run.embedding, denseLosses[number]);
    return {};
  }
  for (size_t t = 0; t < run.losses.size(); ++t)
    if (window.partOf[t] >= 0)
      result.losses[static_cast<size_t>(window.partOf[t])] +=
          static_cast<double>(run.losses[t]);
  // What a plan cannot change is left out of its work.
  for (size_t head = 0; head < static_cast<size_t>(shape.heads()); ++head)
    if (prober.module().isChosen(head))
      result.work += countMultiplyAdds(run.work.front()[head], shape);
  if (!run.clusters.empty())
    result.clusters = run.clusters.front();
  losses = std::move(run.losses);
  return isKept ? trials->add(key, result) : Status();
}

Status Contract::measure(ProbePool &pool, const Attempt &attempt,
                         Measurement &result) const {
  Measurement measured;
  GIST_TRY(measureTexts(pool, attempt, measured));
  GIST_TRY(askQuestions(pool, attempt, measured));
  result = std::move(measured);
  return {};
}

Measurement Contract::emptyMeasurement(ProbePool &pool) const {
  Measurement empty;
  empty.terms.resize(list.size());
  empty.clusters.resize(
      static_cast<size_t>(pool.first().module().shape.heads()));
  return empty;
}

Status Contract::measureTexts(ProbePool &pool, const Attempt &attempt,
                              Measurement &result) const {
  Measurement measured = emptyMeasurement(pool);
  GIST_TRY(addWindows(pool, attempt, /*areQuestions=*/false, measured));
  result = std::move(measured);
  return {};
}

Status Contract::askQuestions(ProbePool &pool, const Attempt &attempt,
                              Measurement &result) const {
  return addWindows(pool, attempt, /*areQuestions=*/true, result);
}

Status Contract::addWindows(ProbePool &pool, const Attempt &attempt,
                            bool areQuestions, Measurement &result,
                            TokenLosses *losses) const {
  std::vector<size_t> numbers;
  for (size_t i = 0; i < windows.size(); ++i)
    if ((windows[i].kind == letterOf(TermKind::Tasks)) == areQuestions)
      numbers.push_back(i);
  std::vector<WindowResult> runs(windows.size());
  TokenLosses ofTokens(windows.size());
  GIST_TRY(pool.forEach(numbers.size(), [&](Prober &prober, size_t i) {
    size_t number = numbers[i];
    GIST_TRY(
        measureWindow(prober, attempt, number, runs[number], ofTokens[number]));
    if (afterWindow)
      afterWindow();
    return Status();
  }));
  const AttentionShape &shape = pool.first().module().shape;
  Measurement measured = result;
  std::vector<double> dense(list.size());
  for (size_t i : numbers) {
    const Window &window = windows[i];
    std::vector<double> counts(window.termOf.size()),
        divergences(window.termOf.size());
    bool isKnown = i < denseLosses.size() && !denseLosses[i].empty() &&
                   !ofTokens[i].empty();
    for (size_t t = 0; t < window.partOf.size(); ++t) {
      if (window.partOf[t] < 0)
        continue;
      auto part = static_cast<size_t>(window.partOf[t]);
      counts[part] += 1;
      if (isKnown)
        divergences[part] += divergenceOf(
            static_cast<double>(ofTokens[i][t] - denseLosses[i][t]));
    }
    for (size_t part = 0; part < window.termOf.size(); ++part) {
      size_t term = window.termOf[part];
      TermResult &sum = measured.terms[term];
      // Each sample of a task weighs the same, and so does each token of text.
      double weight = list[term].kind == TermKind::Tasks ? 1 / counts[part] : 1;
      sum.loss += weight * runs[i].losses[part];
      sum.divergence += weight * divergences[part];
      sum.count += weight * counts[part];
      sum.parts.push_back(runs[i].losses[part] / counts[part]);
    }
    measured.terms[window.termOf.front()].work += runs[i].work;
    dense[window.termOf.front()] +=
        window.kind == letterOf(TermKind::Embedding)
            ? 1
            : static_cast<double>(pool.first().module().countChosen()) *
                  countMultiplyAdds(
                      denseWork(static_cast<int64_t>(window.tokens.size())),
                      shape);
    for (size_t head = 0; head < measured.clusters.size(); ++head)
      // The most of all windows: this becomes the room of a head.
      measured.clusters[head] =
          std::max(measured.clusters[head], runs[i].clusters[head]);
  }
  for (size_t k = 0; k < list.size(); ++k) {
    TermResult &term = measured.terms[k];
    bool isQuestion = list[k].kind == TermKind::Tasks;
    if (term.count == 0 || isQuestion != areQuestions)
      continue;
    term.loss /= term.count;
    term.divergence /= term.count;
    if (dense[k] > 0)
      term.work /= dense[k];
    if (!std::isfinite(term.loss))
      return Status::error(Code::BadArgument,
                           "%s: the model's predictions are not finite numbers",
                           title(list[k]).c_str());
  }
  if (losses)
    for (size_t i : numbers)
      (*losses)[i] = std::move(ofTokens[i]);
  result = std::move(measured);
  return {};
}

Status Contract::measureDense(ProbePool &pool) {
  size_t taus = pool.first().countTaus();
  Attempt asItIs = taus > 0 ? Attempt(std::vector<double>(taus))
                            : Attempt(makeDense(pool.first().module()));
  denseLosses.clear();
  Measurement measured = emptyMeasurement(pool);
  TokenLosses losses(windows.size());
  for (bool areQuestions : {false, true})
    GIST_TRY(addWindows(pool, asItIs, areQuestions, measured, &losses));
  dense = std::move(measured);
  denseLosses = std::move(losses);
  return {};
}

MeanLoss Contract::meanLoss(const Measurement &measured, size_t term) const {
  const TermResult &found = measured.terms[term];
  return {loss(measured, term), found.divergence, found.count};
}

run::Mean Contract::differences(const Measurement &measured,
                                size_t term) const {
  const std::vector<double> &now = measured.terms[term].parts,
                            &before = dense.terms[term].parts;
  std::vector<std::vector<double>> groups(list[term].tasks);
  for (size_t i = 0; i < now.size(); ++i)
    groups[i % groups.size()].push_back(now[i] - before[i]);
  std::vector<run::Mean> means;
  for (const std::vector<double> &group : groups)
    means.push_back(run::meanOf(group));
  return run::stratify(means);
}

double Contract::bound(const Measurement &measured, size_t term,
                       double confidence) const {
  run::Mean mean = differences(measured, term);
  double lost = loss(measured, term);
  // A single part has no scatter.
  return mean.count < 2 ? lost : lost + mean.upper(confidence) - mean.value;
}

double Contract::boundOfOthers(const Measurement &measured, size_t term,
                               double confidence) const {
  double own = bound(measured, term, confidence);
  std::vector<double> losses;
  for (size_t k = 0; k < list.size(); ++k)
    if (list[k].kind == list[term].kind && list[k].tokens == list[term].tokens)
      losses.push_back(loss(measured, k));
  if (losses.size() < 2 || list[term].kind == TermKind::Tasks)
    return own;
  return std::max(own, run::meanOf(losses).upperOfNext(confidence));
}

double Contract::densePerplexity(size_t term) const {
  return std::exp(dense.terms[term].loss);
}
