//===- MadeNames.cpp - Names of weights that a plan makes -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Ranks/MadeNames.h"
#include "dialect/GistOps.h"
#include "dialect/GistPlanOps.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace gist;

void gist::nameMadeWeights(ModuleOp module, int64_t rank) {
  llvm::StringMap<std::string> names;
  for (Operation &op : *module.getBody()) {
    if (!isa<HeadTableOp, ConstantWeightOp, MadeWeightOp>(op))
      continue;
    StringAttr name = SymbolTable::getSymbolName(&op);
    std::string own = (name.getValue() + ".rank" + std::to_string(rank)).str();
    names[name.getValue()] = own;
    SymbolTable::setSymbolName(&op, own);
  }
  module.walk([&](WeightOp weight) {
    if (auto found = names.find(weight.getName()); found != names.end())
      weight.setName(found->second);
  });
}
