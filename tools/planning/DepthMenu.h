//===- DepthMenu.h - Which layers a prompt's bulk may leave out -*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every kind of every layer is fitted and measured alone, and so is a tail from
// every layer on.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_DEPTHMENU_H
#define GIST_TOOLS_PLANNING_DEPTHMENU_H

#include "tools/planning/Contract.h"
#include "tools/planning/DepthFit.h"
#include "tools/planning/JobTime.h"

#include <map>

namespace gist::plan {

/// The work of a prompt of so many tokens, or of an encoder's sequence,
/// relative to the model as it is: multiply-adds of linear layers, maps and
/// attention.
double countWork(const DepthModel &model, const DepthPlan &plan,
                 int64_t prompt);

class DepthMenu {
public:
  /// All of these outlive this. `terms` has the texts and questions that kinds
  /// are measured with.
  DepthMenu(ProbePool &pool, DepthModel &model, DepthFitter &fitter,
            const Contract &terms)
      : pool(pool), model(model), fitter(fitter), terms(terms) {}

  /// Measures each kind of each layer alone; thin layers have one of so many
  /// of their neurons. Kinds that lose far more than `loosest` allows are left
  /// out, and so are those that there is no time for.
  Status measure(const Promise &loosest, std::span<const int64_t> shares,
                 run::Limit &limit);

  /// What is lost of each part of a contract, in nats.
  using Spends = std::map<TermKind, double>;
  /// One change of the model as it is: of a layer, or from a layer on.
  struct Kind {
    size_t layer;
    DepthChoice depth;
    MapSet maps;
    Spends spends; ///< empty: not offered

    bool isTail() const { return depth.kind == LayerDepth::Tail; }
  };
  /// Of those that are offered; null for the model as it is, or no tail.
  std::vector<const Kind *> ofLayer(size_t layer) const;
  std::vector<const Kind *> tails() const;

  /// What a layer of the bulk takes, without its heads' attention.
  double timeOf(size_t layer, const DepthChoice &choice,
                const JobTime &time) const;
  /// Whether the bulk needs what heads give.
  bool keepsHeads(size_t layer, const DepthChoice &choice) const;
  size_t countLayers() const { return model.countLayers(); }

private:
  DepthPlan planOf(const Kind &kind) const;
  void collect(std::span<const int64_t> shares);
  bool isHopeless(const Kind &kind) const;
  Spends spendsOf(const Measurement &measured) const;
  double shareOf(const Spends &spends) const;
  /// What each kind spends alone, layer by layer.
  void print() const;

  ProbePool &pool;
  DepthModel &model;
  DepthFitter &fitter;
  const Contract &terms;
  Promise promise;
  std::vector<Kind> kinds;
};

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_DEPTHMENU_H
