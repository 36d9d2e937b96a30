//===- CheckGraph.cpp - What is tried with one random graph ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/CheckGraph.h"
#include "passes/Driver/Diagnostics.h"
#include "passes/Driver/Program.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <fstream>

using namespace mlir;
using namespace gist;
using namespace gist::fuzz;

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// What targets say they do not do. Everything else that is refused is a
/// finding: the graphs are valid.
static bool isKnownLimit(const std::string &text) {
  static constexpr const char *kLimits[] = {
      // Selections of ragged batches, and rows that do not fill vectors.
      "has offsets, which CPU kernels do not read yet",
      "whose size is not a multiple of 4 numbers",
      "whose size is not a multiple of 8 numbers",
      // Attention on heads that matrix instructions do not divide.
      "has heads of a size for which there is no GPU kernel",
      // Attention of ragged batches.
      "reads a ragged batch, for which there is no",
      "has a size without a bound, but a kernel keeps its scratch on the stack",
      "reads a ragged batch, whose elements cannot be computed one by one",
      // Gated projections of a few tokens in f32.
      "bytes of workgroup memory; gfx942 has",
      "bytes of workgroup memory; sm_90 has",
      // Results that are constants: a selection that keeps every token.
      "is left in a host function; the stage 'kernels' promises",
  };
  return llvm::any_of(kLimits, [&](const char *limit) {
    return text.find(limit) != std::string::npos;
  });
}

/// All targets; the variants of CPUs and of products take turns.
static std::vector<compile::Options> getTargets(uint64_t turn) {
  std::vector<compile::Options> all(4);
  all[0].triple = "aarch64-linux-gnu";
  all[0].cpus = {turn % 2 ? "neoverse-v1" : "neoverse-n1"};
  all[1].triple = "x86_64-linux-gnu";
  static constexpr const char *kCpus[] = {"haswell", "icelake-server",
                                          "sapphirerapids"};
  all[1].cpus = {kCpus[turn % 3]};
  all[2].targets = {"gfx942"};
  all[3].targets = {"sm_90"};
  for (compile::Options &options : all) {
    options.emit = compile::Emit::Assembly;
    options.compute =
        turn / 6 % 2 ? compile::Compute::F32 : compile::Compute::Auto;
  }
  return all;
}

namespace {
/// One graph and all that is said of it.
class Check {
public:
  Check(MLIRContext &context, uint64_t seed, const CheckOptions &options,
        const Report &report)
      : context(context), seed(seed), options(options), report(report),
        graph(writeRandomGraph(seed, options.largeOf)) {}

  void run();

private:
  void lower(ModuleOp module, const compile::Options &target, bool toCode);
  void execute();
  Status getReference(double nudge, double noise, Contents &outputs);
  void compare(const Contents &outputs, Outcome good, double noise);
  bool isNear(const Contents &outputs, double scale,
              const std::vector<double> &slack, std::string &text) const;

  MLIRContext &context;
  uint64_t seed;
  const CheckOptions &options;
  const Report &report;
  RandomGraph graph;
  Contents expected;
};
} // namespace

void Check::lower(ModuleOp module, const compile::Options &target,
                  bool toCode) {
  compile::Progress progress(compile::ShowProgress::Off);
  progress.tellWarnings([](const std::string &) {});
  compile::Diagnostics diagnostics(context, progress);
  // A third of the time is for verifying passes one by one.
  compile::Stages stages{progress, diagnostics, compile::StageDump("", ""),
                         /*verifiesPasses=*/seed / 4 % 16 == 0};
  std::vector<compile::Target> targets;
  Status status = compile::findTargets(target, targets);
  if (status.ok()) {
    compile::Program program(OwningOpRef<ModuleOp>(module.clone()), targets[0],
                             "", target, stages);
    std::string code;
    status = program.formKernels();
    if (status.ok())
      status = program.lowerKernels();
    if (status.ok() && toCode)
      status = program.printCode(/*asLlvm=*/false, code);
  }
  std::string name = target.cpus.empty() ? target.targets[0] : target.cpus[0];
  if (!status.ok())
    report(isKnownLimit(status.text) ? Outcome::Refused : Outcome::Finding,
           name + ": " + status.text);
  else
    report(toCode ? Outcome::Compiled : Outcome::Lowered, name);
}

void Check::run() {
  OwningOpRef<ModuleOp> module;
  {
    compile::Progress progress(compile::ShowProgress::Off);
    compile::Diagnostics diagnostics(context, progress);
    module = parseSourceString<ModuleOp>(graph.text, &context);
    if (!module)
      return report(Outcome::Finding, diagnostics.takeError("parse").text);
  }
  // Graphs differ more than targets do: each graph goes to the next target.
  std::vector<compile::Options> targets = getTargets(seed / 4);
  if (graph.isForCpus)
    targets.resize(2);
  bool toAll = options.allOf != 0 && seed % options.allOf == 0;
  bool toCode = options.codeOf != 0 && seed / 4 % options.codeOf == 0;
  for (size_t i = 0; i < targets.size(); ++i)
    if (toAll || i == seed % targets.size())
      lower(*module, targets[i], toCode && i == seed % targets.size());
  if (options.runOf != 0 && seed % options.runOf == 0)
    execute();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Inputs of the graph, the same for every run; f32 numbers are off by a share
/// of up to `noise`.
static Contents makeInputs(const RandomGraph &graph, uint64_t seed,
                           double noise) {
  Contents contents;
  Random random(seed ^ 0x5eed), errors(seed);
  for (const GraphInput &input : graph.inputs) {
    contents.push_back(makeInput(input, graph.tokens, random));
    if (noise == 0 || input.element != "f32" || input.content == Content::Given)
      continue;
    auto *values = reinterpret_cast<float *>(contents.back().data());
    for (size_t i = 0; i < contents.back().size() / sizeof(float); ++i)
      values[i] *= static_cast<float>(
          1 + noise * static_cast<double>(errors.range(-8, 8)) / 8);
  }
  return contents;
}

Status Check::getReference(double nudge, double noise, Contents &outputs) {
  RandomGraph own =
      nudge == 0 ? graph : writeRandomGraph(seed, options.largeOf, nudge);
  return runReference(context, own, makeInputs(own, seed, noise), outputs);
}

/// The largest finite number of a tensor.
static double getLargest(const std::vector<double> &values) {
  double largest = 0;
  for (double value : values)
    if (std::isfinite(value))
      largest = std::max(largest, std::abs(value));
  return largest;
}

/// How far two tensors are apart; infinite where one has a NaN or an infinity
/// that the other does not have.
static double getDistance(const std::vector<double> &a,
                          const std::vector<double> &b) {
  double distance = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i]))
      continue;
    if (a[i] == b[i])
      continue;
    double apart = std::abs(a[i] - b[i]);
    distance = std::max(distance, std::isfinite(apart) ? apart : INFINITY);
  }
  return distance;
}

/// Integers are equal, and numbers apart by less than `scale` of the largest.
/// `slack` is what to allow besides, for each output.
bool Check::isNear(const Contents &outputs, double scale,
                   const std::vector<double> &slack, std::string &text) const {
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const GraphOutput &output = graph.outputs[i];
    if (outputs[i].size() != expected[i].size()) {
      text = output.name + " has " + std::to_string(outputs[i].size()) +
             " bytes, expected " + std::to_string(expected[i].size());
      return false;
    }
    std::vector<double> want = readNumbers(output.element, expected[i]);
    double allowed =
        output.element[0] == 'i' ? 0 : scale * getLargest(want) + scale / 16;
    if (!slack.empty())
      allowed += slack[i];
    double apart = getDistance(want, readNumbers(output.element, outputs[i]));
    if (apart <= allowed)
      continue;
    text = output.name + " is off by " + std::to_string(apart) + " of " +
           std::to_string(getLargest(want)) + ", allowed are " +
           std::to_string(allowed);
    return false;
  }
  return true;
}

void Check::compare(const Contents &outputs, Outcome good, double noise) {
  // Roundings to 16 bits on the way differ by a step at most.
  double scale = graph.isRounded ? 0.05 : std::max(64 * noise, 0.01);
  std::string text;
  if (isNear(outputs, scale, {}, text))
    return report(good, "");
  // Whether the definition gives the same on inputs and thresholds that are off
  // by roundings. Where it does not, targets may differ too. Rows in 8 bits are
  // off by a 254th of the largest of 32 numbers, which is much where large
  // products cancel out.
  double off = graph.isRounded ? std::max(noise, 1.0 / 254) : noise;
  std::vector<double> slack(graph.outputs.size(), 0);
  for (double sign : {1.0, -1.0, 2.0, -2.0}) {
    Contents other;
    Status status = getReference(sign * 64 * noise, sign * off, other);
    if (!status.ok())
      return report(Outcome::Finding, status.text);
    for (size_t i = 0; i < slack.size(); ++i)
      slack[i] = std::max(
          slack[i],
          8 * getDistance(readNumbers(graph.outputs[i].element, expected[i]),
                          readNumbers(graph.outputs[i].element, other[i])));
  }
  if (isNear(outputs, scale, slack, text))
    return report(Outcome::Undecided, "");
  report(Outcome::Finding,
         (good == Outcome::Ran ? "cpu: " : "gfx942-sim: ") + text);
}

void Check::execute() {
  Contents inputs = makeInputs(graph, seed, 0);
  Status status = getReference(0, 0, expected);
  if (!status.ok())
    return report(Outcome::Finding, status.text);
  compile::Options compiled;
  std::string stem = options.folder + "/graph";
  compiled.model = stem + ".mlir";
  compiled.output = stem + ".gist";
  compiled.context = 64;
  compiled.compute =
      seed / 2 % 2 ? compile::Compute::F32 : compile::Compute::Auto;
  bool simulates = options.simulateOf != 0 && seed % options.simulateOf == 0 &&
                   !graph.isForCpus;
  if (simulates)
    compiled.targets.push_back("gfx942");
  std::ofstream(compiled.model) << graph.text;
  status = compileGraph(compiled);
  if (!status.ok())
    return report(isKnownLimit(status.text) ? Outcome::Refused
                                            : Outcome::Finding,
                  "module: " + status.text);
  Contents outputs;
  status = runModule(compiled.output, "cpu", "", graph, inputs, outputs);
  if (!status.ok())
    return report(Outcome::Finding, "cpu: " + status.text);
  compare(outputs, Outcome::Ran, 1e-6);
  if (!simulates)
    return;
  status = runModule(compiled.output, "hip", options.simulator, graph, inputs,
                     outputs);
  if (!status.ok())
    return report(Outcome::Finding, "gfx942-sim: " + status.text);
  // Rows are rounded to f16 there before they are multiplied.
  compare(outputs, Outcome::Simulated, 1.0 / 2048);
}

void fuzz::checkGraph(MLIRContext &context, uint64_t seed,
                      const CheckOptions &options, const Report &report) {
  Check(context, seed, options, report).run();
}
