//===- Compile.cpp - The stages, from a model to a file -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-compile/Compile.h"

#include "dialect/GistOps.h"
#include "passes/Emit/EmitModule.h"
#include "passes/Pipelines.h"
#include "passes/Target/CompileCpu.h"
#include "tools/Registration.h"
#include "tools/gist-compile/Diagnostics.h"
#include "tools/gist-compile/Entries.h"
#include "tools/gist-compile/Kernels.h"
#include "tools/gist-compile/Module.h"
#include "tools/gist-compile/Output.h"
#include "tools/gist-compile/Target.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace gist;
using namespace gist::compile;

/// The context of a graph, which does not say one, unless the user does.
static constexpr int64_t kGraphContext = 4096;

static DialectRegistry createRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

namespace {
/// One run of the compiler. Stages follow one another in run().
class Compilation {
public:
  Compilation(const Options &options, Progress &progress)
      : options(options), progress(progress), context(createRegistry()),
        diagnostics(context, progress), dump(options.dumpStages) {}

  Status run();

private:
  using BuildStage = llvm::function_ref<void(OpPassManager &)>;

  Status parseGraph();
  /// Runs a stage of passes/Pipelines.h on `module`, and dumps the outcome.
  Status runStage(const std::string &name, ModuleOp module, BuildStage build);
  Status prepareGraph();
  Status lowerKernels();
  Status writeCode();
  Status writeModule();

  const Options &options;
  Progress &progress;
  MLIRContext context;
  Diagnostics diagnostics;
  StageDump dump;

  CpuTarget target;
  OwningOpRef<ModuleOp> program; ///< the graph, then the calls of kernels
  OwningOpRef<ModuleOp> kernels; ///< copies of the program's, lowered
  WeightMap weights;
  ImportedModel model;
  bool isInt8 = false; ///< some products are of 8-bit integers
};
} // namespace

Status Compilation::parseGraph() {
  auto buffer = llvm::MemoryBuffer::getFile(options.model, /*IsText=*/true);
  if (!buffer)
    return Status::error(Code::NotFound, "%s: cannot open: %s",
                         options.model.c_str(),
                         buffer.getError().message().c_str());
  llvm::SourceMgr source;
  source.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  program = parseSourceFile<ModuleOp>(source, ParserConfig(&context));
  if (!program)
    return diagnostics.takeError("import");
  model.architecture = "graph";
  model.config.contextLength = model.config.capacity =
      options.context != 0 ? options.context : kGraphContext;
  return {};
}

Status Compilation::runStage(const std::string &name, ModuleOp module,
                             BuildStage build) {
  progress.begin(name);
  PassManager pm(&context);
  build(pm);
  if (failed(pm.run(module)))
    return diagnostics.takeError(name);
  return dump.write(name, module);
}

Status Compilation::prepareGraph() {
  GIST_TRY(runStage("graph", *program, [&](OpPassManager &pm) {
    GraphPipelineOptions graph;
    graph.int8 = options.compute != Compute::F32;
    graph.triple = target.triple;
    graph.cpu = target.cpu;
    graph.features = target.features;
    buildGraphStage(pm, graph);
  }));
  isInt8 =
      program->walk([](QuantizedMatmulOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (options.compute == Compute::Int8 && !isInt8)
    return Status::error(Code::BadArgument,
                         "%s: --compute=int8 needs block-quantised weights, "
                         "and no product of this model has one",
                         options.model.c_str());
  return {};
}

Status Compilation::lowerKernels() {
  kernels = copyKernels(*program);
  GIST_TRY(runStage("tiles", *kernels, [&](OpPassManager &pm) {
    CpuPipelineOptions cpu;
    cpu.triple = target.triple;
    cpu.cpu = target.cpu;
    cpu.features = target.features;
    buildTileStage(pm, cpu);
  }));
  return runStage("cpu", *kernels, buildCpuStage);
}

Status Compilation::writeCode() {
  progress.begin("code");
  FailureOr<std::string> text = options.emit == Emit::Llvm
                                    ? printLlvm(*kernels, target)
                                    : emitCpuAssembly(*kernels, target);
  if (failed(text))
    return diagnostics.takeError("code");
  return writeText(*text, options.output);
}

Status Compilation::writeModule() {
  progress.begin("code");
  FailureOr<std::vector<char>> object = emitCpuObject(*kernels, target);
  if (failed(object))
    return diagnostics.takeError("code");
  GIST_TRY(runStage("memory", *program, buildMemoryStage));

  progress.begin("module");
  if (!options.isGraph() && !model.tokenizer)
    diagnostics.warn(options.model + ": " + model.noTokenizerBecause +
                     "; the module takes token ids alone");
  ModuleWriter writer;
  describeModel(options, model, isInt8, writer);
  EmitOptions emit;
  emit.capacity = model.config.capacity;
  if (options.referenceWeights)
    emit.referenceFrom = options.output;
  CompiledKernels compiled{describeTarget(target),
                           std::string(object->begin(), object->end()),
                           *kernels};
  if (failed(emitModule(*program, weights, compiled, emit, writer)))
    return diagnostics.takeError("module");
  return writer.write(options.output);
}

Status Compilation::run() {
  if (options.emit >= Emit::Kernels)
    GIST_TRY(findTarget(options, target));

  progress.begin("import");
  GIST_TRY(options.isGraph()
               ? parseGraph()
               : importEntries(options, context, program, weights, model));
  GIST_TRY(dump.write("import", *program));
  if (options.emit == Emit::Graph)
    return writeText(printModule(*program), options.output);

  GIST_TRY(prepareGraph());
  GIST_TRY(runStage("kernels", *program, buildKernelStage));
  if (options.emit == Emit::Kernels)
    return writeText(printModule(*program), options.output);

  GIST_TRY(lowerKernels());
  return options.emit == Emit::Module ? writeModule() : writeCode();
}

/// Import, graph, kernels, tiles, cpu, code, memory, module.
static size_t countStages(Emit emit) {
  switch (emit) {
  case Emit::Graph:
    return 1;
  case Emit::Kernels:
    return 3;
  case Emit::Llvm:
  case Emit::Assembly:
    return 6;
  case Emit::Module:
    return 8;
  }
  return 0;
}

Status compile::compileModel(const Options &options, Progress &progress) {
  progress.expect(countStages(options.emit));
  return Compilation(options, progress).run();
}
