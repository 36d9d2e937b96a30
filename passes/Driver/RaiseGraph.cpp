//===- RaiseGraph.cpp - Graphs of other exporters -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/RaiseGraph.h"

#include "dialect/GistDialect.h"
#include "dialect/GistPlanOps.h"
#include "passes/Pipelines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace gist;
using namespace gist::compile;

/// Dialects that exporters write and MLIR itself does not have.
static constexpr llvm::StringLiteral kForeign[] = {"iree_linalg_ext",
                                                   "stablehlo",
                                                   "torch",
                                                   "torch_c",
                                                   "chlo",
                                                   "vhlo",
                                                   "mhlo",
                                                   "hal",
                                                   "iree_input",
                                                   "util",
                                                   "flow"};

Status compile::explainParseError(const std::string &path, llvm::StringRef text,
                                  Status parserError) {
  for (llvm::StringRef name : kForeign) {
    std::string start = (name + ".").str();
    for (size_t at = text.find(start); at != llvm::StringRef::npos;
         at = text.find(start, at + 1)) {
      // The beginning of an op, and not a part of another word.
      bool isOp = at > 0 && (text[at - 1] == ' ' || text[at - 1] == '"' ||
                             text[at - 1] == '!' || text[at - 1] == '#');
      if (isOp)
        return Status::error(
            Code::Unsupported,
            "%s: the graph has ops of the dialect '%s', which Gist does not "
            "read; export it as linalg on tensors",
            path.c_str(), name.str().c_str());
    }
  }
  return parserError;
}

/// Ops that exporters write and the graph stage does not take as they are.
static bool isOfExporter(Operation *op) {
  if (isa<cf::AssertOp, tensor::ReshapeOp, linalg::BatchMatmulOp,
          linalg::TransposeOp>(op))
    return true;
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto values =
      constant ? dyn_cast<ElementsAttr>(constant.getValue()) : nullptr;
  return values && values.getNumElements() > 1 && !values.isSplat();
}

/// True for a graph of an exporter. A graph with ops or attributes of gist is
/// taken to be in the form that the stages expect.
static bool isOfOthers(ModuleOp graph) {
  bool found = false;
  WalkResult walk = graph.walk([&](Operation *op) {
    if (isa_and_nonnull<GistDialect>(op->getDialect()))
      return WalkResult::interrupt();
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (attribute.getName().strref().starts_with("gist."))
        return WalkResult::interrupt();
    found |= isOfExporter(op);
    return WalkResult::advance();
  });
  return found && !walk.wasInterrupted();
}

/// The bytes of a weight that the graph brought. RaiseWeights has compared
/// their number with the type.
static ArrayRef<char> getBytes(ConstantWeightOp op) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValues()))
    return resource.getRawHandle().getBlob()->getData();
  return cast<DenseElementsAttr>(op.getValues()).getRawData();
}

Status compile::raiseGraph(ModuleOp graph, Stages &stages, WeightMap &weights) {
  if (!isOfOthers(graph))
    return {};
  GIST_TRY(stages.run("raise", graph, buildRaiseStage));
  for (auto op : llvm::make_early_inc_range(graph.getOps<ConstantWeightOp>())) {
    ArrayRef<char> bytes = getBytes(op);
    ArrayRef<int64_t> shape = op.getValues().getShapedType().getShape();
    Weight weight;
    weight.shape.assign(shape.begin(), shape.end());
    weight.content = {reinterpret_cast<const uint8_t *>(bytes.data()),
                      bytes.size()};
    weights.entries.emplace(op.getSymName().str(), std::move(weight));
    op.erase();
  }
  return {};
}
