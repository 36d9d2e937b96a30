//===- AutoPlan.h - What `gist-plan auto` does ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of `gist-plan auto` share one limit of time, and a folder in which
// a second run finds what the first has measured.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_PLAN_AUTOPLAN_H
#define GIST_TOOLS_GIST_PLAN_AUTOPLAN_H

#include "passes/Import/Files/ModelSource.h"
#include "runtime/format/Devices.h"
#include "tools/gist-plan/SideBySide.h"
#include "tools/planning/Certificate.h"
#include "tools/planning/FitTexts.h"
#include "tools/planning/MeasureRates.h"
#include "tools/planning/PlanFinder.h"

#include <bit>

namespace gist::plan {

/// Files of the folder: the plan, or what was found and is not measured to pay;
/// what heads lose; pieces of all texts to measure with.
inline constexpr const char *kPlanFile = "plan.json",
                            *kFindingFile = "finding.json",
                            *kCalibrationFile = "calibration.json",
                            *kMixedFile = "mixed.txt",
                            *kDenseModule = "dense.gist",
                            *kTrialModule = "trial.gist";

/// Of questions; no question is in both.
inline constexpr uint64_t kSearchSeed = 1, kHeldOutSeed = 2;

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
  /// Questions that plans are searched with, and as many others that they are
  /// judged by; 0: only a few to judge by, where there is time for them.
  size_t questions = 0;
  std::vector<std::string> texts, heldOut;
};

class AutoPlan {
public:
  explicit AutoPlan(AutoOptions &options)
      : options(options), limit(options.seconds) {}

  Status run();

private:
  Status prepare();
  /// Texts to fit with and to search with.
  Status splitOwnTexts();
  Status readModel();
  Status checkFolder();
  Status writeTexts();
  Status writeMixed();
  /// Pieces of all texts in turn: one short sequence then has something of
  /// each.
  static std::string mixTexts(const std::vector<std::string> &texts);
  Status compileDense();
  /// Leaves depths out where there is no text to fit maps with.
  Status countTexts();
  Status compileTrial();
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
  /// Leaves depths out where there is no time to measure tails and one kind of
  /// each layer: it is better spent on heads.
  void checkDepths();
  /// What each head loses, in this share of the time that is left.
  Status measureHeads(double share);
  Status findLongest(int64_t &tokens);
  /// What each kind of layer loses alone, likewise.
  Status measureDepths(double share);
  Status measureBits();
  Status openContract(bool isHeldOut, int64_t tokens, Contract &contract);
  /// What kinds of layers are measured with, in so many seconds.
  Status openKindTerms(double seconds);
  Status openHeldOut();
  /// Adds questions of all tasks in turn about texts of so many tokens.
  Status addQuestions(uint64_t seed, int64_t tokens, Contract &contract);
  Status search();
  Status certifyPlan(const PlanMenu &menu);
  /// Into the folder; what was measured of its speed is part of it.
  Status writePlan(const char *name);
  Status compare();
  double jobSpeedUp() const {
    return speedUp.ofJob(options.job.prompt, options.job.answer);
  }
  bool keepsQuality() const {
    return certificate->verdict() != Verdict::Broken;
  }
  /// Whether what was found does what was asked for; otherwise it is a finding,
  /// and not a plan to compile with.
  bool pays() const {
    return keepsQuality() && (options.least == Objective::Memory ||
                              (speedUp.isFollowed && jobSpeedUp() > 1));
  }
  void begin(const char *what);
  void printEnd() const;

  std::string file(const char *name) const {
    return options.folder + "/" + name;
  }
  static constexpr int64_t kLeastPrompt = 512;
  /// Tokens that kinds of layers are judged by, behind a prompt and in its
  /// copy.
  static constexpr int64_t kJudged = 256;
  /// The same of plans: a prompt costs more than what tells how good it was.
  int64_t judged() const {
    constexpr int64_t kMost = 1024;
    return std::clamp<int64_t>(options.job.prompt / 4, kJudged, kMost);
  }
  static constexpr double kForSearch = 0.4; ///< of the time for losses
  bool hasHeads() const { return options.choices != Choices::Depths; }
  /// A prompt has to have a bulk, and depths keep the cache as it is.
  bool hasDepths() const {
    return options.choices != Choices::Heads &&
           options.least == Objective::Time &&
           options.job.prompt >= kLeastPrompt;
  }
  /// Sequences of long texts end with a copy of their first quarter, so that
  /// perplexity and recall are known of one sequence.
  bool hasCopies() const { return options.job.prompt >= kLeastPrompt; }
  /// The code of GPUs for blocks is slower than for 16 bits.
  bool hasBits() const {
    return options.choices == Choices::All &&
           options.least == Objective::Time && options.device == kCpuDevice;
  }
  /// Whether the module tries depths. A layer that is of all kinds at once
  /// takes twice as long.
  bool triesDepths() const {
    return hasDepths() && (fitTokensThere >= fitTokensWanted || !hasHeads());
  }
  /// Plans for less are not searched.
  bool isWorthSearch() const {
    constexpr double kLeastGain = 1.03;
    return options.least == Objective::Memory || gain > kLeastGain;
  }
  /// The model and the plan, but for texts.
  SideBySideOptions sides() const {
    SideBySideOptions sides;
    sides.model = options.model;
    sides.plan = file(kPlanFile);
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
  /// How often a prompt is timed at the end: short ones scatter.
  int timesOfPrompt() const {
    constexpr double kLong = 5;
    return dense.prompt > kLong ? 1 : 2;
  }
  /// Seconds that judging and comparing take at the end, about.
  double secondsOfEnd() const;
  double secondsOfComparison() const;
  /// 0 would mean no limit.
  double secondsFor(double share, double least = 1) const {
    return options.seconds > 0
               ? std::max(share * (limit.left() - secondsOfEnd()), least)
               : 0;
  }

  AutoOptions &options;
  run::Limit limit, unlimited;
  int step = 0;
  double compileSeconds = 0, secondsOfToken = 0;
  double products = 0; ///< multiply-adds of a prompt's token
  double fitTokensWanted = 0, fitTokensThere = 0;
  ModelSource source;
  ProbePool pool;
  DepthModel depthModel;
  MeasuredRates rates;
  PartRates costs; ///< by which plans are compared
  JobSeconds dense;
  double gain = 0; ///< times as fast, at most
  /// By what they could save.
  bool isWorthHeads = true, isWorthDepths = true, isWorthBits = false;
  std::vector<SplitText> splitTexts;
  int64_t shortestText = INT64_MAX; ///< tokens of a text to search with
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

} // namespace gist::plan

#endif // GIST_TOOLS_GIST_PLAN_AUTOPLAN_H
