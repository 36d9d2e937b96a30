//===- Parameters.cpp - Weights as IREE's parameters ----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Iree/Parameters.h"
#include "dialect/GistIntegerOps.h"
#include "passes/Emit/WeightParts.h"

#include <set>

using namespace mlir;
using namespace gist;

std::string gist::getParameterName(WeightOp op) {
  std::string name = op.getName().str();
  llvm::raw_string_ostream stream(name);
  // A packed weight has other bytes than the stored one.
  if (Attribute packing = op->getAttr(kPackingAttr))
    stream << " " << packing;
  // So has one that is joined for another target, or in 8 bits; the type tells
  // them apart.
  if (op->hasAttr(kPartsAttr) || op->hasAttr(kByRowAttr))
    stream << " " << op.getType();
  return name;
}

LogicalResult gist::addParameters(ModuleOp module, WeightMaker &weights,
                                  ParameterArchive &archive) {
  std::set<std::string> names;
  WalkResult walk = module.walk([&](WeightOp op) {
    std::string name = getParameterName(op);
    if (!names.insert(name).second)
      return WalkResult::advance();
    FailureOr<std::vector<const Weight *>> parts = findParts(op, weights);
    if (failed(parts))
      return WalkResult::interrupt();
    if (parts->front()->random) {
      op.emitOpError("has random numbers, which a file of parameters cannot "
                     "hold; compile the model with its weights");
      return WalkResult::interrupt();
    }
    archive.add(std::move(name),
                getNumBytes(cast<RankedTensorType>(op.getType())),
                makeProducer(op, std::move(*parts)));
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}
