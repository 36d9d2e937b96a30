//===- GistSamplingOps.h - From logits to tokens ----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_GISTSAMPLINGOPS_H
#define GIST_DIALECT_GISTSAMPLINGOPS_H

#include "dialect/GistDialect.h"
#include "dialect/ValueBuilder.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialect/GistSamplingOps.h.inc"

namespace gist {

/// What the numbers of a row of settings are; GistSamplingOps.td says more.
/// The runtime has the same numbers as SampleSettings::Field
/// (runtime/session/Sampler.h).
enum class SampleField { Scale, TopK, TopP, Least, Random };
inline constexpr int64_t kNumSampleFields = 5;

/// The weight, an i64, of a token whose logit is `logit` where the largest is
/// `best`. Both and `scale` are f32.
mlir::Value createSampleWeight(ValueBuilder &b, mlir::Value logit,
                               mlir::Value best, mlir::Value scale);

/// floor(total * share / 2^32) in i64 that does not overflow: a share is at
/// most 2^32, a total below 2^55.
mlir::Value createShare(ValueBuilder &b, mlir::Value total, mlir::Value share);

} // namespace gist

#endif // GIST_DIALECT_GISTSAMPLINGOPS_H
