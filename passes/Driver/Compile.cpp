//===- Compile.cpp - The stages, from a model to a file -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gist-compile from the model to the module file. Each stage works on a module
// alone, so that --dump-stages can write it and gist-opt can take it up; files
// are opened only here.
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Compile.h"
#include "dialect/Formats.h"
#include "dialect/GistClusterOps.h"
#include "dialect/GistPlanAttrs.h"

#include "passes/Driver/Entries.h"
#include "passes/Driver/Iree.h"
#include "passes/Driver/Module.h"
#include "passes/Driver/Nesting.h"
#include "passes/Driver/Program.h"
#include "passes/Driver/RaiseGraph.h"
#include "passes/Driver/Registration.h"
#include "passes/Driver/ReportCode.h"
#include "passes/Driver/SlowLayers.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/Plan/File/PlanJson.h"
#include "passes/Plan/FindLinears.h"
#include "passes/Plan/MadeWeights.h"
#include "passes/Plan/PlanInGraph.h"
#include "passes/Ranks/MadeNames.h"
#include "passes/Target/Info/ModuleTarget.h"
#include "runtime/format/Devices.h"
#include "runtime/module/Module.h"
#include "runtime/module/Properties.h"
#include "runtime/module/Trust.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace gist;
using namespace gist::compile;

/// The context length of a graph in MLIR, unless the user gives another.
static constexpr int64_t kGraphContext = 4096;

/// The number formats that products are computed in, for display.
static std::string describeCompute(llvm::ArrayRef<Program> programs) {
  std::string text;
  for (const Program &program : programs) {
    if (programs.size() > 1)
      text += (text.empty() ? "" : ", ") + program.target.name + ": ";
    text += program.small ? program.small : program.target.gpu ? "f16" : "f32";
  }
  return text;
}

/// Sorts programs for several CPUs, the most capable first: a runtime takes the
/// first one that it can run. A GPU keeps its place.
static void putBestFirst(std::vector<TargetProgram> &programs) {
  std::vector<TargetProgram> cpus;
  for (const TargetProgram &program : programs)
    if (program.target.device == kCpuDevice)
      cpus.push_back(program);
  // Of two programs with the same kernels, the one that needs more features is
  // faster.
  auto isBetter = [](const TargetProgram &one, const TargetProgram &other) {
    return std::tuple(getRank(one.calls), other.target.features.size(),
                      one.target.name) < std::tuple(getRank(other.calls),
                                                    one.target.features.size(),
                                                    other.target.name);
  };
  llvm::sort(cpus, isBetter);
  auto next = cpus.begin();
  for (TargetProgram &program : programs)
    if (program.target.device == kCpuDevice)
      program = *next++;
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
        stages{progress, diagnostics,
               StageDump(options.dumpStages, options.editedStage)} {}

  Status run();

private:
  Status parseGraph();
  /// Puts the plan that the user names, and that was read, into the graph.
  Status writePlan();
  Status openHead();
  /// Makes every head dense in the plan of a model with sliding windows: in a
  /// plan's cache, layers with a window store that window alone.
  void keepWindows();
  /// Tokens of a plan's blocks. Without --plan-block, and for targets of one
  /// kind, the size follows from the target: larger blocks lose less.
  int64_t chooseBlock() const;
  /// Tokens between the ends of a prompt that depths are worth two calls for.
  int64_t chooseLeastBulk() const;
  /// What parts of a model take on machines that are the target; empty where
  /// that is not measured.
  llvm::SmallVector<const PlanRates *> findRates() const;
  /// Makes layers dense that would be slower with the plan, with a warning, and
  /// allows passes to drop slow gates.
  void leaveSlowParts();
  /// Keeps what a runtime has to know of the depths of a plan.
  void noteBulk(PlanOp written);
  /// Does what the plan in `part` says, where there is one.
  Status followPlan(ModuleOp part, const std::string &prefix);
  /// Reports the errors that followPlan would report, and leaves the graph as
  /// it is.
  Status checkPlan();
  void warnOfSmallBlocks(llvm::ArrayRef<Target> targets);
  /// A program of `part` for each target, cut into kernels.
  Status createPrograms(ModuleOp part, llvm::ArrayRef<Target> targets,
                        std::optional<uint32_t> rank);
  /// The same for each of several ranks.
  Status splitRanks(llvm::ArrayRef<Target> targets);
  Status writeModule();
  void noteAsKnown();

  const Options &options;
  Progress &progress;
  MLIRContext context;
  // Before `stages`, which refers to it, and after the context it listens to.
  Diagnostics diagnostics;
  // Shared by all programs, which refer to it too: dumped files are numbered in
  // the order in which stages run.
  Stages stages;

  OwningOpRef<ModuleOp> graph;
  // Views of mapped files. Emit reads them while the module is written.
  WeightMap weights;
  WeightMaker maker{weights}; ///< until the module is written
  // A graph in MLIR leaves most of this empty.
  ImportedModel model;
  std::vector<Program> programs;
  PlanFile plan; ///< of the user
  // The parts of the graph's plan that a runtime has to know.
  int64_t block = 0;      ///< tokens of a call at most; 0: any number
  std::string selections; ///< printRules
  std::string bulk;       ///< kBulkProperty
  bool hasMaps = false;   ///< fitted for the model's weights
};
} // namespace

Status Compilation::parseGraph() {
  auto buffer = llvm::MemoryBuffer::getFile(options.model, /*IsText=*/true);
  if (!buffer)
    return Status::error(Code::NotFound, "%s: cannot open: %s",
                         options.model.c_str(),
                         buffer.getError().message().c_str());
  llvm::SourceMgr source;
  llvm::StringRef text = (*buffer)->getBuffer();
  GIST_TRY(checkNesting(options.model, text));
  source.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  graph = parseSourceFile<ModuleOp>(source, ParserConfig(&context));
  if (!graph)
    return explainParseError(options.model, text,
                             diagnostics.takeError("import"));
  GIST_TRY(raiseGraph(*graph, stages, weights));
  // The name is only printed: nothing after the import reads it.
  model.architecture = "graph";
  // A graph says nothing of this, but caches and buffers need a size.
  model.config.contextLength = model.config.capacity =
      options.context != 0 ? options.context : kGraphContext;
  return {};
}

void Compilation::keepWindows() {
  // IREE has no kernels for a plan's cache, and --emit=graph shows the model as
  // it was imported.
  bool isForUs = options.emit != Emit::Iree && options.emit != Emit::Graph;
  // Kernels on a plan's cache load and store this many numbers at once.
  constexpr int64_t kNumbers = 8;
  const ModelConfig &config = model.config;
  if (!isForUs || options.isGraph() || !model.isDecoder ||
      plan.isOfSelections || plan.hasHeads() || config.slidingWindow == 0 ||
      options.cacheType == CacheType::Int8 || config.headSize % kNumbers != 0)
    return;
  // A block is about as long as the window, because the cache stores both.
  constexpr int64_t kMost = 2048;
  Plan dense;
  dense.block =
      std::min(kMost, static_cast<int64_t>(llvm::bit_floor(
                          static_cast<uint64_t>(config.slidingWindow))));
  dense.layers.assign(config.numLayers,
                      std::vector<HeadChoice>(config.numKvHeads, HeadChoice()));
  std::swap(plan.heads, dense);
  plan.heads.block = chooseBlock();
  // Where most of the context is in the window there is nothing to save.
  if (config.slidingWindow + plan.heads.block > config.capacity)
    std::swap(plan.heads, dense);
}

/// A head of about 8 bits gets a weight of its own, in which fewer are tried:
/// what the model stores is a table of embeddings too.
Status Compilation::openHead() {
  if (getGpuInfo(options.targets.front()))
    return {};
  auto score = graph->lookupSymbol<func::FuncOp>(kEntryScore);
  if (!score)
    return {};
  FailureOr<llvm::SmallVector<LinearInput>> inputs = findLinears(score);
  if (failed(inputs))
    return diagnostics.takeError("plan").in(options.model);
  for (LinearInput &input : *inputs) {
    Value weight = input.linears.front().product.getDpsInputOperand(1)->get();
    auto stored = weight.getDefiningOp<DequantizeOp>();
    if (input.layer >= 0 || !stored)
      continue;
    const FormatInfo &info = formatInfo(getWeightFormat(stored.getFormat()));
    constexpr int64_t kLeastBits = 6;
    bool isFine = 8 * info.blockBytes > kLeastBits * info.blockLength;
    if (!isFine || input.getSize() % formatInfo(roundedFormat(8)).blockLength)
      continue;
    plan.linears.layers.resize(model.config.numLayers);
    plan.linears.head.bits = 8;
  }
  return {};
}

Status Compilation::writePlan() {
  keepWindows();
  if (options.plan.empty() && !plan.hasHeads())
    return {};
  // A plan that changes nothing yet. gist-plan tries others in its module.
  // It needs the number of layers and heads, which only the graph has.
  if (options.triesHeads())
    GIST_TRY(makeCalibrationPlan(*graph, plan));
  if (options.triesDepths()) {
    plan.depths = makeOpenDepths(model.config.numLayers);
    plan.depths.hasBulk = model.isDecoder;
  }
  if (options.triesBits())
    GIST_TRY(openHead());
  if (options.triesDepths() || options.triesBits())
    plan.heads.layers.resize(model.config.numLayers);
  // A graph is not asked: -gist-cluster-cache reports the op that has no cache.
  bool needsCache =
      !plan.isOfSelections &&
      (plan.hasHeads() || plan.linears.isNeeded() || !plan.depths.isNeeded());
  if (needsCache && !options.isGraph() && !model.isDecoder)
    return Status::error(Code::Unsupported,
                         "%s: a plan of KV heads needs a model with a KV "
                         "cache; %s does not have one",
                         options.model.c_str(), model.architecture.c_str());
  // Means that are rounded to 8 bits with every token stop moving.
  if ((plan.hasHeads() || options.triesHeads()) &&
      options.cacheType == CacheType::Int8)
    return Status::error(Code::Unsupported,
                         "%s: a plan of KV heads needs keys and values in f16 "
                         "or f32; leave --kv-type=int8 out",
                         options.plan.c_str());
  plan.heads.block = chooseBlock();
  leaveSlowParts();
  // The plan is an op of the graph from now on, so that dumped files hold it.
  gist::writePlan(*graph, plan);
  // The verifiers of the plan's ops report what does not fit the model.
  if (failed(verify(*graph)))
    return diagnostics.takeError("plan").in(options.plan);
  return {};
}

namespace {
/// The block size for a kind of machine, in tokens.
struct BlockSize {
  int64_t most;
  int64_t share;  ///< a block has at most 1/share of the context
  int64_t enough; ///< a smaller block does not replace the plan's
};
} // namespace

// A call has one block, and products of fewer rows leave most of a GPU, or most
// cores of a CPU, idle. A ring buffer holds its window and one more block: a
// block of more than an eighth of the context would take up much of the memory
// that a plan saves. Blocks for CPUs are so small that short contexts can have
// them too: there a plan saves time.
static constexpr BlockSize kBlockOfGpus = {
    .most = 2048, .share = 8, .enough = 512};
static constexpr BlockSize kBlockOfCpus = {
    .most = kCpuCallTokens, .share = 2, .enough = 128};

int64_t Compilation::chooseBlock() const {
  int64_t block = plan.heads.block;
  if (options.planBlock != 0)
    return options.planBlock;
  auto gpus = llvm::count_if(options.targets, [](const std::string &name) {
    return getGpuInfo(name) != nullptr;
  });
  bool isForGpus = gpus == static_cast<int64_t>(options.targets.size());
  // Without a plan, keepWindows has set a block that suits CPUs.
  bool isForCpus =
      gpus == 0 && !options.plan.empty() && options.emit != Emit::Iree;
  // A calibration measures what the plan's own blocks lose.
  if ((!isForGpus && !isForCpus) || options.triesHeads())
    return block;
  const BlockSize &size = isForGpus ? kBlockOfGpus : kBlockOfCpus;
  auto share = static_cast<uint64_t>(model.config.capacity / size.share);
  int64_t wanted =
      std::min(size.most, static_cast<int64_t>(llvm::bit_floor(share)));
  return wanted < size.enough ? block : std::max(block, wanted);
}

llvm::SmallVector<const PlanRates *> Compilation::findRates() const {
  // IREE generates other code, for which there are no measurements.
  if (options.emit == Emit::Iree)
    return {};
  const GpuInfo *gpu = getGpuInfo(options.targets.front());
  if (!gpu)
    return {&kFewCoresRates, &kManyCoresRates};
  if (gpu->kind == GpuKind::Nvidia)
    return {&kSm90Rates};
  return {};
}

void Compilation::leaveSlowParts() {
  // Programs for several targets must compute the same, and a calibration
  // follows its plan.
  if (options.countTargets() != 1 || options.followPlan ||
      options.triesHeads() || plan.isOfSelections)
    return;
  // -gist-lower-gates judges each gate in the graph.
  if (plan.linears.isNeeded() && getGpuInfo(options.targets.front()))
    (*graph)->setAttr(kFastPlanAttr, UnitAttr::get(&context));
  // A graph lacks the configuration that costs are computed from.
  if (options.isGraph() || !plan.hasHeads())
    return;
  std::string what = gist::compile::leaveSlowLayers(
      plan.heads, model.config, findRates(), options.targets.front());
  if (!what.empty())
    diagnostics.warn(options.plan + ": " + what);
}

int64_t Compilation::chooseLeastBulk() const {
  // A search tries plans of depths on any prompt.
  if (options.triesDepths())
    return 1;
  const GpuInfo *gpu = getGpuInfo(options.targets.front());
  const char *device = !gpu                           ? kCpuDevice
                       : gpu->kind == GpuKind::Nvidia ? kCudaDevice
                                                      : kHipDevice;
  if (auto known = plan.depths.least.find(device);
      known != plan.depths.least.end())
    return known->second;
  constexpr int64_t kLeastOfCpus = 64, kLeastOfGpus = 3072;
  if (!gpu)
    return kLeastOfCpus;
  // A call of a GPU reads all weights and launches all kernels, however few
  // rows it has: with the 8B shape the two take as long as 500 tokens, with
  // models of 0.1B and 0.5B as 2,600 and 1,400, of which depths save a third
  // and less.
  const ModelConfig &config = model.config;
  constexpr double kLargeModel = 1e9; // weights, without tables
  bool isLarge = 12.0 * static_cast<double>(config.numLayers) *
                     static_cast<double>(config.hiddenSize) *
                     static_cast<double>(config.hiddenSize) >
                 kLargeModel;
  return isLarge ? kLeastOfGpus : kMaxPlanTokens;
}

void Compilation::noteBulk(PlanOp written) {
  hasMaps |= written.getMaps().has_value();
  if (getDepths(written).partFor(/*allTokens=*/false).isNeeded())
    bulk = std::to_string(*written.getFirst()) + " " +
           std::to_string(*written.getLast()) + " " +
           std::to_string(chooseLeastBulk());
}

Status Compilation::followPlan(ModuleOp part, const std::string &prefix) {
  PlanOp written = getPlan(part);
  if (!written)
    return {};
  // Passes erase the plan, so the parts that go into the module file are read
  // first.
  int64_t said = written.getBlock().value_or(0);
  selections = printRules(written);
  noteBulk(written);
  GIST_TRY(stages.run(prefix + "plan", part, buildPlanStage));
  // Where all heads are dense, the cache is the model's and takes calls of any
  // length. Of several ranks, one with clusters decides for all.
  if (SymbolTable::lookupSymbolIn(part, kPlanHeadsWeight))
    block = said;
  return maker.checkFiles(part);
}

Status Compilation::checkPlan() {
  if (!getPlan(*graph))
    return {};
  OwningOpRef<ModuleOp> tried(graph->clone());
  PassManager pm(&context);
  buildPlanStage(pm);
  if (failed(pm.run(*tried)))
    return diagnostics.takeError("plan");
  return maker.checkFiles(*tried);
}

/// Warns if a plan gives a GPU only a few tokens at a time. A warning and not
/// an error: the module is right, only slow.
void Compilation::warnOfSmallBlocks(llvm::ArrayRef<Target> targets) {
  bool hasGpu = llvm::any_of(
      targets, [](const Target &target) { return target.gpu != nullptr; });
  if (block == 0 || !hasGpu || options.plan.empty() || options.planBlock != 0 ||
      block >= kBlockOfGpus.enough)
    return;
  diagnostics.warn(options.plan + ": prefill takes " + std::to_string(block) +
                   " tokens at a time, which leaves most of a GPU idle; "
                   "--plan-block 1024 takes more at a time and keeps them "
                   "exactly");
}

Status Compilation::createPrograms(ModuleOp part,
                                   llvm::ArrayRef<Target> targets,
                                   std::optional<uint32_t> rank) {
  for (const Target &target : targets) {
    bool isOnly = targets.size() == 1;
    // Targets need different kernels, so each has its own copy of the graph.
    OwningOpRef<ModuleOp> own(part.clone());
    // Without a plan the cache is plain rows, which are the same for all
    // targets.
    if (!isOnly && block != 0)
      (*own)->setAttr(kSharedStateAttr, UnitAttr::get(&context));
    std::string prefix = isOnly ? "" : target.name + "-";
    if (rank)
      prefix = "rank" + std::to_string(*rank) + "-" + prefix;
    programs.emplace_back(std::move(own), target, prefix, options, stages);
    programs.back().rank = rank;
    GIST_TRY(programs.back().formKernels());
  }
  return {};
}

Status Compilation::splitRanks(llvm::ArrayRef<Target> targets) {
  // Maps are for whole products, of which ranks then have parts.
  PlanOp written = getPlan(*graph);
  if (options.ranks > 1 && written && written.getMaps()) {
    noteBulk(written);
    GIST_TRY(stages.run("depth", *graph, [](OpPassManager &pm) {
      pm.addPass(createReduceDepthPass());
    }));
  }
  for (int64_t rank = 0; rank < options.countParts(); ++rank) {
    OwningOpRef<ModuleOp> part(graph->clone());
    std::string prefix = "rank" + std::to_string(rank) + "-";
    GIST_TRY(stages.run(prefix + "split", *part, [&](OpPassManager &pm) {
      // The command line allows one of the two.
      SplitStagesPassOptions cut;
      cut.stage = rank;
      cut.stages = options.stages;
      if (options.stages > 1)
        pm.addPass(createSplitStagesPass(cut));
      SplitRanksPassOptions split;
      split.rank = rank;
      split.ranks = options.ranks;
      split.sums = options.rankSums;
      if (options.ranks > 1)
        pm.addPass(createSplitRanksPass(split));
    }));
    GIST_TRY(followPlan(*part, prefix));
    // That pass looks for all layers in all functions.
    if (!bulk.empty() && block != 0)
      return Status::error(Code::Unsupported,
                           "%s: depths for several ranks need a dense KV "
                           "cache, and this plan or model has windows or "
                           "clusters; compile it for one rank",
                           options.plan.c_str());
    nameMadeWeights(*part, rank);
    GIST_TRY(createPrograms(*part, targets, static_cast<uint32_t>(rank)));
  }
  return {};
}

Status Compilation::writeModule() {
  std::vector<TargetProgram> described;
  // Ranks with equal shares have equal kernels.
  std::map<std::pair<std::string, std::string>, const Program *> known;
  for (Program &program : programs) {
    auto [same, isNew] = known.try_emplace(
        {program.target.name, program.rank ? program.describeKernels() : ""},
        &program);
    if (isNew) {
      GIST_TRY(program.lowerKernels());
      GIST_TRY(program.generateCode());
    } else {
      GIST_TRY(program.shareCode(*same->second));
    }
    // Code of all targets stays in memory until the file is written at the end.
    described.push_back(program.describe());
    // PTX does not contain the number of registers, so only code objects can be
    // reported.
    if (program.target.gpu && program.target.gpu->kind == GpuKind::Amd)
      GIST_TRY(reportCode(options.report, program.getCode()));
  }
  GIST_TRY(stages.dump.checkTaken());
  putBestFirst(described);
  // Only a report was asked for.
  if (options.output == "-")
    return {};
  progress.begin("module");
  if (!options.isGraph() && !model.tokenizer)
    diagnostics.warn(options.model + ": " + model.noTokenizerBecause +
                     "; the module takes only token ids");
  ModuleWriter writer;
  describeModel(options, model, describeCompute(programs), writer);
  writer.setPlan(plan.text); // shown by gist-run info --plan
  if (block != 0)            // Calls stay within a block.
    writer.spec.model.prefillChunk = block;
  if (!selections.empty())
    writer.spec.model.properties[kSelectionsProperty] = selections;
  if (!bulk.empty())
    writer.spec.model.properties[kBulkProperty] = bulk;
  if (!options.chosenAdapters.empty())
    writer.spec.model.properties[kAdaptersProperty] =
        llvm::join(llvm::make_first_range(options.chosenAdapters), " ");
  if (hasMaps && options.observe)
    writer.spec.model.properties[kWeightsProperty] =
        llvm::utohexstr(hashOfModel(weights));
  EmitOptions emit;
  emit.capacity = model.config.capacity;
  emit.ranks = static_cast<uint32_t>(options.countParts());
  // Paths are relative to the module file.
  if (options.referenceWeights)
    emit.referenceFrom = options.output;
  if (failed(emitModule(described, maker, emit, writer)))
    return diagnostics.takeError("module");
  if (!options.weightsOf.empty()) {
    std::shared_ptr<const Module> other;
    GIST_TRY(Module::open(options.weightsOf, other).in("--weights"));
    std::filesystem::path here = std::filesystem::absolute(options.output);
    GIST_TRY(writer.leaveIn(*other, std::filesystem::absolute(options.weightsOf)
                                        .lexically_proximate(here.parent_path())
                                        .string()));
  }
  GIST_TRY(writer.write(options.output));
  noteAsKnown();
  return {};
}

/// A module that was compiled here may run here. If the note cannot be written,
/// a warning says what to do instead.
void Compilation::noteAsKnown() {
  // A device such as /dev/null keeps nothing.
  if (!llvm::sys::fs::is_regular_file(options.output))
    return;
  if (Status status = trustModuleFile(options.output); !status.ok())
    diagnostics.warn("the module could not be noted as compiled here (" +
                     status.text + "); running it needs --trust");
}

/// Reports on an existing code object.
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
  // Targets are looked up first: a misspelt one should not cost the import.
  std::vector<Target> targets;
  if (options.emit >= Emit::Kernels)
    GIST_TRY(findTargets(options, targets));
  // Nor should a compiler that is not there.
  IreeCompiler iree;
  if (options.viaIree)
    GIST_TRY(iree.find(options.ireeCompile));
  // Before the first pass runs.
  if (options.report == Report::Remarks)
    diagnostics.showRemarks(context);

  // The plan is read before the import, because it decides whether a decoder
  // has a cache.
  if (!options.plan.empty() && !options.isTrial())
    GIST_TRY(readPlanFile(options.plan, plan));
  progress.begin("import");
  // The kind of plan decides how the model is imported.
  GIST_TRY(options.isGraph() ? parseGraph()
                             : importEntries(options, plan.isOfSelections,
                                             context, graph, weights, model));
  if (options.observe)
    maker.allowUnfitted();
  // Before the dump, so that gist-opt can go on from the first file.
  GIST_TRY(writePlan());
  GIST_TRY(stages.dump.pass("import", *graph, diagnostics));
  if (options.emit == Emit::Graph) {
    GIST_TRY(checkPlan());
    return writeText(printModule(*graph), options.output);
  }

  if (options.observe)
    GIST_TRY(stages.run("observe", *graph, [&](OpPassManager &pm) {
      AddObserveEntryPassOptions observe;
      // In this entry the head, too, reads every row. Encoders have one entry.
      auto functions = graph->getOps<func::FuncOp>();
      if (graph->lookupSymbol(kEntryScore))
        observe.from = kEntryScore;
      else if (!model.isDecoder && !functions.empty())
        observe.from = (*functions.begin()).getName().str();
      pm.addPass(createAddObserveEntryPass(observe));
    }));
  if (options.countParts() > 1) {
    GIST_TRY(splitRanks(targets));
    warnOfSmallBlocks(targets);
    return writeModule();
  }
  // After the observe entry has been added, so that it follows the plan too.
  GIST_TRY(followPlan(*graph, ""));
  if (options.emit == Emit::Iree)
    return writeIree(*graph, targets.front(), options, iree, stages, maker);
  warnOfSmallBlocks(targets);
  GIST_TRY(createPrograms(*graph, targets, std::nullopt));
  if (options.emit == Emit::Module)
    return writeModule();
  // checkTogether has made sure that there is one target.
  Program &only = programs.front();
  if (options.emit == Emit::Kernels)
    return writeText(printModule(only.getCalls()), options.output);
  GIST_TRY(only.lowerKernels());
  GIST_TRY(stages.dump.checkTaken());
  std::string text;
  GIST_TRY(only.printCode(options.emit == Emit::Llvm, text));
  return writeText(text, options.output);
}

/// Import; graph, kernels, tiles, cpu or gpu, code and memory of each target,
/// and products of each GPU; module. The total is only displayed: progress goes
/// on past a wrong one.
static size_t countStages(const Options &options) {
  size_t gpus = llvm::count_if(options.targets, [](const std::string &name) {
    return getGpuInfo(name) != nullptr;
  });
  size_t plan = (options.plan.empty() ? 0 : 1) + (options.observe ? 1 : 0);
  switch (options.emit) {
  case Emit::Graph:
    return 1;
  case Emit::Kernels:
    return 3 + plan;
  case Emit::Llvm:
  case Emit::Assembly:
    return 6 + gpus + plan;
  case Emit::Module:
    if (options.isCodeObject())
      return 0;
    if (options.countParts() > 1)
      return 2 + static_cast<size_t>(options.countParts()) *
                     (1 + plan + 6 * options.countTargets() + gpus);
    return 2 + plan + 6 * options.countTargets() + gpus;
  case Emit::Iree:
    return 4 + plan + (options.viaIree ? 1 : 0) +
           (options.ireeKernels == IreeKernels::Embedded ? 5 + gpus : 0);
  }
  return 0;
}

Status compile::compileModel(const Options &options, Progress &progress) {
  progress.expect(countStages(options));
  return Compilation(options, progress).run();
}
