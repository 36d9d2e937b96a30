//===- EncoderDepths.h - Which layers an encoder needs ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans of depths for encoders (passes/Plan/File/DepthPlan.h): all tokens do
// what a layer's kind says, and a plan is judged by the cosine between its
// embeddings and those of the model as it is.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_ENCODERDEPTHS_H
#define GIST_TOOLS_PLANNING_ENCODERDEPTHS_H

#include "tools/planning/DepthFit.h"
#include "tools/planning/EncoderTexts.h"

namespace gist::plan {

/// What a plan keeps of the embeddings of some pieces of text.
struct KeptEmbeddings {
  EncoderMeasurement each;
  /// The share of pieces whose nearest other piece is the same as by the
  /// model's own embeddings.
  double sameNearest = 1;
};

class EncoderDepths {
public:
  /// All of these outlive this. `runner` has the module that `model` is of.
  EncoderDepths(run::Runner &runner, DepthModel &model, DepthFitter &fitter)
      : runner(runner), model(model), fitter(fitter) {}

  /// Embeds pieces by the model as it is.
  Status embedAsItIs(std::vector<EncoderText> &texts);

  /// Fits every kind of every layer alone, and measures what it loses on
  /// `texts`; thin layers have one of so many of their neurons.
  Status measureKinds(std::span<const int64_t> shares,
                      std::vector<EncoderText> texts, const run::Limit &limit);
  /// The plan with least work that loses no more than `allowed` of the cosine
  /// of any piece, with its maps fitted together. It tries so many plans; all
  /// layers are full where none holds.
  Status choose(double allowed, int tries, const run::Limit &limit,
                DepthPlan &plan, MapSet &maps);
  /// The maps of a plan that is given.
  Status fit(const DepthPlan &plan, const run::Limit &limit, MapSet &maps);

  Status measure(const DepthPlan &plan, const MapSet &maps,
                 const std::vector<EncoderText> &on, KeptEmbeddings &kept);

private:
  /// One change of the model as it is.
  struct Kind {
    DepthChoice depth;
    MapSet maps;
  };
  DepthPlan planOf(size_t layer, const DepthChoice &choice) const;
  DepthPlan planOf(const std::vector<size_t> &choices, MapSet &maps) const;

  run::Runner &runner;
  DepthModel &model;
  DepthFitter &fitter;
  std::vector<EncoderText> texts;
  std::vector<std::vector<Kind>> kinds; ///< of each layer; the first is full
  Places places;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_ENCODERDEPTHS_H
