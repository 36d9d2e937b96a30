//===- ClusterHead.h - What a cache's table says of a head ------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_CLUSTERHEAD_H
#define GIST_DIALECT_CLUSTERHEAD_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace gist {

/// What the table says of one KV head of one layer.
/// Indices and f32 numbers, loaded where the builder stands.
struct ClusterHead {
  ClusterHead(mlir::ImplicitLocOpBuilder &b, mlir::Value heads,
              mlir::Value layer, mlir::Value head);

  /// The row of the ring in which token `t` is.
  mlir::Value getRow(mlir::ImplicitLocOpBuilder &b, mlir::Value t) const;

  /// The first token that a call sees exactly, with `past` tokens before it.
  mlir::Value getFirstExact(mlir::ImplicitLocOpBuilder &b, mlir::Value past,
                            int64_t block) const;

  // The fields of runtime/format/HeadTable.h, in rows and units of the whole
  // cache, so that no kernel computes where a head begins.
  mlir::Value ringRow, ringRows, meanRow, unit, capacity, window, sinks, theta;
};

/// max(0, x - y) of indices.
mlir::Value subOrZero(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                      mlir::Value y);

} // namespace gist

#endif // GIST_DIALECT_CLUSTERHEAD_H
