//===- RankPasses.h - A part of the graph for each rank ---------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_RANKS_RANKPASSES_H
#define GIST_PASSES_RANKS_RANKPASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

namespace gist {

#define GEN_PASS_DECL
#include "passes/Ranks/RankPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Ranks/RankPasses.h.inc"

} // namespace gist

#endif // GIST_PASSES_RANKS_RANKPASSES_H
