//===- WeightParts.h - What the bytes of a weight are made of ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_EMIT_WEIGHTPARTS_H
#define GIST_PASSES_EMIT_WEIGHTPARTS_H

#include "passes/Plan/MadeWeights.h"
#include "runtime/format/Half.h"
#include "runtime/module/ModuleWriter.h"

namespace gist {

/// The weights that `op` is made of, one below the other. A missing weight is
/// reported at the op.
mlir::FailureOr<std::vector<const Weight *>> findParts(WeightOp op,
                                                       WeightMaker &weights);

/// Writes `parts` one below the other, in the order that the packing of `op`
/// describes, or what its kByRowAttr says, or else as they are stored. `parts`
/// must stay alive until the producer has run.
WeightProducer makeProducer(WeightOp op, std::vector<const Weight *> parts);

/// The floats of 8 bits that `number` is, if it is some.
std::optional<SmallFloat> getSmallFloat(mlir::Type number);

/// The bytes that a tensor of this type takes.
uint64_t getNumBytes(mlir::RankedTensorType type);

} // namespace gist

#endif // GIST_PASSES_EMIT_WEIGHTPARTS_H
