//===- Auto.cpp - gist-plan auto ------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan auto`: from a model to a plan in one command. It compiles a module
// to try plans in, measures what parts of the model take on this machine and
// what each head and layer loses alone, chooses what saves the most time of a
// job, certifies it, and compares the model with and without the plan. All
// steps share one limit of time. What heads lose stays in a folder, and a
// second run goes on from there.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/ModelSource.h"
#include "passes/Plan/File/PlanFile.h"
#include "runtime/format/Devices.h"
#include "runtime/module/Properties.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Json.h"
#include "tools/gist-plan/Commands.h"
#include "tools/gist-plan/ReportStep.h"
#include "tools/gist-plan/SharedOptions.h"
#include "tools/gist-plan/SideBySide.h"
#include "tools/planning/BuiltInTexts.h"
#include "tools/planning/Calibrator.h"
#include "tools/planning/Candidates.h"
#include "tools/planning/CertificateFile.h"
#include "tools/planning/FitTexts.h"
#include "tools/planning/MeasureRates.h"
#include "tools/planning/PlanFinder.h"
#include "tools/running/Compiler.h"

#include "nlohmann/json.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <filesystem>
#include <map>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// A plan, in the folder, and one that is not measured to pay.
static constexpr const char *kPlan = "plan.json", *kFinding = "finding.json";

namespace {
enum class Choices { All, Heads, Depths };
enum class Objective { Time, Memory };

struct AutoOptions {
  std::string model, folder, compiler, candidates;
  std::string device = kCpuDevice;
  unsigned threads = 0;
  SearchOptions search;
  Job job{0, 256};
  double seconds = 600;
  int64_t context = 0;
  Choices choices = Choices::All;
  Objective least = Objective::Time;
  std::vector<std::string> texts, heldOut;
};

class AutoPlan {
public:
  explicit AutoPlan(AutoOptions &options)
      : options(options), limit(options.seconds) {}

  Status run();

private:
  Status prepare();
  Status readModel();
  Status checkFolder();
  Status writeTexts();
  Status writeMixed();
  Status compileModules();
  Status openTrial();
  /// What parts of the model take, and what plans could save at most.
  Status measureTimes();
  /// Of the time in which losses are measured: each kind of choice gets some by
  /// what it can save.
  double shareOfHeads() const {
    double ofHeads = dense.prompt + dense.answer - dense.promptProducts -
                     dense.answerWeights,
           ofDepths = 0.5 * dense.promptProducts;
    return !isWorthHeads    ? 0
           : !isWorthDepths ? 1
                            : ofHeads / (ofHeads + ofDepths);
  }
  /// Whether there is time to measure tails and one kind of each layer. Fewer
  /// do not make a plan, and their time is better spent on heads.
  bool hasTimeForDepths() const;
  /// What each head loses alone, in this share of the time that is left.
  Status measureHeads(double share);
  /// What each kind of layer loses alone, likewise.
  Status measureDepths(double share);
  Status measureBits();
  Status openContract(bool isHeldOut, int64_t tokens, Contract &contract);
  Status openHeldOut();
  Status search();
  Status certifyPlan();
  /// Into the folder; what was measured of its speed is part of it.
  Status writePlan(const char *name);
  Status compare();
  double jobSpeedUp() const {
    return speedUp.ofJob(options.job.prompt, options.job.answer);
  }
  /// Whether what was found does what was asked for; otherwise it is a finding,
  /// and not a plan to compile with.
  bool pays() const {
    return options.least == Objective::Memory ||
           (speedUp.isFollowed && jobSpeedUp() > 1);
  }
  void begin(const char *what);
  void printEnd() const;

  std::string file(const char *name) const {
    return options.folder + "/" + name;
  }
  static constexpr int64_t kLeastPrompt = 512;
  static constexpr double kForSearch = 0.4; ///< of the time for losses
  bool hasHeads() const { return options.choices != Choices::Depths; }
  /// A prompt has to have a bulk, and depths keep the cache as it is.
  bool hasDepths() const {
    return options.choices != Choices::Heads &&
           options.least == Objective::Time &&
           options.job.prompt >= kLeastPrompt;
  }
  /// The code of GPUs for blocks is slower than for 16 bits.
  bool hasBits() const {
    return options.choices == Choices::All &&
           options.least == Objective::Time && options.device == kCpuDevice;
  }
  /// Whether one module tries all kinds of plans.
  bool triesAll() const { return hasHeads() && (hasDepths() || hasBits()); }
  /// Plans for less are not searched.
  bool isWorthSearch() const {
    constexpr double kLeastGain = 1.03;
    return options.least == Objective::Memory || gain > kLeastGain;
  }
  /// The model and the plan, but for texts.
  SideBySideOptions sides() const {
    SideBySideOptions sides;
    sides.model = options.model;
    sides.plan = file(kPlan);
    sides.compiler = options.compiler;
    sides.folder = options.folder;
    sides.command = "gist-plan auto";
    sides.device = options.device;
    sides.threads = options.threads;
    sides.context = options.context;
    sides.promise = options.search.promise;
    return sides;
  }
  run::ModelOptions moduleOf(const char *name) const {
    run::ModelOptions model;
    model.path = file(name);
    model.device = options.device;
    model.threads = options.threads;
    return model;
  }
  const AttentionShape &shape() { return pool.first().module().shape; }
  /// Tokens that leave windows at a time: a small context has small ones.
  int64_t block() const {
    auto part =
        static_cast<uint64_t>(std::max<int64_t>(options.context / 8, 1));
    return std::min<int64_t>(128, static_cast<int64_t>(std::bit_floor(part)));
  }
  /// Tokens of a prompt that plans are tried on: of the job, or as many as
  /// there is time for.
  int64_t length() const;
  int64_t tokensOfKind(double seconds) const;
  /// How often a prompt is timed at the end: short ones scatter.
  int timesOfPrompt() const {
    constexpr double kLong = 5;
    return dense.prompt > kLong ? 1 : 2;
  }
  /// Seconds that judging and comparing take at the end, about.
  double secondsOfEnd() const;
  /// 0 would mean no limit.
  double secondsFor(double share, double least = 1) const {
    return options.seconds > 0
               ? std::max(share * (limit.left() - secondsOfEnd()), least)
               : 0;
  }

  AutoOptions &options;
  run::Limit limit;
  int step = 0;
  double compileSeconds = 0, secondsOfToken = 0;
  double products = 0; ///< multiply-adds of a prompt's token
  ModelSource source;
  ProbePool pool;
  DepthModel depthModel;
  MeasuredRates rates;
  JobSeconds dense;
  double gain = 0; ///< times as fast, at most
  /// By what they could save.
  bool isWorthHeads = true, isWorthDepths = true, isWorthBits = false;
  std::vector<SplitText> splitTexts;
  std::vector<int32_t> fitTokens;
  std::unique_ptr<DepthFitter> fitter;
  Calibration calibration;
  Contract kindTerms, terms, heldOut;
  TaskTerms heldOutTasks;
  std::unique_ptr<DepthMenu> depths;
  std::unique_ptr<HeadMenu> heads;
  std::unique_ptr<BitsMenu> bits;
  FoundPlan found;
  std::optional<Certificate> certificate;
  bool hasPlan = true;
  bool wasEnough = true;   ///< the time, for the search
  SpeedUp speedUp;         ///< measured ...
  int64_t speedTokens = 0; ///< ... with so many tokens
};
} // namespace

void AutoPlan::begin(const char *what) {
  constexpr int kSteps = 5;
  std::fprintf(stderr, "== %d/%d %s\n", ++step, kSteps, what);
}

/// Four digits are as precise as the measurements.
static double rounded(double value) { return std::round(value * 1e4) / 1e4; }

/// What heads lose, in the folder.
static constexpr const char *kCalibration = "calibration.json";

/// Tokens that are judged behind a prompt.
static constexpr int64_t kJudged = 256;

/// The context is read from the model, so that it is never larger.
Status AutoPlan::readModel() {
  GIST_TRY(openModelSource(options.model, source));
  int64_t known = 0;
  GIST_TRY(
      source.config()
          .read({{"max_position_embeddings", "n_positions"}, "context_length"},
                known)
          .in(options.model));
  constexpr int64_t kDefault = 4096, kFewest = 64;
  int64_t &context = options.context, &prompt = options.job.prompt,
          &answer = options.job.answer;
  int64_t most = known > 0 ? known : INT64_MAX;
  if (context == 0)
    context = std::min(most, prompt > 0 ? prompt + answer : kDefault);
  if (context < kFewest)
    return Status::error(Code::BadArgument,
                         "a context of %" PRId64
                         " tokens is too short for a plan; expected %" PRId64
                         " or more",
                         context, kFewest);
  if (prompt == 0) {
    prompt = context / 2;
    answer = std::min(answer, context - prompt);
  }
  if (!hasHeads() && !hasDepths())
    return Status::error(
        Code::BadArgument,
        "--choices=depths makes prompts of %" PRId64
        " tokens and more faster and keeps the cache as it is; got a prompt of "
        "%" PRId64 " tokens and --least=%s: choose --choices=all",
        kLeastPrompt, prompt,
        options.least == Objective::Memory ? "memory" : "time");
  // Prompt, what is judged behind it, and the copy of as many of its tokens.
  if (hasDepths())
    context = std::min(most, std::max(context, prompt + 2 * kJudged));
  if (prompt + answer > context)
    return Status::error(Code::BadArgument,
                         "a prompt of %" PRId64
                         " tokens and an answer of %" PRId64
                         " do not fit a context of %" PRId64,
                         prompt, answer, context);
  return {};
}

/// Refuses a folder of another model or of other settings.
Status AutoPlan::checkFolder() {
  GIST_TRY(makeFolder(options.folder));
  std::error_code error;
  // The time stands for the content, which would take long to hash.
  auto time = fs::last_write_time(options.model, error);
  nlohmann::json settings = {
      {"gist_auto", 1},
      {"model", fs::absolute(options.model, error).string()},
      {"time", time.time_since_epoch().count()},
      {"context", options.context},
      {"heads", hasHeads()},
      {"depths", hasDepths()},
      {"bits", hasBits()},
      {"device", options.device},
      {"texts", options.texts}};
  std::string path = file("settings.json");
  if (fs::is_regular_file(path)) {
    std::string text;
    GIST_TRY(run::readText(path, text));
    if (nlohmann::json before;
        parseJson(text, before).ok() && before == settings)
      return {};
    return Status::error(Code::BadArgument,
                         "%s: the folder is of another model, context, device "
                         "or other texts; choose another one with -o",
                         options.folder.c_str());
  }
  return writeWhole(path, settings.dump() + "\n");
}

/// Writes the built-in texts if the user names none.
Status AutoPlan::writeTexts() {
  bool hasTexts = !options.texts.empty();
  bool hasHeldOut = !options.heldOut.empty();
  for (const BuiltInText &text : builtInTexts()) {
    std::vector<std::string> &list =
        text.isHeldOut ? options.heldOut : options.texts;
    if (text.isHeldOut ? hasHeldOut : hasTexts)
      continue;
    std::string path = file(text.name);
    list.push_back(path);
    if (!fs::is_regular_file(path))
      GIST_TRY(writeWhole(path, text.text));
  }
  return {};
}

/// Pieces of all texts in turn, for the calibration: one short sequence then
/// has something of each.
Status AutoPlan::writeMixed() {
  if (fs::is_regular_file(file("mixed.txt")))
    return {};
  constexpr size_t kPiece = 800; // characters, about 200 tokens
  std::vector<std::string> texts(options.texts.size());
  for (size_t i = 0; i < texts.size(); ++i)
    GIST_TRY(run::readText(options.texts[i], texts[i]));
  std::string mixed;
  std::vector<size_t> places(texts.size());
  // As long as every text has a piece left.
  for (bool isLeft = true; isLeft;)
    for (size_t i = 0; i < texts.size(); ++i) {
      // A piece ends with a line.
      size_t end = texts[i].find('\n', places[i] + kPiece);
      end = end == std::string::npos ? texts[i].size() : end + 1;
      mixed.append(texts[i], places[i], end - places[i]);
      places[i] = end;
      isLeft &= end < texts[i].size();
    }
  return writeWhole(file("mixed.txt"), mixed);
}

Status AutoPlan::prepare() {
  GIST_TRY(readModel());
  GIST_TRY(findCompiler(options.device, options.compiler));
  if (options.folder.empty())
    options.folder = fs::path(options.model).stem().string() + "-plan";
  GIST_TRY(checkFolder());
  GIST_TRY(writeTexts());
  return writeMixed();
}

Status AutoPlan::compileModules() {
  begin("compiling the model as it is, and to try plans in");
  // gist-compile writes a module whole or not at all, so that a file that is
  // there is a good one.
  double before = limit.taken();
  if (!fs::is_regular_file(file("dense.gist")))
    GIST_TRY(compileModel(sides(), file("dense.gist"), {}));
  compileSeconds = limit.taken() - before;
  if (fs::is_regular_file(file("trial.gist")))
    return {};
  const char *plan = triesAll()   ? kTrialPlan
                     : hasHeads() ? kCalibrationPlan
                                  : kDepthsPlan;
  std::vector<std::string> words = {std::string("--plan=") + plan};
  if (triesAll() || hasDepths())
    words.push_back("--observe");
  if (hasHeads())
    words.push_back("--plan-block=" + std::to_string(block()));
  return compileModel(sides(), file("trial.gist"), words);
}

Status AutoPlan::openTrial() {
  run::ModelOptions model = moduleOf("trial.gist");
  Status opened = pool.open(model, 1, hasHeads());
  if (!opened.ok())
    return Status::error(opened.code,
                         "%s; gist-plan auto finds plans for decoders, and "
                         "'gist-plan solve-encoder' for encoders",
                         opened.text.c_str());
  if (!triesAll() && !hasDepths())
    return {};
  return depthModel.open(*pool.first().model().session, source);
}

/// The texts of this program have four thousand tokens of most tokenizers.
int64_t AutoPlan::length() const {
  constexpr int64_t kMost = 4096 - kJudged;
  int64_t longest =
      hasDepths()
          ? std::min({options.job.prompt, kMost, options.context - 2 * kJudged})
          : std::min(options.context, kMost + kJudged);
  // A search measures fifty sequences and more.
  constexpr double kSequences = 60;
  int64_t fits =
      options.seconds > 0 && secondsOfToken > 0
          ? static_cast<int64_t>(options.seconds / secondsOfToken / kSequences)
          : longest;
  constexpr int64_t kFewest = 512;
  return std::clamp(fits, std::min(kFewest, longest), longest);
}

Status AutoPlan::measureTimes() {
  begin("measuring what parts of the model take on this machine");
  run::ModelOptions measured = moduleOf("dense.gist");
  measured.profile = true;
  run::Runner model;
  GIST_TRY(model.openWithTokenizer(measured));
  measured.path = file("trial.gist");
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
  GIST_TRY(readTokens(pool.first(), file("mixed.txt"), tokens));
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
  gain = whole / (whole - keys - less - fewer);
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
  if (isWorthDepths && !hasTimeForDepths()) {
    isWorthDepths = false;
    std::fprintf(stderr,
                 "plans of depths need more time than --seconds %g "
                 "leaves; they are not searched\n",
                 options.seconds);
  }
  rates.rates.rest = whole - (isWorthHeads ? ofKeys : 0) -
                     (isWorthDepths ? dense.promptProducts : 0) -
                     (isWorthBits ? ofHead : 0);
  if (options.least == Objective::Memory) {
    rates.rates = PartRates::ofMemory();
    isWorthHeads = true;
  }
  return {};
}

bool AutoPlan::hasTimeForDepths() const {
  if (options.seconds <= 0 || !isWorthHeads)
    return true;
  // A layer that is all kinds at once takes about twice as long.
  double kinds = 1.5 * static_cast<double>(depthModel.countLayers()),
         tokens = static_cast<double>(options.texts.size()) *
                  (kLeastPrompt + 2 * kJudged),
         needed = 2 * kinds * tokens * secondsOfToken;
  return needed < secondsFor((1 - kForSearch) * (1 - shareOfHeads()));
}

double AutoPlan::secondsOfEnd() const {
  // The certificate; then prompts with and without the plan, for speed and once
  // for quality.
  int times = timesOfPrompt() == 1 ? 2 : 4;
  double tokens = 2 * static_cast<double>(heldOut.countTokens()) +
                  2.0 * times * static_cast<double>(options.job.prompt);
  // On a slow machine the plan is worth more than its comparison.
  return std::min(compileSeconds + tokens * secondsOfToken,
                  0.45 * std::max(limit.left(), 0.0));
}

/// What heads may do: two of each kind, so that a few minutes are enough.
static std::vector<HeadChoice> makeCandidates(int64_t block) {
  std::vector<HeadChoice> result;
  for (int64_t window : {block, 2 * block})
    result.push_back({.kind = HeadKind::Window,
                      .window = window,
                      .sinks = std::min<int64_t>(4, block)});
  for (double theta : {0.7, 0.9})
    result.push_back({.kind = HeadKind::Clusters,
                      .window = block,
                      .theta = theta,
                      .room = 1});
  return result;
}

Status AutoPlan::measureHeads(double share) {
  CalibratorOptions calibrator;
  calibrator.model = moduleOf("trial.gist");
  calibrator.texts = {file("mixed.txt")};
  if (options.candidates.empty())
    calibrator.candidates = makeCandidates(block());
  else
    GIST_TRY(readCandidates(options.candidates, calibrator.candidates));
  calibrator.wantsSelections = false;
  double seconds = secondsFor(share);
  // As long as sequences may be for half of the candidates to be measured. Half
  // of one is text, of which a window must not be most.
  calibrator.tokens = 8 * block();
  auto runs = static_cast<double>(shape().layers) * 2;
  while (2 * calibrator.tokens <= length() &&
         2 * static_cast<double>(calibrator.tokens) * secondsOfToken * runs <
             seconds)
    calibrator.tokens *= 2;
  calibrator.isByLayer =
      seconds > 0 && static_cast<double>(calibrator.tokens) * secondsOfToken *
                             static_cast<double>(shape().heads()) *
                             static_cast<double>(calibrator.candidates.size()) >
                         seconds;
  calibrator.output = file(kCalibration);
  // A second run goes on with the sequences of the first.
  if (Calibration old; fs::is_regular_file(calibrator.output) &&
                       readCalibration(calibrator.output, old).ok())
    // Measurements of another length could not be used together with the old.
    calibrator.tokens = old.tokens;
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

/// Tokens of the prompts that kinds of layers are compared on: as many as let
/// two kinds of each layer be measured in half of the time.
int64_t AutoPlan::tokensOfKind(double seconds) const {
  if (seconds <= 0)
    return length();
  double kinds = 2.0 * static_cast<double>(depthModel.countLayers()),
         texts = static_cast<double>(splitTexts.size());
  auto fits =
      static_cast<int64_t>(0.5 * seconds / (kinds * texts * secondsOfToken)) -
      2 * kJudged;
  constexpr int64_t kFewest = 512;
  return std::clamp(fits, std::min(kFewest, length()), length());
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
  GIST_TRY(openContract(/*isHeldOut=*/false, tokensOfKind(seconds), kindTerms));
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
  GIST_TRY(depthModel.followNone());
  return bits->measure(tokens, file("bases.safetensors"));
}

Status AutoPlan::openContract(bool isHeldOut, int64_t tokens,
                              Contract &contract) {
  contract.answer = isWorthDepths ? kJudged : 0;
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
      isWorthDepths ? kJudged * (isHeldOut ? 4 : 1) : tokens;
  return contract.open(pool, paths, {tokens});
}

/// Texts, and questions where there is time for them.
Status AutoPlan::openHeldOut() {
  GIST_TRY(openContract(/*isHeldOut=*/true, length(), heldOut));
  constexpr size_t kQuestions = 9;
  double seconds =
      2 * kQuestions * static_cast<double>(length()) * secondsOfToken;
  constexpr double kMostShare = 0.15;
  if (options.search.promise.tasks <= 0 ||
      (options.seconds > 0 && seconds > kMostShare * options.seconds))
    return {};
  heldOutTasks = {kQuestions, 2, length(), /*isEach=*/false};
  Contract trial;
  if (!trial.addTasks(pool, {1, 1, length(), true}).ok())
    heldOutTasks.samples = 0;
  return heldOutTasks.samples > 0 ? heldOut.addTasks(pool, heldOutTasks)
                                  : Status();
}

Status AutoPlan::search() {
  begin("searching the plan that saves most time and keeps the quality");
  PlanMenu menu(heads.get(), depths.get(), isWorthBits ? bits.get() : nullptr);
  constexpr double kUsedUp = 0.001;
  run::Limit part(secondsFor(1, kUsedUp));
  // Maps that are fitted together take a pass over the tokens for each.
  constexpr double kPasses = 16, kMostShare = 0.1;
  bool fitsTogether =
      fitter &&
      (options.seconds <= 0 ||
       kPasses * static_cast<double>(fitTokens.size()) * secondsOfToken <
           kMostShare * options.seconds);
  PlanTrier trier(pool, menu, &depthModel,
                  fitsTogether ? fitter.get() : nullptr, part);
  PlanFinder finder(pool, menu, trier, terms, part);
  GIST_TRY(finder.find(options.search,
                       JobTime(options.job, shape(), rates.rates), found));
  hasPlan = found.work < 1;
  wasEnough = finder.isComplete();
  return {};
}

Status AutoPlan::certifyPlan() {
  run::Limit unlimited;
  pool.stopAt(unlimited);
  PlanMenu menu(heads.get(), depths.get(), isWorthBits ? bits.get() : nullptr);
  PlanTrier trier(pool, menu, &depthModel, nullptr, unlimited);
  GIST_TRY(menu.follow({}));
  GIST_TRY(heldOut.measureDense(pool));
  Measurement measured;
  auto always = [](const Measurement &) { return true; };
  GIST_TRY(trier.measure(heldOut, found.plan, always, measured));
  certificate = certify(heldOut, measured, options.search.promise,
                        options.search.confidence, heldOutTasks,
                        pool.first().model().device->info().name);
  certificate->work = found.work;
  certificate->workOf = options.least == Objective::Time
                            ? "the job's time, predicted"
                            : "the cache, predicted";
  print(*certificate);
  return {};
}

Status AutoPlan::writePlan(const char *name) {
  const Promise &promise = options.search.promise;
  Json contract = {
      {"quality", promise.perplexity},
      {"recall", promise.recall},
      {"tasks", promise.tasks},
      {"confidence", options.search.confidence},
      {"context", options.context},
      {"job", {{"prompt", options.job.prompt}, {"answer", options.job.answer}}},
      {"time_predicted", rounded(found.work)}};
  if (speedUp.densePrompt > 0)
    contract["measured"] = {{"device", certificate->device},
                            {"tokens", speedTokens},
                            {"prompt_times_as_fast", rounded(speedUp.prompt)},
                            {"answer_times_as_fast", rounded(speedUp.answer)},
                            {"job_times_as_fast", rounded(jobSpeedUp())}};
  if (certificate) {
    Json judged = toJson(*certificate);
    contract["certified"] = judged["parts"];
    judged.erase("parts");
    contract["certificate"] = judged;
  }
  Plan plan = found.plan.heads;
  if (plan.isDense())
    plan = {};
  DepthPlan depthPlan = found.plan.depths;
  if (depthPlan.isNeeded()) {
    depthPlan.maps = "plan.maps.safetensors";
    // To be followed at every length: the job was measured.
    depthPlan.least = {{options.device, 1}};
    GIST_TRY(writeMaps(file(depthPlan.maps.c_str()),
                       *pool.first().model().module, found.plan.maps));
  }
  return writeWhole(
      file(name),
      printPlanFile(plan, depthPlan, found.plan.linears, contract.dump()));
}

Status AutoPlan::compare() {
  begin("comparing the model with and without the plan");
  SideBySideOptions compared = sides();
  // One text, of all held-out texts: most are shorter than long prompts.
  std::string all;
  for (const std::string &path : options.heldOut) {
    std::string text;
    GIST_TRY(run::readText(path, text));
    all += text + "\n";
  }
  compared.texts = {file("held-out.txt")};
  GIST_TRY(writeWhole(compared.texts.front(), all));
  std::vector<int32_t> tokens;
  GIST_TRY(readTokens(pool.first(), compared.texts.front(), tokens));
  compared.tokens =
      std::min(options.job.prompt, static_cast<int64_t>(tokens.size()));
  compared.repetitions = timesOfPrompt();
  speedTokens = compared.tokens;
  GIST_TRY(compareSideBySide(compared, file("evaluation.json"), speedUp));
  GIST_TRY(writePlan(pays() ? kPlan : kFinding));
  std::error_code ignored;
  fs::remove(file(pays() ? kFinding : kPlan), ignored);
  std::vector<std::string> pages = {file("evaluation.json")};
  if (heads)
    pages.push_back(file(kCalibration));
  return writePage(pages, file("report.html"));
}

/// A word for a shell.
static std::string quote(const std::string &word) {
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                             "WXYZ0123456789_-./=:,+") == std::string::npos)
    return word;
  std::string result = "'";
  for (char c : word)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

void AutoPlan::printEnd() const {
  if (!isWorthSearch()) {
    std::printf("No plan pays: a prompt of %" PRId64 " tokens and an answer of "
                "%" PRId64 " could be at most %.2f times as fast. The model "
                "stays as it is.\n",
                options.job.prompt, options.job.answer, gain);
    return;
  }
  if (!hasPlan && wasEnough) {
    std::printf("No plan pays: at a quality of %g nothing was found that saves "
                "time on this machine. The model stays as it is.\n",
                options.search.promise.perplexity);
    return;
  }
  if (!hasPlan) {
    std::printf("No plan was found in %g s, so the model stays as it is. The "
                "same command with more --seconds goes on with what was "
                "measured.\n",
                options.seconds);
    return;
  }
  std::string target =
      options.device == kCpuDevice
          ? ""
          : std::string(" --target=") + targetOfDevice(options.device);
  std::printf("\nThe page: %s\n", file("report.html").c_str());
  if (pays())
    std::printf("A prompt of %" PRId64 " tokens and an answer of %" PRId64
                " are %.2f times as fast. To compile with the plan:\n",
                options.job.prompt, options.job.answer, jobSpeedUp());
  else
    std::printf("With a prompt of %" PRId64 " tokens and an answer of %" PRId64
                " this plan saves no time on this machine: a finding, and not "
                "a plan to compile with.\nTo follow it all the same, for a "
                "smaller cache:\n",
                options.job.prompt, options.job.answer);
  std::printf("  gist-compile %s -o %s --context %" PRId64 "%s --plan %s%s\n",
              quote(options.model).c_str(),
              quote(fs::path(options.model).stem().string() + ".gist").c_str(),
              options.context, target.c_str(),
              quote(file(pays() ? kPlan : kFinding)).c_str(),
              speedUp.isFollowed && pays() ? "" : " --follow-plan");
}

Status AutoPlan::run() {
  GIST_TRY(prepare());
  GIST_TRY(compileModules());
  GIST_TRY(openTrial());
  GIST_TRY(measureTimes());
  if (!isWorthSearch()) {
    printEnd();
    return {};
  }
  begin("measuring what each head and layer loses alone");
  GIST_TRY(readSplitTexts(options.texts, length() + 2 * kJudged, splitTexts));
  // All texts are read before time is spent on them.
  GIST_TRY(openContract(/*isHeldOut=*/false, length(), terms));
  GIST_TRY(openHeldOut());
  double share = shareOfHeads();
  if (isWorthBits)
    GIST_TRY(measureBits());
  if (share > 0)
    GIST_TRY(measureHeads((1 - kForSearch) * share));
  if (isWorthDepths)
    GIST_TRY(measureDepths((1 - kForSearch) * (1 - share) /
                           (1 - (1 - kForSearch) * share)));
  // When the time is over, the steps go on: the search then uses what was
  // measured so far.
  if (limit.isInterrupted())
    return Status::error(Code::Io, "stopped; the same command goes on");
  GIST_TRY(search());
  if (hasPlan) {
    GIST_TRY(certifyPlan());
    GIST_TRY(writePlan(kPlan));
    GIST_TRY(compare());
  }
  printEnd();
  std::fprintf(stderr, "%.0f s\n", limit.taken());
  return {};
}

void plan::addAuto(CLI::App &app, Action &action) {
  auto options = std::make_shared<AutoOptions>();
  CLI::App *command = app.add_subcommand(
      "auto", "From a model to a plan: compile, calibrate, solve, compare, "
              "draw; a second run goes on where the first ended");
  command
      ->add_option("model", options->model,
                   "GGUF file or Hugging Face folder of a decoder")
      ->type_name("MODEL")
      ->required();
  addPromiseOptions(*command, options->search);
  command
      ->add_option("--seconds", options->seconds,
                   "Time for all steps together; 0: no limit. More time finds "
                   "plans that do less work")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--prompt", options->job.prompt,
                   "Tokens of the prompts that the plan is for; default: half "
                   "of the context")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  command
      ->add_option("--answer", options->job.answer,
                   "Tokens of the answers behind them")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""))
      ->capture_default_str();
  command
      ->add_option("--context", options->context,
                   "Tokens that sessions hold; default: prompt and answer, or "
                   "4096, or the model's own if it has fewer")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  static const std::map<std::string, Choices> kChoices = {
      {"all", Choices::All},
      {"heads", Choices::Heads},
      {"depths", Choices::Depths}};
  command
      ->add_option("--choices", options->choices,
                   "What a plan may change: heads, depths of prompts, or all")
      ->transform(CLI::CheckedTransformer(kChoices).description(""))
      ->type_name("all|heads|depths");
  static const std::map<std::string, Objective> kObjectives = {
      {"time", Objective::Time}, {"memory", Objective::Memory}};
  command
      ->add_option("--least", options->least,
                   "What a plan is to have least of: the time of a prompt and "
                   "its answer, or memory of the cache")
      ->transform(CLI::CheckedTransformer(kObjectives).description(""))
      ->type_name("time|memory");
  command
      ->add_option("--candidates", options->candidates,
                   "What heads may do instead of staying dense: a list of "
                   "heads in JSON; default: two windows and two kinds of "
                   "clusters")
      ->type_name("FILE");
  command
      ->add_option("-f,--text", options->texts,
                   "Text to find the plan on; default: prose and code that "
                   "gist-plan has with it")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--held-out", options->heldOut,
                   "Text to judge the plan by; default: other prose and code")
      ->type_name("FILE")
      ->allow_extra_args(false);
  addPlaceOptions(*command, options->device, options->threads,
                  options->compiler);
  command
      ->add_option("-o,--output", options->folder,
                   "Folder for the plan, its page and what was measured; "
                   "default: the model's name and -plan")
      ->type_name("FOLDER");
  command->footer("Example: gist-plan auto model.gguf --quality 1.01");
  command->callback([options, &action] {
    action = [options] { return AutoPlan(*options).run(); };
  });
}
