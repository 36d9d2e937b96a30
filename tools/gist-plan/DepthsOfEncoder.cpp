//===- DepthsOfEncoder.cpp - gist-plan depths of an encoder ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan depths` of an encoder. The quality is the cosine between an
// embedding and that of the model as it is, the worst of all pieces of text.
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/File/PlanFile.h"
#include "runtime/support/AtomicFile.h"
#include "tools/gist-plan/DepthsOptions.h"
#include "tools/planning/BuiltInTexts.h"
#include "tools/planning/DepthMenu.h"
#include "tools/planning/EncoderDepths.h"
#include "tools/planning/FitTexts.h"
#include "tools/running/Intervals.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <filesystem>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::ordered_json;

/// Four digits are as precise as the measurements.
static double rounded(double value) { return std::round(value * 1e4) / 1e4; }

namespace {
class EncoderDepthsCommand {
public:
  explicit EncoderDepthsCommand(const DepthsOptions &options)
      : options(options), limit(options.seconds) {}
  Status run(const std::string &module);

private:
  Status openTexts();
  /// Pieces of the parts of texts that maps are fitted with, one after the
  /// other.
  Status collectTokens(const std::vector<SplitText> &split,
                       std::vector<int32_t> &tokens);
  Status search(EncoderDepths &depths);
  /// Judges a plan and writes it.
  Status finish(EncoderDepths &depths, double quality, DepthPlan plan,
                const MapSet &maps, const std::string &output);
  Json judge(const KeptEmbeddings &kept, double quality) const;
  Status measureSpeed(const std::string &output, Json &speed);

  const DepthsOptions &options;
  run::Limit limit;     ///< of the search
  run::Limit unlimited; ///< of what comes after it
  run::Runner runner;
  ModelSource source;
  DepthModel model;
  std::vector<double> qualities;
  int64_t length = 0; ///< tokens of a piece
  std::vector<int32_t> fitTokens;
  std::vector<EncoderText> texts, heldOut; ///< to search with, to judge by
  run::TemporaryModule dense;
};
} // namespace

/// Of each text, to search with and to judge by.
static constexpr size_t kSearchPieces = 16, kHeldOutPieces = 50;
/// Of what is allowed, on the texts of a search: other texts lose more.
static constexpr double kMargin = 0.7;

Status EncoderDepthsCommand::collectTokens(const std::vector<SplitText> &split,
                                           std::vector<int32_t> &tokens) {
  auto most = static_cast<size_t>(options.maxTokens / length) / split.size();
  std::vector<EncoderText> pieces;
  for (const SplitText &text : split)
    GIST_TRY(cutText(runner, text.name, text.fit, length, most, pieces));
  for (const EncoderText &piece : pieces)
    // A text may be shorter than a piece.
    if (piece.tokens.size() == static_cast<size_t>(length))
      tokens.insert(tokens.end(), piece.tokens.begin(), piece.tokens.end());
  return {};
}

Status EncoderDepthsCommand::openTexts() {
  constexpr int64_t kUsual = 128;
  length = std::min(options.isWindowGiven ? options.fit.window : kUsual,
                    runner.session->maxTokens(kEntryEmbed));
  std::vector<SplitText> split;
  GIST_TRY(readSplitTexts(options.texts,
                          length * static_cast<int64_t>(kSearchPieces), split));
  GIST_TRY(collectTokens(split, fitTokens));
  for (const SplitText &text : split)
    GIST_TRY(
        cutText(runner, text.name, text.search, length, kSearchPieces, texts));
  auto addHeldOut = [&](const std::string &name, std::string_view text) {
    return cutText(runner, name, text, length, kHeldOutPieces, heldOut);
  };
  for (const std::string &path : options.heldOut) {
    std::string text;
    GIST_TRY(run::readText(path, text));
    GIST_TRY(addHeldOut(path, text));
  }
  if (options.heldOut.empty())
    for (const BuiltInText &text : builtInTexts())
      if (text.isHeldOut)
        GIST_TRY(addHeldOut(text.name, text.text));
  return {};
}

Status EncoderDepthsCommand::run(const std::string &module) {
  constexpr double kUsual = 0.9, kLeast = 0.5, kMost = 0.9999;
  GIST_TRY(options.listQualities(kUsual, kLeast, kMost, qualities));
  PlanFile given;
  if (!options.plan.empty())
    GIST_TRY(readPlanFile(options.plan, given));
  run::ModelOptions chosen = options.model;
  chosen.path = module;
  chosen.trust = true; // It was compiled a moment ago.
  GIST_TRY(runner.openWithTokenizer(chosen));
  if (!runner.session->hasEntry(kEntryEmbed))
    return Status::error(Code::BadArgument,
                         "%s: the model gives no embedding of a text, which "
                         "its plans are judged by; expected a decoder or an "
                         "encoder of sentences",
                         options.source.c_str());
  GIST_TRY(openModelSource(options.source, source));
  GIST_TRY(model.open(*runner.session, source));
  GIST_TRY(openTexts());
  FitOptions fit = options.fit;
  fit.window = fit.call = length;
  fit.first = 0;
  DepthFitter fitter(model, fitTokens, fit);
  EncoderDepths depths(runner, model, fitter);
  GIST_TRY(depths.embedAsItIs(heldOut));
  if (options.plan.empty())
    return search(depths);
  GIST_TRY(model.check(given.depths).in(options.plan));
  MapSet maps;
  GIST_TRY(depths.fit(given.depths, unlimited, maps));
  return finish(depths, qualities.front(), given.depths, maps, options.output);
}

Status EncoderDepthsCommand::search(EncoderDepths &depths) {
  GIST_TRY(depths.embedAsItIs(texts));
  GIST_TRY(depths.measureKinds(options.shares, texts, limit));
  Status missing;
  for (size_t i = 0; i < qualities.size(); ++i) {
    double quality = qualities[i];
    std::string output = i == 0
                             ? options.output
                             : DepthsOptions::nameOf(options.output, quality);
    DepthPlan plan;
    MapSet maps;
    GIST_TRY(depths.choose((1 - quality) * kMargin, options.search.steps, limit,
                           plan, maps));
    if (plan.isNeeded())
      GIST_TRY(finish(depths, quality, plan, maps, output));
    else if (missing.ok())
      missing = Status::error(Code::NotFound,
                              "no layer can be left out at quality %g; ask "
                              "for less, such as --quality %g",
                              quality, 1 - 2 * (1 - quality));
  }
  // After the plans of other qualities, which are written.
  return missing;
}

Json EncoderDepthsCommand::judge(const KeptEmbeddings &kept,
                                 double quality) const {
  std::vector<double> losses;
  size_t above = 0;
  for (const EncoderRun &run : kept.each.runs) {
    losses.push_back(run.loss);
    above += 1 - run.loss >= quality;
  }
  run::Mean mean = run::meanOf(losses);
  double bound = 1 - mean.upper(options.search.confidence),
         worst = kept.each.worstCosine();
  const char *verdict = worst >= quality ? "kept" : "broken";
  std::printf("held-out pieces: %zu of %lld tokens; cosine %.4f on average "
              "(%.4f or more at a confidence of %g), %.4f at least; %zu are "
              "above %g; %.3f have the same nearest piece: %s\n",
              losses.size(), static_cast<long long>(length), 1 - mean.value,
              bound, options.search.confidence, worst, above, quality,
              kept.sameNearest, verdict);
  Json texts = Json::array();
  for (size_t i = 0; i < heldOut.size();) {
    EncoderMeasurement part;
    size_t first = i;
    for (; i < heldOut.size() && heldOut[i].path == heldOut[first].path; ++i)
      part.runs.push_back(kept.each.runs[i]);
    std::string name =
        std::filesystem::path(heldOut[first].path).filename().string();
    std::printf("%-24s %4zu pieces, cosine %.4f on average, %.4f at least\n",
                name.c_str(), i - first, part.meanCosine(), part.worstCosine());
    texts.push_back({{"text", name},
                     {"pieces", i - first},
                     {"mean", rounded(part.meanCosine())},
                     {"worst", rounded(part.worstCosine())}});
  }
  return {{"verdict", verdict},
          {"device", runner.device->info().name},
          {"pieces", losses.size()},
          {"mean", rounded(1 - mean.value)},
          {"mean_bound", rounded(bound)},
          {"worst", rounded(worst)},
          {"share_kept", rounded(static_cast<double>(above) /
                                 static_cast<double>(losses.size()))},
          {"same_nearest", rounded(kept.sameNearest)},
          {"texts", std::move(texts)}};
}

Status EncoderDepthsCommand::finish(EncoderDepths &depths, double quality,
                                    DepthPlan plan, const MapSet &maps,
                                    const std::string &output) {
  double work = countWork(model, plan, length);
  std::printf("cosine %g, %lld tokens: %.3f of the work\n", quality,
              static_cast<long long>(length), work);
  for (size_t i = 0; i < plan.layers.size(); ++i)
    if (plan.layers[i].kind != LayerDepth::Full)
      std::printf("layer %zu: %s\n", i, printDepth(plan.layers[i]).c_str());
  KeptEmbeddings kept;
  GIST_TRY(depths.measure(plan, maps, heldOut, kept));
  std::string file = DepthsOptions::mapsOf(output);
  plan.maps = std::filesystem::path(file).filename().string();
  GIST_TRY(writeMaps(file, *runner.module, maps));
  Json contract = {{"cosine", quality},
                   {"confidence", options.search.confidence},
                   {"tokens", length},
                   {"work", rounded(work)},
                   {"certificate", judge(kept, quality)}};
  // Written before it is measured: what compiles is the file.
  auto write = [&] {
    return writeWhole(output, printPlanFile({}, plan, {}, contract.dump()));
  };
  GIST_TRY(write());
  GIST_TRY(measureSpeed(output, contract["speed"]));
  GIST_TRY(write());
  std::printf("\ngist-compile %s -o less.gist --plan %s\n",
              options.source.c_str(), output.c_str());
  return {};
}

/// Embeds some held-out pieces by the model and by the plan in turns.
Status EncoderDepthsCommand::measureSpeed(const std::string &output,
                                          Json &speed) {
  if (dense.path.empty())
    GIST_TRY(
        dense.make(options.compiler, options.source, options.model.device, {}));
  run::TemporaryModule less;
  GIST_TRY(less.make(options.compiler, options.source, options.model.device,
                     {"--plan", output}));
  run::Runner both[2];
  for (int i = 0; i < 2; ++i) {
    run::ModelOptions chosen = options.model;
    chosen.path = i == 0 ? dense.path : less.path;
    chosen.trust = true; // Both were compiled a moment ago.
    GIST_TRY(both[i].open(chosen));
  }
  double least[2] = {0, 0};
  constexpr int kTurns = 5;
  constexpr size_t kPieces = 40;
  size_t step = (heldOut.size() + kPieces - 1) / kPieces;
  std::vector<float> ignored;
  for (int turn = 0; turn < kTurns; ++turn)
    for (int i = 0; i < 2; ++i) {
      auto before = std::chrono::steady_clock::now();
      for (size_t k = 0; k < heldOut.size(); k += step)
        GIST_TRY(both[i].session->embed(heldOut[k].tokens, ignored));
      std::chrono::duration<double> taken =
          std::chrono::steady_clock::now() - before;
      least[i] = turn == 0 ? taken.count() : std::min(least[i], taken.count());
    }
  auto pieces = static_cast<double>((heldOut.size() + step - 1) / step);
  std::printf("time of a piece: %.4g s instead of %.4g s, %.2f times as fast\n",
              least[1] / pieces, least[0] / pieces, least[0] / least[1]);
  speed = {{"device", runner.device->info().name},
           {"dense_seconds", least[0] / pieces},
           {"seconds", least[1] / pieces},
           {"times", least[0] / least[1]}};
  return {};
}

Status plan::findEncoderDepths(const DepthsOptions &options,
                               const std::string &module) {
  return EncoderDepthsCommand(options).run(module);
}
