//===- Iree.cpp - Programs for IREE ---------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a graph to text for IREE's compiler and the files beside it:
//
//   model.mlir   the program             model.irpa   the weights
//   model.o, model.hsaco, model.ptx      the code of kernels, where embedded
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Iree.h"

#include "dialect/GistClusterOps.h"
#include "dialect/GistOps.h"
#include "passes/Iree/Parameters.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace gist;
using namespace gist::compile;

namespace {
/// A folder that is gone when this is.
class ScratchFolder {
public:
  Status open() {
    if (std::error_code error =
            llvm::sys::fs::createUniqueDirectory("gist-iree", path))
      return Status::error(Code::Io, "cannot make a temporary folder: %s",
                           error.message().c_str());
    return {};
  }
  ~ScratchFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
  std::string getFile(llvm::StringRef name) const {
    llvm::SmallString<128> file(path);
    llvm::sys::path::append(file, name);
    return file.str().str();
  }

  llvm::SmallString<128> path;
};
} // namespace

static const char *getCodeEnding(const Target &target) {
  if (!target.gpu)
    return ".o";
  return target.gpu->kind == GpuKind::Amd ? ".hsaco" : ".ptx";
}

/// `path` with another ending.
static std::string withEnding(llvm::StringRef path, const char *ending) {
  llvm::SmallString<128> result(path);
  llvm::sys::path::replace_extension(result, ending);
  return result.str().str();
}

/// The graph as IREE is to compile it, on tensors.
static Status preparePlain(ModuleOp graph, Stages &stages) {
  return stages.run("graph", graph, [](OpPassManager &pm) {
    pm.addPass(createSetTargetPass());
    buildGraphStage(pm, GraphPipelineOptions());
  });
}

Status compile::writeIree(ModuleOp graph, const Target &target,
                          const Options &options, const IreeCompiler &compiler,
                          Stages &stages, WeightMaker &weights) {
  bool isEmbedded = options.ireeKernels == IreeKernels::Embedded;
  OwningOpRef<ModuleOp> own(graph.clone());
  std::string code;
  if (isEmbedded) {
    Program program(std::move(own), target, "", options, stages);
    GIST_TRY(program.formKernels());
    GIST_TRY(program.prepareExport());
    code = program.getCode();
    own = program.getCalls().clone();
  } else {
    GIST_TRY(preparePlain(*own, stages));
  }
  ParameterArchive archive;
  if (failed(addParameters(*own, weights, archive)))
    return stages.diagnostics.takeError("parameters");

  // Ops of IREE's dialects are printed without being registered.
  own->getContext()->allowUnregisteredDialects();
  bool isText = options.output == "-";
  std::string codeFile =
      withEnding(isText ? "kernels" : options.output, getCodeEnding(target));
  std::string codeName = llvm::sys::path::filename(codeFile).str();
  GIST_TRY(stages.run("iree", *own, [&](OpPassManager &pm) {
    IreePipelineOptions iree;
    if (isEmbedded)
      iree.object = codeName;
    buildIreeStage(pm, iree);
  }));
  std::string text = printModule(*own);
  // Weights and code cannot go to standard output.
  if (isText)
    return writeText(text, options.output);
  stages.progress.begin("parameters");
  GIST_TRY(archive.write(withEnding(options.output, ".irpa")));
  if (!options.viaIree) {
    if (isEmbedded)
      GIST_TRY(writeText(code, codeFile));
    return writeText(text, options.output);
  }
  stages.progress.begin("iree-compile");
  ScratchFolder folder;
  GIST_TRY(folder.open());
  std::string textFile = folder.getFile("program.mlir");
  GIST_TRY(writeText(text, textFile));
  if (isEmbedded)
    GIST_TRY(writeText(code, folder.getFile(codeName)));
  return compiler.run(textFile, folder.path.str().str(), target,
                      options.output);
}
