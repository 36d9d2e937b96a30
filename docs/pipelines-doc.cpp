//===- pipelines-doc.cpp - Writes the stages' part of docs/passes.md ------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints every stage as it is registered: what it does, its options, and the
// passes that it runs without them. Tables know passes alone, so a program has
// to ask for the stages.
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Registration.h"
#include "passes/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static LogicalResult printStage(MLIRContext &context, StringRef name) {
  const PassPipelineInfo *stage = PassPipelineInfo::lookup(name);
  PassManager pm(&context);
  auto report = [&](const Twine &message) {
    llvm::errs() << name << ": " << message << '\n';
    return failure();
  };
  if (!stage)
    return report("the stage is not registered");
  if (failed(stage->addToPipeline(pm, /*options=*/"", report)))
    return failure();
  llvm::outs() << "### `-" << name << "`\n\n```\n";
  stage->printHelpStr(/*indent=*/0, /*descIndent=*/24);
  llvm::outs() << "```\n\n```\n";
  pm.printAsTextualPipeline(llvm::outs(), /*pretty=*/true);
  llvm::outs() << "\n```\n\n";
  return success();
}

int main() {
  DialectRegistry registry;
  gist::registerDialects(registry);
  gist::registerPassesAndPipelines();
  MLIRContext context(registry);
  for (StringRef name : gist::getStageNames())
    if (failed(printStage(context, name)))
      return 1;
  llvm::outs() << "## Passes\n\n";
  return 0;
}
