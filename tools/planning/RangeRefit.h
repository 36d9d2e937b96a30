//===- RangeRefit.h - Better ranges for rounded weights ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rounding chooses a block's scale and minimum before the levels of the blocks
// after it are known. With all levels fixed, the best scales and minima of a
// row are a small least-squares problem, and cost no bytes.
//
// A head has one row for each token, and most of the text that a row meets does
// not contain its token. The text in which the token may occur matters most:
// rounding cuts off the largest numbers of a row, so its error makes the token
// less likely just where it is right.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_RANGEREFIT_H
#define GIST_TOOLS_PLANNING_RANGEREFIT_H

#include "passes/Import/Files/BlockFormats.h"
#include "tools/planning/LinearMoments.h"

namespace gist::plan {

/// For each token of the head `weight` the mean of the `rows` that the head
/// read, weighted by how likely each made the token.
Matrix meanContexts(const Matrix &weight, const Matrix &rows);

/// Gives the blocks of `weight`, of a format of levels, the ranges with which
/// the error e of each row has the least e S e + (e c)^2, where S is the mean
/// of x x^T over the rows x of `input` and c the row of `contexts`. Levels
/// stay, and so do ranges that could not be better.
void refitRanges(const Matrix &weight, WeightFormat format,
                 const LinearMoments &input, const Matrix &contexts,
                 std::vector<uint8_t> &blocks);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_RANGEREFIT_H
