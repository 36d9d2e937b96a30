//===- GistPlanEnums.td - The words of a plan --------------*- tablegen -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PLAN_ENUMS
#define GIST_PLAN_ENUMS

include "mlir/IR/EnumAttr.td"

class Gist_PlanEnum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::gist";
}

def Gist_SelectOn : Gist_PlanEnum<"SelectOn", "the rows that a selection compares", [
  I32EnumAttrCase<"Residual", 0, "residual">,
  I32EnumAttrCase<"Normalised", 1, "normalised">,
  I32EnumAttrCase<"Keys", 2, "keys">,
]>;

// The first four are those of passes/Plan/File/LinearPlan.h, in the same order.
def Gist_LinearPart : Gist_PlanEnum<"LinearPart",
    "linear layers that read the same rows", [
  I32EnumAttrCase<"Qkv", 0, "qkv">,
  I32EnumAttrCase<"O", 1, "o">,
  I32EnumAttrCase<"GateUp", 2, "gate_up">,
  I32EnumAttrCase<"Down", 3, "down">,
  I32EnumAttrCase<"Head", 4, "head">,
]>;

// As passes/Plan/File/LinearWeights.h has them, in the same order.
def Gist_MadeWeightKind : Gist_PlanEnum<"MadeWeightKind",
    "how a weight is made", [
  I32EnumAttrCase<"Rounded", 0, "rounded">,
  I32EnumAttrCase<"Exact", 1, "exact">,
  I32EnumAttrCase<"Basis", 2, "basis">,
  I32EnumAttrCase<"TransposedBasis", 3, "transposed_basis">,
  I32EnumAttrCase<"Image", 4, "image">,
  I32EnumAttrCase<"Correction", 5, "correction">,
]>;

def Gist_DepthKind : Gist_PlanEnum<"DepthKind",
    "what a layer does for the bulk of a prompt", [
  I32EnumAttrCase<"Thin", 0, "thin">,
  I32EnumAttrCase<"Linear", 1, "linear">,
  I32EnumAttrCase<"Tail", 2, "tail">,
  I32EnumAttrCase<"Any", 3, "any">,
]>;

#endif // GIST_PLAN_ENUMS
