//===- Options.cpp - The command line of gist-compile ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-compile/Options.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace gist;
namespace cl = llvm::cl;

static const char *const kOverview =
    R"(Compiles a model to a module that gist-run executes.

EXAMPLES
  gist-compile model.gguf                      model.gist, for this machine
  gist-compile model-folder -o bert.gist       a Hugging Face folder
  gist-compile model.gguf --context=2048       a smaller KV cache
  gist-compile model.gguf --triple=x86_64-linux-gnu --cpu=skylake-avx512
                                               for another machine
  gist-compile model.gguf --emit=graph | less  what the model computes
  gist-compile model.gguf --emit=kernels       the kernels it is cut into
  gist-compile model.gguf --dump-stages=stages every step, in a folder

MODEL is a GGUF file, a folder with config.json and safetensors, or an .mlir
file with functions on tensors. Exit code: 0, 1 for an error, 2 for a command
line that is wrong.
)";

bool gist::parseOptions(int argc, char **argv, CompileOptions &options) {
  cl::OptionCategory category("Options");
  cl::opt<std::string> input(cl::Positional, cl::desc("MODEL"), cl::Required,
                             cl::cat(category));
  cl::opt<std::string> output(
      "o", cl::desc("File to write; - is standard output"),
      cl::value_desc("file"), cl::cat(category));
  cl::opt<EmitKind> emit(
      "emit", cl::desc("What to write:"), cl::init(EmitKind::Module),
      cl::values(
          clEnumValN(EmitKind::Graph, "graph", "the imported graph, as MLIR"),
          clEnumValN(EmitKind::Kernels, "kernels",
                     "the kernels and the calls of them, as MLIR"),
          clEnumValN(EmitKind::Llvm, "llvm", "the kernels in the LLVM dialect"),
          clEnumValN(EmitKind::Asm, "asm", "the kernels' assembly"),
          clEnumValN(EmitKind::Module, "module", "a module (default)")),
      cl::cat(category));
  enum class TargetKind { Cpu };
  cl::opt<TargetKind> target(
      "target", cl::desc("What to compile for:"), cl::init(TargetKind::Cpu),
      cl::values(clEnumValN(TargetKind::Cpu, "cpu", "a CPU (default)")),
      cl::cat(category));
  cl::opt<std::string> triple(
      "triple", cl::desc("LLVM triple of the CPU; default: this machine's"),
      cl::value_desc("triple"), cl::cat(category));
  cl::opt<std::string> cpu(
      "cpu", cl::desc("LLVM name of the CPU; default: what this one can do"),
      cl::value_desc("name"), cl::cat(category));
  cl::opt<std::string> features(
      "features", cl::desc("CPU features to add or remove: +i8mm,-sve"),
      cl::value_desc("list"), cl::cat(category));
  cl::opt<std::string> dumpStages(
      "dump-stages", cl::desc("Write every step into this folder"),
      cl::value_desc("folder"), cl::cat(category));
  cl::opt<ComputeKind> compute(
      "compute", cl::desc("Precision of products with quantised weights:"),
      cl::init(ComputeKind::Auto),
      cl::values(clEnumValN(ComputeKind::Auto, "auto",
                            "8 bits where weights have 8 or fewer (default)"),
                 clEnumValN(ComputeKind::F32, "f32", "32-bit floats"),
                 clEnumValN(ComputeKind::Int8, "int8", "8-bit integers")),
      cl::cat(category));
  cl::opt<LogitsKind> logits(
      "logits", cl::desc("Which logits a decoder can be asked for:"),
      cl::init(LogitsKind::Both),
      cl::values(
          clEnumValN(LogitsKind::Last, "last", "the last token's (generate)"),
          clEnumValN(LogitsKind::All, "all", "every token's (eval)"),
          clEnumValN(LogitsKind::Both, "both", "either (default)")),
      cl::cat(category));
  cl::opt<WeightsKind> weights(
      "weights", cl::desc("Where weights are:"), cl::init(WeightsKind::Embed),
      cl::values(clEnumValN(WeightsKind::Embed, "embed",
                            "in the module (default)"),
                 clEnumValN(WeightsKind::Reference, "reference",
                            "in the model's files, found by path and hash")),
      cl::cat(category));
  cl::opt<bool> expandWeights(
      "expand-weights", cl::desc("Store all weights as 32-bit floats"),
      cl::cat(category));
  enum class CacheKind { F16, F32 };
  cl::opt<CacheKind> cache(
      "kv-type", cl::desc("Element type of the KV cache:"),
      cl::init(CacheKind::F16),
      cl::values(clEnumValN(CacheKind::F16, "f16", "16-bit floats (default)"),
                 clEnumValN(CacheKind::F32, "f32", "32-bit floats")),
      cl::cat(category));
  cl::opt<int64_t> context(
      "context",
      cl::desc("Tokens that the KV cache can hold; default: the model's"),
      cl::init(0), cl::value_desc("tokens"), cl::cat(category));
  cl::opt<bool> timing("timing", cl::desc("Say how long each step took"),
                       cl::cat(category));
  cl::opt<bool> progress("progress", cl::desc("Say what is being done"),
                         cl::init(true), cl::cat(category));

  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, kOverview, &llvm::errs()))
    return false;
  if (context < 0 || context > INT32_MAX) {
    llvm::errs() << "gist-compile: --context is " << context
                 << ", expected a number of tokens\n";
    return false;
  }
  options = {.input = input,
             .output = output,
             .emit = emit,
             .triple = triple,
             .cpu = cpu,
             .features = features,
             .dumpStages = dumpStages,
             .compute = compute,
             .logits = logits,
             .weights = weights,
             .expandWeights = expandWeights,
             .halfCache = cache == CacheKind::F16,
             .context = context,
             .timing = timing,
             .progress = progress};
  return true;
}
