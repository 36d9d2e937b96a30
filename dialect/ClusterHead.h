//===- ClusterHead.h - What a cache's table says of a head ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The definition of a cache of clusters and the kernels of all targets read the
// table here, and decide here what becomes of a token.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_CLUSTERHEAD_H
#define GIST_DIALECT_CLUSTERHEAD_H

#include "dialect/ValueBuilder.h"

namespace gist {

/// What the table says of one KV head of one layer, as indices and an f32.
struct ClusterHead {
  using Value = mlir::Value;

  /// `read` gives the f32 in a column of the head's row of the table. What is
  /// computed of them as integers is so in the type `word`: on some targets
  /// division of 64 bits is a long program.
  ClusterHead(ValueBuilder &b, mlir::Type word,
              llvm::function_ref<Value(Value column)> read);

  /// max(0, x - window), or 0 for a head without one: the first token that is
  /// exact with `x` tokens before the block.
  Value getFirstExact(ValueBuilder &b, Value x) const;
  /// Whether tokens leave the window in a call with `past` tokens before it:
  /// only where a block begins.
  Value letsTokensLeave(ValueBuilder &b, Value past, int64_t block) const;

  /// The place in the ring of token `t`.
  Value getPlace(ValueBuilder &b, Value t) const;
  /// The row, in the pools, of the token that comes `n` after the one at
  /// `place`; n is less than the ring has rows.
  Value getRow(ValueBuilder &b, Value place, Value n) const;
  /// The row of token `t`.
  Value getRow(ValueBuilder &b, Value t) const {
    return b.add(ringRow, getPlace(b, t));
  }

  /// What becomes of a token: whether it founds a cluster, whether it is in one
  /// then, and in which.
  struct Choice {
    Value founds, takesPart, cluster;
  };
  /// A token joins if it is alike; else it founds a cluster if there is room;
  /// else it joins the nearest one all the same. A head with sinks drops what
  /// is not among the first. `nearest` of `count` clusters, or -1, has this
  /// cosine; `inverse` is that of createInverseNorm.
  Choice choose(ValueBuilder &b, Value token, Value inverse, Value cosine,
                Value nearest, Value count) const;

  // The fields of runtime/format/HeadTable.h, in rows and units of the whole
  // cache, so that no kernel computes where a head begins.
  Value ringRow, ringRows, meanRow, unit, capacity, window, sinks, theta;

private:
  mlir::Type word;
};

/// One over the root of a sum of squares, 0 where the row has no direction.
mlir::Value createInverseNorm(ValueBuilder &b, mlir::Value square);

} // namespace gist

#endif // GIST_DIALECT_CLUSTERHEAD_H
