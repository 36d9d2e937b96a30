//===- MeanLoss.cpp - What a change of a model loses ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/MeanLoss.h"

#include <algorithm>
#include <cmath>

using namespace gist;

double gist::divergenceOf(double change) {
  return std::sqrt(1 + change * change) - 1;
}

void MeanLoss::add(const MeanLoss &other) {
  if (other.tokens <= 0)
    return;
  tokens += other.tokens;
  double weight = other.tokens / tokens;
  mean += weight * (other.mean - mean);
  divergence += weight * (other.divergence - divergence);
}

double MeanLoss::estimate() const {
  if (divergence <= 0 || tokens <= 0)
    return 0;
  // What is lost differs from the divergence by about as much again, so the
  // prior's variance is divergence^2; that of the mean is the variance of a
  // change, 2 divergence, over the tokens.
  double weight = divergence / (divergence + 2 / tokens);
  return std::max(0.0, divergence + weight * (mean - divergence));
}
