//===- MeanLoss.h - What a change of a model loses --------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_MEANLOSS_H
#define GIST_TOOLS_PLANNING_MEANLOSS_H

namespace gist {

/// How far a prediction that changed -log p of the right token by `change` is
/// from what it was: change^2 / 2, but at most |change|. For small changes, and
/// for tokens distributed as the model predicts, its mean is the
/// Kullback-Leibler divergence.
double divergenceOf(double change);

/// What a change of the model, such as one head with a window, loses over some
/// tokens, per token.
struct MeanLoss {
  double mean = 0; ///< of the changes of -log p
  double divergence = 0;
  double tokens = 0;

  /// Adds other tokens.
  void add(const MeanLoss &other);
  /// The best guess at what is lost on other text. The mean is what is asked
  /// for, but a head that loses 0.0001 nats changes single tokens by 0.014, so
  /// that the mean over thousands of them still scatters by more than itself;
  /// the divergence does not. The less the mean is known, the more the
  /// divergence counts.
  double estimate() const;
};

} // namespace gist

#endif // GIST_TOOLS_PLANNING_MEANLOSS_H
