//===- Backend.cpp - From LLVM IR to machine code -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Target/Backend.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace gist;

/// LLVM's -O3, with the costs of the target.
void Backend::optimize() {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(*module, modules);
}

/// Assembly or an object file, in memory.
FailureOr<std::vector<char>> Backend::emit(Operation *op,
                                           llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type))
    return op->emitError("the code generator cannot write this kind of file");
  passes.run(*module);
  return std::vector<char>(bytes.begin(), bytes.end());
}

/// For the passes that write code (gist-opt): the file is kept only when it was
/// written.
LogicalResult
gist::writeCode(Operation *op, StringRef path, bool isAssembly,
                function_ref<FailureOr<std::string>()> emitAssembly,
                function_ref<FailureOr<std::vector<char>>()> emitObject) {
  std::vector<char> bytes;
  if (isAssembly) {
    FailureOr<std::string> text = emitAssembly();
    if (failed(text))
      return failure();
    bytes.assign(text->begin(), text->end());
  } else {
    FailureOr<std::vector<char>> object = emitObject();
    if (failed(object))
      return failure();
    bytes = std::move(*object);
  }
  std::error_code error;
  llvm::ToolOutputFile file(path, error, llvm::sys::fs::OF_None);
  if (error)
    return op->emitError("cannot open ") << path << ": " << error.message();
  file.os().write(bytes.data(), bytes.size());
  file.keep();
  return success();
}
