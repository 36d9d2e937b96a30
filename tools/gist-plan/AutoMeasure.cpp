//===- AutoMeasure.cpp - What `gist-plan auto` measures -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/DepthPlan.h"
#include "runtime/support/AtomicFile.h"
#include "tools/gist-plan/AutoPlan.h"
#include "tools/planning/Calibrator.h"
#include "tools/planning/Candidates.h"

#include <algorithm>
#include <cinttypes>
#include <filesystem>

using namespace gist;
using namespace gist::plan;
namespace fs = std::filesystem;

/// The texts of this program have four thousand tokens of most tokenizers.
int64_t AutoPlan::length() const {
  const int64_t kMost = 4096 - judged();
  // Behind a text there is room for its copy.
  int64_t room = hasCopies() ? options.context * 4 / 5 : options.context;
  int64_t longest = hasDepths() ? std::min({options.job.prompt, kMost,
                                            options.context - 2 * judged()})
                                : std::min(room, kMost + judged());
  // A text that is too short for a sequence would not be judged by.
  longest = std::min(longest, shortestText - (isWorthDepths ? judged() : 0));
  // A third of the time is for a search, which reads each text for every plan.
  constexpr double kPlans = 30;
  double sequences = kPlans * static_cast<double>(options.texts.size());
  int64_t fits =
      options.seconds > 0 && secondsOfToken > 0
          ? static_cast<int64_t>(options.seconds / secondsOfToken / sequences)
          : longest;
  constexpr int64_t kFewest = 512;
  return std::clamp(fits, std::min(kFewest, longest), longest);
}

Status AutoPlan::measureTimes() {
  begin("measuring what parts of the model take on this machine");
  run::ModelOptions measured = moduleOf(kDenseModule);
  measured.profile = true;
  run::Runner model;
  GIST_TRY(model.openWithTokenizer(measured));
  measured.path = file(kTrialModule);
  Prober trial;
  if (hasHeads())
    GIST_TRY(trial.open(measured));
  double flops = 0;
  GIST_TRY(run::productFlopsOfToken(*model.module, flops));
  // A prompt has one product with the output weight, and no token has another.
  const auto &known = model.module->spec().model;
  products = flops / 2 - static_cast<double>(known.embeddingSize) *
                             static_cast<double>(known.vocabSize);
  std::vector<int32_t> tokens;
  GIST_TRY(readTokens(pool.first(), file(kMixedFile), tokens));
  // Behind the prompt there is room for some tokens.
  constexpr int64_t kBehind = 16;
  tokens.resize(
      std::min(tokens.size(), static_cast<size_t>(options.context - kBehind)));
  constexpr double kSeconds = 30;
  double most =
      options.seconds > 0 ? std::min(kSeconds, options.seconds / 20) : kSeconds;
  GIST_TRY(measureRates(model, hasHeads() ? &trial : nullptr, products, shape(),
                        tokens, most, rates));
  dense = estimateJob(rates, products, shape(), options.job);
  secondsOfToken = dense.prompt / static_cast<double>(
                                      std::max<int64_t>(options.job.prompt, 1));
  double whole = dense.prompt + dense.answer,
         keys = whole - dense.promptProducts - dense.answerWeights;
  // Hardly more than half of the layers' work can be left out.
  double less = hasDepths() ? 0.5 * dense.promptProducts : 0;
  double ofKeys = keys;
  keys = hasHeads() ? keys : 0;
  JobTime time(options.job, shape(), rates.rates);
  double ofHead = 0, fewer = 0;
  bits = std::make_unique<BitsMenu>(*pool.first().model().session, source);
  if (hasBits() && bits->find()) {
    ofHead = time.ofWeights(static_cast<double>(bits->storedBytes()));
    fewer = ofHead - time.ofWeights(static_cast<double>(bits->fewestBytes()));
  }
  constexpr double kLeastGain = 1.01;
  isWorthHeads = whole / (whole - keys) > kLeastGain;
  isWorthDepths = whole / (whole - less) > kLeastGain;
  isWorthBits = whole / (whole - fewer) > kLeastGain;
  gain = whole / (whole - keys - (triesDepths() ? less : 0) - fewer);
  std::fprintf(
      stderr,
      "a prompt of %" PRId64 " tokens takes %.3g s, of which attention is "
      "%.0f %%; an answer of %" PRId64 " tokens takes %.3g s, of which the "
      "cache is %.0f %%\n",
      options.job.prompt, dense.prompt,
      100 * (1 - dense.promptProducts / dense.prompt), options.job.answer,
      dense.answer,
      100 * (1 - dense.answerWeights / std::max(dense.answer, 1e-9)));
  std::fprintf(stderr,
               "plans of heads could make the job at most %.2f times as fast, "
               "plans of depths hardly more than %.2f times",
               whole / (whole - keys), whole / (whole - less));
  if (fewer > 0)
    std::fprintf(stderr, ", an output weight in 4 bits %.2f times",
                 whole / (whole - fewer));
  std::fputc('\n', stderr);
  isWorthDepths &= triesDepths();
  if (isWorthDepths)
    checkDepths();
  rates.rates.rest = whole - (isWorthHeads ? ofKeys : 0) -
                     (isWorthDepths ? dense.promptProducts : 0) -
                     (isWorthBits ? ofHead : 0);
  costs = rates.rates;
  if (options.least == Objective::Memory) {
    costs = PartRates::ofMemory();
    isWorthHeads = true;
  }
  return {};
}

void AutoPlan::checkDepths() {
  if (options.choices == Choices::Depths || options.seconds <= 0)
    return;
  // A layer that is all kinds at once takes about twice as long, and a token to
  // fit with twice that.
  double kinds = 1.5 * static_cast<double>(depthModel.countLayers()),
         tokens =
             2 * kinds * (kLeastPrompt + 2 * kJudged) + 4 * fitTokensWanted,
         least = secondsFor((1 - kForSearch) * (1 - shareOfHeads()));
  isWorthDepths = tokens * secondsOfToken <= least;
  if (!isWorthDepths)
    std::fprintf(stderr,
                 "plans of depths need more time than --seconds %g leaves; "
                 "they are not searched\n",
                 options.seconds);
}

double AutoPlan::secondsOfComparison() const {
  // Prompts with and without the plan: for their speed, for that of what comes
  // behind them, and once for quality.
  double times = 2 * timesOfPrompt() + 1;
  return compileSeconds +
         2 * times * static_cast<double>(options.job.prompt) * secondsOfToken;
}

double AutoPlan::secondsOfEnd() const {
  // The model as it is and two plans, if the first does not keep the quality.
  // Each token is predicted, which takes longer than to read it.
  constexpr double kPredicted = 1.5;
  double tokens = 3 * kPredicted * static_cast<double>(heldOut.countTokens());
  // On a slow machine the plan is worth more than its comparison.
  return std::min(secondsOfComparison() + tokens * secondsOfToken,
                  0.45 * std::max(limit.left(), 0.0));
}

/// What heads may do in sequences of `tokens`: windows of a sixteenth of a
/// prompt and more, and clusters behind the smallest.
static std::vector<HeadChoice> makeCandidates(int64_t prompt, int64_t tokens,
                                              int64_t block) {
  constexpr int64_t kPart = 16, kSequence = 4;
  // Half of a sequence is text, of which a window must not be most.
  int64_t most = tokens / (kSequence * block),
          least = std::clamp<int64_t>(
              (prompt + kPart * block / 2) / (kPart * block), 1, most);
  std::vector<HeadChoice> result;
  for (int64_t blocks : {least, 2 * least, 4 * least})
    if (blocks <= most)
      result.push_back({.kind = HeadKind::Window,
                        .window = blocks * block,
                        .sinks = std::min<int64_t>(4, block)});
  for (double theta : {0.7, 0.8, 0.9})
    result.push_back({.kind = HeadKind::Clusters,
                      .window = least * block,
                      .theta = theta,
                      .room = 1});
  return result;
}

/// The most tokens that a sequence, a text and its copy, can have.
Status AutoPlan::findLongest(int64_t &tokens) {
  std::vector<int32_t> text;
  GIST_TRY(readTokens(pool.first(), file(kMixedFile), text));
  tokens = std::min(2 * static_cast<int64_t>(text.size()),
                    pool.first().module().context);
  return {};
}

Status AutoPlan::measureHeads(double share) {
  CalibratorOptions calibrator;
  calibrator.model = moduleOf(kTrialModule);
  calibrator.texts = {file(kMixedFile)};
  calibrator.wantsSelections = false;
  calibrator.isByLayer = true;
  double seconds = secondsFor(share);
  constexpr int64_t kFewest = 8, kMost = 8192; // blocks, tokens
  constexpr int64_t kLonger = 3;
  // The longer sequence is shown and read once, the shorter one is read once
  // for each layer.
  auto fits = [&](int64_t tokens) {
    constexpr double kShown = 3;
    const double kPlanned = triesDepths() ? 2.5 : 1.4;
    auto timeOf = [&](int64_t read) {
      return kPlanned * estimateJob(rates, products, shape(), {read, 0}).prompt;
    };
    return seconds <= 0 ||
           (static_cast<double>(shape().layers) + kShown) * timeOf(tokens) +
                   kShown * timeOf(kLonger * tokens) <
               seconds;
  };
  int64_t pair = 2 * block(), most = 0;
  GIST_TRY(findLongest(most));
  most = std::min(most, kMost) / pair * pair;
  calibrator.runTokens = kFewest * block();
  while (calibrator.runTokens + pair <= most &&
         fits(calibrator.runTokens + pair))
    calibrator.runTokens += pair;
  calibrator.tokens = std::max(calibrator.runTokens,
                               std::min(kLonger * calibrator.runTokens, most));
  if (options.candidates.empty())
    calibrator.candidates =
        makeCandidates(options.job.prompt, calibrator.tokens, block());
  else
    GIST_TRY(readCandidates(options.candidates, calibrator.candidates));
  calibrator.output = file(kCalibrationFile);
  // A second run goes on with the sequences of the first.
  if (Calibration old; fs::is_regular_file(calibrator.output) &&
                       readCalibration(calibrator.output, old).ok()) {
    // Measurements of another length could not be used together with the old.
    calibrator.tokens = old.tokens;
    calibrator.runTokens = std::min(calibrator.runTokens, old.tokens);
    if (options.candidates.empty())
      calibrator.candidates = old.candidates;
  }
  run::Limit part(seconds);
  Calibrator measuring(calibrator, part);
  GIST_TRY(measuring.run());
  std::fprintf(stderr, "heads: %zu of %zu measurements%s\n",
               measuring.countDone(), measuring.countAll(),
               measuring.isComplete() ? "" : "; more time would measure more");
  GIST_TRY(readCalibration(calibrator.output, calibration));
  heads = std::make_unique<HeadMenu>(
      calibration, pool.first().module(),
      // Sequences are short, and rows are in 8 bits on CPUs: single means
      // scatter.
      HeadMenuOptions{.caution = 0.5, .hasOtherTexts = true});
  return heads->check(pool.first().model().module->spec().model.name);
}

Status AutoPlan::addQuestions(uint64_t seed, int64_t tokens,
                              Contract &contract) {
  if (options.questions == 0 || options.search.promise.tasks <= 0)
    return {};
  return contract.addTasks(pool,
                           {options.questions, seed, tokens, /*isEach=*/false});
}

/// Prompts are as long as lets two kinds of each layer be measured in half of
/// the time.
Status AutoPlan::openKindTerms(double seconds) {
  int64_t tokens = length();
  if (seconds > 0) {
    double kinds = 2.0 * static_cast<double>(depthModel.countLayers());
    auto fits = static_cast<int64_t>(0.5 * seconds / (kinds * secondsOfToken));
    tokens =
        std::clamp(fits - 2 * kJudged, std::min(kLeastPrompt, tokens), tokens);
  }
  std::vector<std::string> texts;
  for (const SplitText &text : splitTexts)
    texts.push_back(text.search);
  std::string path = file("search-mixed.txt");
  GIST_TRY(writeWhole(path, mixTexts(texts)));
  kindTerms.answer = kJudged;
  kindTerms.tokensOfTerm = kJudged;
  GIST_TRY(kindTerms.open(pool, {path}, {tokens}));
  return addQuestions(kSearchSeed, tokens, kindTerms);
}

Status AutoPlan::measureDepths(double share) {
  double seconds = secondsFor(share);
  // A token is read twice for its moments, which take as long again.
  constexpr double kReads = 4, kMostTokens = 65536;
  double most =
      options.seconds > 0
          ? std::min(0.3 * seconds / secondsOfToken / kReads, kMostTokens)
          : kMostTokens;
  FitOptions fit;
  fit.shareAlone = 1;
  fit.window = std::min<int64_t>(fit.window / 2, length());
  GIST_TRY(collectFitTokens(
      pool.first().model().tokenizer, splitTexts,
      {std::max<int64_t>(static_cast<int64_t>(most), 2 * fit.window),
       fit.window, options.search.promise.tasks > 0, 3},
      fitTokens));
  fitter = std::make_unique<DepthFitter>(depthModel, fitTokens, fit);
  run::Limit part(seconds);
  GIST_TRY(openKindTerms(seconds));
  pool.stopAt(part);
  GIST_TRY(depthModel.followNone());
  Status status = kindTerms.measureDense(pool);
  depths = std::make_unique<DepthMenu>(pool, depthModel, *fitter, kindTerms);
  constexpr int64_t kShares[] = {2, 4};
  if (status.ok())
    status = depths->measure(options.search.promise, kShares, part);
  GIST_TRY(depthModel.followNone());
  return part.hasStopped() ? Status() : status;
}

/// What the output weight reads of some texts, and what it loses in fewer bits.
Status AutoPlan::measureBits() {
  constexpr double kShare = 0.05;
  constexpr int64_t kWindow = 512, kFewest = 2 * kWindow, kMost = 4096;
  auto fits = static_cast<int64_t>(secondsFor(kShare) / secondsOfToken);
  std::vector<int32_t> tokens;
  GIST_TRY(collectFitTokens(
      pool.first().model().tokenizer, splitTexts,
      {options.seconds > 0 ? std::clamp(fits, kFewest, kMost) : kMost, kWindow,
       /*wantsQuestions=*/false, 3},
      tokens));
  if (triesDepths())
    GIST_TRY(depthModel.followNone());
  return bits->measure(tokens, file("bases.safetensors"));
}

Status AutoPlan::splitOwnTexts() {
  GIST_TRY(readSplitTexts(options.texts, length() + 2 * judged(), splitTexts));
  for (SplitText &text : splitTexts) {
    // Only maps are fitted so closely that other text has to judge them.
    if (!isWorthDepths)
      text.search = text.fit + text.search;
    std::vector<int32_t> tokens;
    pool.first().model().tokenizer.encode(text.search, tokens);
    shortestText = std::min(shortestText, static_cast<int64_t>(tokens.size()));
  }
  return {};
}

Status AutoPlan::openContract(bool isHeldOut, int64_t tokens,
                              Contract &contract) {
  contract.answer = isWorthDepths ? judged() : 0;
  contract.copied = hasCopies() ? std::min(judged(), tokens / 4) : 0;
  std::vector<std::string> paths = options.heldOut;
  if (!isHeldOut) {
    paths.clear();
    for (const SplitText &text : splitTexts) {
      // Texts of two folders may have one name.
      std::string name =
          "search-" + std::to_string(paths.size()) + "-" + text.name;
      paths.push_back(file(name.c_str()));
      GIST_TRY(writeWhole(paths.back(), text.search));
    }
  }
  contract.tokensOfTerm =
      isWorthDepths ? judged() * (isHeldOut ? 4 : 1) : tokens;
  return contract.open(pool, paths, {tokens});
}

/// Texts, and questions where there is time for them.
Status AutoPlan::openHeldOut() {
  GIST_TRY(openContract(/*isHeldOut=*/true, length(), heldOut));
  if (options.questions > 0) {
    heldOutTasks = {options.questions, kHeldOutSeed, length(),
                    /*isEach=*/false};
    return addQuestions(kHeldOutSeed, length(), heldOut);
  }
  constexpr size_t kQuestions = 9;
  double seconds =
      2 * kQuestions * static_cast<double>(length()) * secondsOfToken;
  constexpr double kMostShare = 0.15;
  if (options.search.promise.tasks <= 0 ||
      (options.seconds > 0 && seconds > kMostShare * options.seconds))
    return {};
  heldOutTasks = {kQuestions, kHeldOutSeed, length(), /*isEach=*/false};
  Contract trial;
  if (!trial.addTasks(pool, {1, 1, length(), true}).ok())
    heldOutTasks.samples = 0;
  return heldOutTasks.samples > 0 ? heldOut.addTasks(pool, heldOutTasks)
                                  : Status();
}
