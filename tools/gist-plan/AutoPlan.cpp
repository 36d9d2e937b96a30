//===- AutoPlan.cpp - What `gist-plan auto` does --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-plan/AutoPlan.h"

#include "passes/Plan/File/PlanFile.h"
#include "runtime/support/AtomicFile.h"
#include "tools/gist-plan/ReportStep.h"
#include "tools/planning/CertificateFile.h"

#include "nlohmann/json.hpp"

#include <cinttypes>
#include <cmath>
#include <filesystem>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

void AutoPlan::begin(const char *what) {
  constexpr int kSteps = 5;
  std::fprintf(stderr, "== %d/%d %s\n", ++step, kSteps, what);
}

/// Four digits are as precise as the measurements.
static double rounded(double value) { return std::round(value * 1e4) / 1e4; }

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
  GIST_TRY(
      finder.find(options.search, JobTime(options.job, shape(), costs), found));
  wasEnough = finder.isComplete();
  pool.stopAt(unlimited);
  auto hasTime = [&] {
    return options.seconds <= 0 || limit.left() > secondsOfComparison();
  };
  constexpr int kMostRetreats = 3;
  hasPlan = found.work < 1;
  // What texts of the search refuse is not shown to others.
  for (int i = 0; i < kMostRetreats && !hasPlan && !wasEnough; ++i) {
    if (limit.isInterrupted() || !hasTime() || !finder.retreat(found))
      break;
    hasPlan = found.share <= 1;
  }
  if (!hasPlan)
    return {};
  GIST_TRY(menu.follow({}));
  GIST_TRY(heldOut.measureDense(pool));
  GIST_TRY(certifyPlan(menu));
  // A plan that does not keep the quality on texts which it was not found on is
  // followed by one that spends less.
  for (int i = 0; i < kMostRetreats && !keepsQuality(); ++i) {
    if (!hasTime() || !finder.retreat(found))
      break;
    std::fprintf(stderr,
                 "these texts lose more; trying a plan that takes %.3f "
                 "of the %s and spent %.2f of what is allowed\n",
                 found.work,
                 options.least == Objective::Time ? "time" : "cache",
                 found.share);
    GIST_TRY(certifyPlan(menu));
  }
  return {};
}

Status AutoPlan::certifyPlan(const PlanMenu &menu) {
  PlanTrier trier(pool, menu, &depthModel, nullptr, unlimited);
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
  Json contract = toJson(options.search.promise, options.search.confidence);
  contract["context"] = options.context;
  contract["job"] = {{"prompt", options.job.prompt},
                     {"answer", options.job.answer}};
  contract["time_predicted"] = rounded(found.work);
  if (speedUp.densePrompt > 0)
    contract["measured"] = {{"device", certificate->device},
                            {"tokens", speedTokens},
                            {"prompt_times_as_fast", rounded(speedUp.prompt)},
                            {"answer_times_as_fast", rounded(speedUp.answer)},
                            {"job_times_as_fast", rounded(jobSpeedUp())}};
  if (certificate)
    addCertificate(*certificate, contract);
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
  GIST_TRY(writePlan(pays() ? kPlanFile : kFindingFile));
  std::error_code ignored;
  fs::remove(file(pays() ? kFindingFile : kPlanFile), ignored);
  std::vector<std::string> pages = {file("evaluation.json")};
  if (heads)
    pages.push_back(file(kCalibrationFile));
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
  else if (!keepsQuality())
    std::printf("This plan does not keep the quality on the held-out texts: a "
                "finding, and not a plan to compile with. More --seconds, more "
                "--text like yours, or less --quality find one that does.\nTo "
                "follow it all the same:\n");
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
              quote(file(pays() ? kPlanFile : kFindingFile)).c_str(),
              speedUp.isFollowed && pays() ? "" : " --follow-plan");
}

Status AutoPlan::run() {
  GIST_TRY(prepare());
  GIST_TRY(compileDense());
  GIST_TRY(countTexts());
  GIST_TRY(compileTrial());
  GIST_TRY(openTrial());
  GIST_TRY(measureTimes());
  if (!isWorthSearch()) {
    printEnd();
    return {};
  }
  begin("measuring what each head and layer loses alone");
  GIST_TRY(splitOwnTexts());
  // All texts are read before time is spent on them.
  GIST_TRY(openContract(/*isHeldOut=*/false, length(), terms));
  GIST_TRY(addQuestions(kSearchSeed, length(), terms));
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
    GIST_TRY(writePlan(kPlanFile));
    GIST_TRY(compare());
  }
  printEnd();
  std::fprintf(stderr, "%.0f s\n", limit.taken());
  return {};
}
