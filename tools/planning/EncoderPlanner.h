//===- EncoderPlanner.h - The least work that keeps embeddings --*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An encoder sees a text at once, and every head may attend to means of
// clusters of its keys. How coarse they are is a tau for each head, which is a
// weight of the module that gist-compile --plan=calibration makes: so any plan
// can be tried without compiling again.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_ENCODERPLANNER_H
#define GIST_TOOLS_PLANNING_ENCODERPLANNER_H

#include "tools/planning/Solver.h"
#include "tools/running/Options.h"

#include <functional>
#include <span>

namespace gist::plan {

/// A piece of a text, as the model takes it.
struct EncoderText {
  std::string path;
  std::vector<int32_t> tokens;
  std::vector<float> dense; ///< its embedding by the model as it is
};

/// The result of a plan on a text.
struct EncoderRun {
  double loss = 0;          ///< 1 - cosine to the dense embedding
  double work = 0;          ///< attention, of dense
  std::vector<double> kept; ///< representatives, by layer and head
};

/// Cuts a text into at most `pieces` of `tokens` tokens, 0: as many as the
/// model takes, with what stands around a text. What is left of a text after
/// whole pieces is not used, unless it is all there is.
Status cutText(run::Runner &model, const std::string &path,
               std::string_view content, int64_t tokens, size_t pieces,
               std::vector<EncoderText> &texts);

/// 1 - the cosine between two embeddings.
double cosineLoss(const std::vector<float> &a, const std::vector<float> &b);

/// Multiply-adds of scores, values and selection with r representatives of T
/// tokens, relative to all tokens: a representative was compared with those
/// before it, any other token with all.
double encoderWork(double kept, double tokens);

/// A session in which any taus can be tried.
class EncoderProber {
public:
  Status open(const run::ModelOptions &options);

  /// Cuts a text (cutText) and embeds its pieces without a plan.
  Status addText(const std::string &path, int64_t tokens, size_t pieces,
                 std::vector<EncoderText> &texts);

  /// Embeds a text. `taus` are those of all layers' heads; 0 keeps a head
  /// dense.
  Status run(std::span<const double> taus, const EncoderText &text,
             EncoderRun &result);

  size_t layers() const { return weights.size(); }
  size_t heads() const { return numHeads; } ///< of a layer
  const run::Runner &model() const { return runner; }

private:
  Status embed(std::span<const double> taus, const std::vector<int32_t> &tokens,
               std::vector<float> &result);

  run::Runner runner;
  std::vector<std::string> weights; ///< that hold the taus of a layer
  size_t numHeads = 0;
};

struct EncoderOptions {
  double quality = 0.995; ///< cosine that every text keeps
  double margin = 0.35;   ///< share of 1 - quality for calibration texts
  std::vector<double> taus = {0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7};
};

/// The results of a plan on several texts.
struct EncoderMeasurement {
  std::vector<EncoderRun> runs;

  double worstCosine() const;
  double meanCosine() const;
  double worstWork() const;
};

/// Chooses an option for each place, so that the work is least and every text
/// keeps the quality. Options spend 1 - cosine of each text. Displacements of
/// an embedding are taken to be orthogonal, so that this adds up; what choices
/// lose together is measured by `measure`, in so many steps. `best` are those
/// that held with the least work, all of them first options where none did.
Status chooseByCosine(
    const Places &places, size_t texts, double allowed, int steps,
    const std::function<Status(const std::vector<size_t> &choices,
                               EncoderMeasurement &measured)> &measure,
    std::vector<size_t> &best, EncoderMeasurement &measured);

class EncoderPlanner {
public:
  EncoderPlanner(const EncoderOptions &options, EncoderProber &prober,
                 std::vector<EncoderText> texts)
      : options(options), prober(prober), texts(std::move(texts)) {}

  /// The cheapest taus, of all layers' heads, that keep the quality on the
  /// texts, and their measurement there. Deterministic.
  Status solve(std::vector<double> &taus, EncoderMeasurement &measured);

  Status measure(std::span<const double> taus,
                 const std::vector<EncoderText> &on,
                 EncoderMeasurement &measured);

private:
  Status measureHeads();
  std::vector<double> tausOf(const std::vector<size_t> &choices) const;

  const EncoderOptions &options;
  EncoderProber &prober;
  std::vector<EncoderText> texts;
  /// For each head what it does alone; the first option is dense.
  Places places;
  std::vector<std::vector<double>> tausOfChoices;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_ENCODERPLANNER_H
