//===- Theta.h - From which cosine tokens are alike -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_FORMAT_THETA_H
#define GIST_RUNTIME_FORMAT_THETA_H

namespace gist {

/// The cosine that makes a token redundant for a selection with `tau`:
/// 1 - tau^2 in f32, each operation rounded, as kernels compute it. No cosine
/// reaches the theta of a `tau` that is not in (0, 1), 0 and NaN included: such
/// a selection keeps every token.
float thetaOfTau(float tau);

} // namespace gist

#endif // GIST_RUNTIME_FORMAT_THETA_H
