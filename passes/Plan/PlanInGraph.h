//===- PlanInGraph.h - From a plan's file to its ops ------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist.plan` says in IR what passes/Plan/File says in structs. The driver
// writes it; passes read their part of it, do what it says, and drop it.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_PLAN_PLANINGRAPH_H
#define GIST_PASSES_PLAN_PLANINGRAPH_H

#include "dialect/GistOps.h"
#include "dialect/GistPlanOps.h"
#include "passes/Plan/File/PlanFile.h"

namespace gist {

/// Puts `plan` at the start of `module`, in the place of any other. A plan that
/// changes nothing is not written, and gives null.
PlanOp writePlan(mlir::ModuleOp module, const PlanFile &plan);

/// The plan of `module`, or null.
PlanOp getPlan(mlir::ModuleOp module);

/// The plan for calibration of what `module` has: a KV cache, or else attention
/// that sees whole sequences. Fails if it has neither.
Status makeCalibrationPlan(mlir::ModuleOp module, PlanFile &plan);

/// The heads of the layers in `body`, which is the body of a plan or of a
/// table.
Plan getHeads(mlir::Block &body, int64_t block);
/// The linear layers of a plan.
LinearPlan getLinears(PlanOp plan);
/// The depths of a plan.
DepthPlan getDepths(PlanOp plan);

/// The selection and attention of one layer in a plan of selections; null where
/// the plan has none.
struct PlannedAttention {
  PlanSelectOp selection;
  PlanAttendOp attend;
};
llvm::SmallVector<PlannedAttention> getAttentions(PlanOp plan);

/// How each layer selects, as kSelectionsProperty has it: "fresh paper -".
/// Nothing for a plan without selections.
std::string printRules(PlanOp plan);

/// Erases the records of one kind from `plan` after a pass has applied them,
/// and the plan itself with the last of them.
template <typename Record> void dropPart(PlanOp plan) {
  plan->walk([](Record record) { record.erase(); });
  bool isDone = !plan->walk([&](mlir::Operation *op) {
                       return llvm::isa<PlanOp, PlanLayerOp>(op)
                                  ? mlir::WalkResult::advance()
                                  : mlir::WalkResult::interrupt();
                     })
                     .wasInterrupted();
  if (isDone)
    plan.erase();
}

} // namespace gist

#endif // GIST_PASSES_PLAN_PLANINGRAPH_H
