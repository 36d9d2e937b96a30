//===- Compile.cpp - The stages, from a model to a file -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Compile.h"

#include "dialect/GistClusterOps.h"
#include "passes/Driver/Entries.h"
#include "passes/Driver/Module.h"
#include "passes/Driver/Program.h"
#include "passes/Driver/Registration.h"
#include "passes/Driver/ReportCode.h"
#include "passes/Passes.h"
#include "passes/Plan/File/Plan.h"
#include "passes/Plan/MadeWeights.h"
#include "passes/Plan/SelectionRows.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace gist;
using namespace gist::compile;

/// The context of a graph, which does not say one, unless the user does.
static constexpr int64_t kGraphContext = 4096;

/// What products are computed in, for people.
static std::string describeCompute(llvm::ArrayRef<Program> programs) {
  std::string text;
  for (const Program &program : programs) {
    if (programs.size() > 1)
      text += (text.empty() ? "" : ", ") + program.target.name + ": ";
    text += program.target.gpu ? "f16" : program.isInt8 ? "int8" : "f32";
  }
  return text;
}

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
        diagnostics(context, progress),
        stages{progress, diagnostics, StageDump(options.dumpStages)} {}

  Status run();

private:
  Status parseGraph();
  /// Finds out what kind of plan there is, which decides how models are
  /// imported.
  Status readPlanKind();
  /// Does what the plan says, where there is one.
  Status applyPlan();
  Status applySelections();
  /// A program for each target, cut into kernels.
  void warnOfSmallBlocks(llvm::ArrayRef<Target> targets);
  Status createPrograms(llvm::ArrayRef<Target> targets);
  Status writeModule();

  const Options &options;
  Progress &progress;
  MLIRContext context;
  Diagnostics diagnostics;
  Stages stages;

  OwningOpRef<ModuleOp> graph;
  WeightMap weights;
  ImportedModel model;
  std::vector<Program> programs;
  Plan plan;
  SelectionPlan selections;
  bool hasSelections = false; ///< the plan is one of selections
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
  graph = parseSourceFile<ModuleOp>(source, ParserConfig(&context));
  if (!graph)
    return diagnostics.takeError("import");
  model.architecture = "graph";
  model.config.contextLength = model.config.capacity =
      options.context != 0 ? options.context : kGraphContext;
  return {};
}

Status Compilation::readPlanKind() {
  if (options.plan.empty() || options.plan == kCalibrationPlan)
    return {};
  std::string text;
  GIST_TRY(readPlanText(options.plan, text));
  hasSelections = isSelectionPlan(text);
  return {};
}

Status Compilation::applySelections() {
  GIST_TRY(readSelectionPlan(*graph, options.plan, selections));
  GIST_TRY(stages.run("plan", *graph, [&](OpPassManager &pm) {
    InsertSelectionsPassOptions insert;
    insert.plan = options.plan;
    pm.addPass(createInsertSelectionsPass(insert));
    AttendOnRepresentativesPassOptions attend;
    attend.plan = options.plan;
    pm.addPass(createAttendOnRepresentativesPass(attend));
  }));
  LinearBases bases;
  GIST_TRY(LinearBases::open(selections.bases, bases));
  for (size_t i = 0; i < selections.layers.size(); ++i) {
    const std::optional<SelectionChoice> &choice =
        selections.layers[i].selection;
    if (!choice)
      continue;
    auto layer = static_cast<int64_t>(i);
    if (choice->taus.size() > 1)
      weights.entries[getTausWeight(layer)] = madeWeight(
          {static_cast<int64_t>(choice->taus.size())},
          std::vector<float>(choice->taus.begin(), choice->taus.end()));
    if (choice->k == 0)
      continue;
    std::string name = getBasisWeight(layer);
    int64_t d = 0;
    graph->walk([&](WeightOp op) {
      if (op.getName() == name)
        d = cast<RankedTensorType>(op.getType()).getDimSize(1);
    });
    std::vector<float> basis;
    GIST_TRY(bases.basis(layer, LinearGroup::Qkv, choice->k, d, basis));
    weights.entries[name] = madeWeight({choice->k, d}, basis);
  }
  return {};
}

Status Compilation::applyPlan() {
  if (options.plan.empty())
    return {};
  if (hasSelections)
    return applySelections();
  bool isCalibration = options.plan == kCalibrationPlan;
  if (isCalibration && !options.isGraph() && !model.isDecoder) {
    hasSelections = true;
    return applySelections();
  }
  if (!isCalibration)
    GIST_TRY(readPlan(options.plan, plan));
  if (!options.isGraph() && !model.isDecoder)
    return Status::error(Code::Unsupported,
                         "%s: a plan is for models with a KV cache, and %s is "
                         "none",
                         options.model.c_str(), model.architecture.c_str());
  LinearPlan linears;
  if (isCalibration)
    plan = makeCalibrationPlan(model.config.numLayers, model.config.numKvHeads);
  else
    GIST_TRY(readLinearPlan(options.plan, linears));
  if (options.planBlock != 0)
    plan.block = options.planBlock;
  bool hasHeads = !plan.layers.front().empty();
  GIST_TRY(stages.run("plan", *graph, [&](OpPassManager &pm) {
    GateLinearsPassOptions gates;
    gates.plan = options.plan;
    if (linears.isNeeded())
      pm.addPass(createGateLinearsPass(gates));
    ClusterCachePassOptions cache;
    cache.plan = options.plan;
    cache.block = plan.block;
    if (hasHeads)
      pm.addPass(createClusterCachePass(cache));
  }));
  GIST_TRY(makeWeights(*graph, linears, weights));
  if (!hasHeads)
    return {};
  CacheLayout layout;
  GIST_TRY(layOutCache(plan, model.config.capacity, layout));
  weights.entries[kPlanHeadsWeight] = madeWeight(
      {static_cast<int64_t>(plan.layers.size()),
       static_cast<int64_t>(plan.layers.front().size()), kNumHeadFields},
      layout.table);
  return {};
}

/// Says so if a plan that knows nothing of GPUs lets one take few tokens at a
/// time.
void Compilation::warnOfSmallBlocks(llvm::ArrayRef<Target> targets) {
  constexpr int64_t kEnoughForGpus = 512;
  bool hasHeads = !plan.layers.empty() && !plan.layers.front().empty();
  bool hasGpu = llvm::any_of(
      targets, [](const Target &target) { return target.gpu != nullptr; });
  if (!hasHeads || !hasGpu || options.planBlock != 0 ||
      plan.block >= kEnoughForGpus)
    return;
  diagnostics.warn(options.plan + ": prefill takes " +
                   std::to_string(plan.block) +
                   " tokens at a time, which leave most of a GPU idle; "
                   "--plan-block 1024 takes more, and keeps them exactly");
}

Status Compilation::createPrograms(llvm::ArrayRef<Target> targets) {
  warnOfSmallBlocks(targets);
  for (const Target &target : targets) {
    bool isOnly = targets.size() == 1;
    programs.emplace_back(OwningOpRef<ModuleOp>(graph->clone()), target,
                          isOnly ? "" : target.name + "-", options, stages);
    GIST_TRY(programs.back().formKernels());
  }
  return {};
}

Status Compilation::writeModule() {
  std::vector<TargetProgram> described;
  for (Program &program : programs) {
    GIST_TRY(program.lowerKernels());
    GIST_TRY(program.generateCode());
    described.push_back(program.describe());
    if (program.target.gpu && program.target.gpu->kind == GpuKind::Amd)
      GIST_TRY(reportCode(options.report, program.getCode()));
  }
  if (options.output == "-")
    return {};
  progress.begin("module");
  if (!options.isGraph() && !model.tokenizer)
    diagnostics.warn(options.model + ": " + model.noTokenizerBecause +
                     "; the module takes token ids alone");
  ModuleWriter writer;
  describeModel(options, model, describeCompute(programs), writer);
  bool hasHeads = !plan.layers.empty() && !plan.layers.front().empty();
  if (hasHeads && !hasSelections) // Calls stay within a block.
    writer.spec.model.prefillChunk = plan.block;
  if (hasSelections)
    writer.spec.model.properties[kSelectionsProperty] = printRules(selections);
  EmitOptions emit;
  emit.capacity = model.config.capacity;
  if (options.referenceWeights)
    emit.referenceFrom = options.output;
  if (failed(emitModule(described, weights, emit, writer)))
    return diagnostics.takeError("module");
  return writer.write(options.output);
}

/// A code object that is there already.
static Status reportFile(const Options &options) {
  auto buffer = llvm::MemoryBuffer::getFile(options.model, /*IsText=*/false);
  if (!buffer)
    return Status::error(Code::NotFound, "%s: cannot open: %s",
                         options.model.c_str(),
                         buffer.getError().message().c_str());
  return reportCode(options.report, (*buffer)->getBuffer()).in(options.model);
}

Status Compilation::run() {
  if (options.isCodeObject())
    return reportFile(options);
  std::vector<Target> targets;
  if (options.emit >= Emit::Kernels)
    GIST_TRY(findTargets(options, targets));

  GIST_TRY(readPlanKind());
  progress.begin("import");
  GIST_TRY(options.isGraph() ? parseGraph()
                             : importEntries(options, hasSelections, context,
                                             graph, weights, model));
  GIST_TRY(stages.dump.write("import", *graph));
  if (options.emit == Emit::Graph)
    return writeText(printModule(*graph), options.output);

  if (options.observe)
    GIST_TRY(stages.run("observe", *graph, [&](OpPassManager &pm) {
      AddObserveEntryPassOptions observe;
      // The head too reads every row there.
      if (graph->lookupSymbol(kEntryScore))
        observe.from = kEntryScore;
      pm.addPass(createAddObserveEntryPass(observe));
    }));
  GIST_TRY(applyPlan());
  GIST_TRY(createPrograms(targets));
  if (options.emit == Emit::Module)
    return writeModule();
  Program &only = programs.front();
  if (options.emit == Emit::Kernels)
    return writeText(printModule(only.getCalls()), options.output);
  GIST_TRY(only.lowerKernels());
  std::string text;
  GIST_TRY(only.printCode(options.emit == Emit::Llvm, text));
  return writeText(text, options.output);
}

/// Import; graph, kernels, tiles, cpu or gpu, code and memory of each target;
/// module.
static size_t countStages(const Options &options) {
  size_t plan = (options.plan.empty() ? 0 : 1) + (options.observe ? 1 : 0);
  switch (options.emit) {
  case Emit::Graph:
    return 1;
  case Emit::Kernels:
    return 3 + plan;
  case Emit::Llvm:
  case Emit::Assembly:
    return 6 + plan;
  case Emit::Module:
    if (options.isCodeObject())
      return 0;
    return 2 + plan + 6 * options.targets.size();
  }
  return 0;
}

Status compile::compileModel(const Options &options, Progress &progress) {
  progress.expect(countStages(options));
  return Compilation(options, progress).run();
}
