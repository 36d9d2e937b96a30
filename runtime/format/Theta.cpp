//===- Theta.cpp - From which cosine tokens are alike ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled without contraction to fused operations, which round once: theta
// would differ from that of kernels in the last bit.
//
//===----------------------------------------------------------------------===//

#include "runtime/format/Theta.h"

#include <limits>

float gist::thetaOfTau(float tau) {
  if (!(tau > 0 && tau < 1))
    return std::numeric_limits<float>::infinity();
  float square = tau * tau;
  return 1.0F - square;
}
