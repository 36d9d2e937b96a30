//===- Selftest.cpp - gist-run selftest -----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs every entry of a module on a device and on the CPU, with the same random
// inputs, and compares what comes out. Each size runs several times in a row,
// so that plain launches, the recorded graph and its second launch are all
// seen, with state that grows.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"
#include "tools/gist-run/Comparing.h"
#include "tools/gist-run/Options.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <set>

using namespace gist;
using namespace gist::run;

namespace {
struct Options {
  ModelOptions model;
  std::vector<int64_t> tokens = {1, 2, 7, 33, 64};
  double tolerance = 0;
  uint32_t seed = 1;
};

/// The device and the CPU beside it, with the same state.
class Selftest {
public:
  explicit Selftest(const Options &options)
      : options(options), random(options.seed) {}

  Status open();
  Status run();

private:
  Status openCpu();
  Status testEntry(const EntrySpec &entry);
  Status testCall(const EntrySpec &entry, int64_t tokens);
  Status shapeOf(const BufferSpec &buffer, std::vector<int64_t> &shape);
  Status fillInput(const BufferSpec &buffer, std::vector<uint8_t> &content);
  const EntrySpec *findReference(const EntrySpec &entry) const;
  bool usesState(const EntrySpec &entry) const;
  double getLimit(const EntrySpec &entry) const;
  void printKernels(const std::set<uint32_t> &launched) const;

  const Options &options;
  std::mt19937 random;
  Runner runner;
  std::unique_ptr<Device> cpu;
  std::unique_ptr<Session> reference;
  std::unique_ptr<SymbolValues> symbols; ///< of the call that is tested
  double oneKernel = 0;                  ///< what a kernel may be off
  int64_t past = 0;
  size_t compared = 0, failed = 0;
};
} // namespace

/// How often each size is called.
static constexpr int kCalls = 3;

Status Selftest::openCpu() {
  GIST_TRY(gist::openDevice("cpu", {.threads = options.model.threads}, cpu));
  SessionOptions sessionOptions;
  sessionOptions.context = options.model.context;
  return Session::create(runner.module, *cpu, sessionOptions, reference)
      .in(options.model.path + ": nothing to compare with on the CPU");
}

Status Selftest::open() {
  GIST_TRY(runner.open(options.model));
  GIST_TRY(openCpu());
  symbols = std::make_unique<SymbolValues>(runner.module->spec());
  const auto &properties = runner.module->spec().model.properties;
  auto compute = properties.find("compute");
  bool isBf16 = compute != properties.end() &&
                compute->second.find("bf16") != std::string::npos;
  oneKernel = isBf16 ? kToleranceBf16 : kToleranceF16;
  return {};
}

/// Every kernel rounds, independently of the others, and passes on what it is
/// given: over n of them the squares of errors add up.
double Selftest::getLimit(const EntrySpec &entry) const {
  if (options.tolerance > 0)
    return options.tolerance;
  return oneKernel * std::sqrt(std::max<double>(
                         1, static_cast<double>(entry.commands.size())));
}

bool Selftest::usesState(const EntrySpec &entry) const {
  const std::vector<BufferSpec> &buffers = runner.module->spec().buffers;
  for (const CommandSpec &command : entry.commands)
    for (const ArgSpec &arg : command.args) {
      uint32_t buffer = arg.buffer;
      while (buffer != kNone && buffers[buffer].kind == BufferKind::View)
        buffer = buffers[buffer].base;
      if (buffer != kNone && buffers[buffer].kind == BufferKind::State)
        return true;
    }
  return false;
}

Status Selftest::shapeOf(const BufferSpec &buffer,
                         std::vector<int64_t> &shape) {
  for (ExprId dim : buffer.shape)
    GIST_TRY(symbols->get(dim, shape.emplace_back()));
  if (shape.empty()) {
    uint64_t bytes = 0;
    GIST_TRY(symbols->getSize(buffer.size, "size", bytes));
    shape.push_back(static_cast<int64_t>(bytes / elementSize(buffer.type)));
  }
  return {};
}

/// The CPU's entry of this name. Its inputs and outputs are in the same order;
/// their names need not be the same, as names in a module are unique.
const EntrySpec *Selftest::findReference(const EntrySpec &entry) const {
  const ModuleSpec &spec = runner.module->spec();
  auto target = &reference->target() - spec.targets.data();
  const EntrySpec *found =
      runner.module->findEntry(entry.name, static_cast<uint32_t>(target));
  bool isSame = found && found->inputs.size() == entry.inputs.size() &&
                found->outputs.size() == entry.outputs.size();
  return isSame ? found : nullptr;
}

Status Selftest::fillInput(const BufferSpec &buffer,
                           std::vector<uint8_t> &content) {
  std::vector<int64_t> shape;
  GIST_TRY(shapeOf(buffer, shape));
  size_t count = 1;
  for (int64_t size : shape)
    count *= static_cast<size_t>(size);
  // Integers are tokens, or indices of something there are a few of. A name may
  // have its target's and its entry's in front.
  size_t dot = buffer.name.rfind('.');
  std::string name =
      dot == std::string::npos ? buffer.name : buffer.name.substr(dot + 1);
  int64_t vocabulary = runner.module->spec().model.vocabSize;
  bool isTokens = name == kTensorTokens && vocabulary > 0;
  content = randomArray(buffer.type, count, isTokens ? vocabulary : 2, random);
  return {};
}

Status Selftest::testCall(const EntrySpec &entry, int64_t tokens) {
  const ModuleSpec &spec = runner.module->spec();
  std::map<std::string, int64_t> values;
  bool hasState = usesState(entry);
  if (hasState && past + tokens > runner.session->capacity()) {
    past = 0;
    GIST_TRY(runner.session->reset());
    GIST_TRY(reference->reset());
  }
  if (runner.module->findSymbol(kSymbolTokens) != kNone)
    values[kSymbolTokens] = tokens;
  if (runner.module->findSymbol(kSymbolPast) != kNone)
    values[kSymbolPast] = hasState ? past : 0;
  for (const auto &[name, value] : values)
    GIST_TRY(symbols->set(runner.module->findSymbol(name), value));

  const EntrySpec &onCpu = *findReference(entry);
  std::vector<std::vector<uint8_t>> contents(entry.inputs.size());
  std::map<std::string, Bytes> inputs, cpuInputs;
  for (size_t i = 0; i < contents.size(); ++i) {
    const BufferSpec &buffer = spec.buffers[entry.inputs[i]];
    GIST_TRY(fillInput(buffer, contents[i]));
    Bytes bytes = {contents[i].data(), contents[i].size()};
    inputs[buffer.name] = bytes;
    cpuInputs[spec.buffers[onCpu.inputs[i]].name] = bytes;
  }
  std::map<std::string, std::vector<uint8_t>> got, expected;
  int64_t start = Profile::now();
  GIST_TRY(runner.session->call(entry.name, values, inputs, got));
  double milliseconds = static_cast<double>(Profile::now() - start) / 1e6;
  GIST_TRY(reference->call(entry.name, values, cpuInputs, expected));

  for (size_t i = 0; i < entry.outputs.size(); ++i) {
    const BufferSpec &buffer = spec.buffers[entry.outputs[i]];
    const std::vector<uint8_t> &here = got[buffer.name];
    const std::vector<uint8_t> &there =
        expected[spec.buffers[onCpu.outputs[i]].name];
    std::vector<int64_t> shape;
    GIST_TRY(shapeOf(buffer, shape));
    if (here.size() != there.size())
      return Status::error(Code::BadFile,
                           "output '%s' has %zu bytes here and %zu on the CPU",
                           buffer.name.c_str(), here.size(), there.size());
    double error =
        rowError(buffer.type, static_cast<size_t>(shape.back()), here, there);
    double limit = getLimit(entry);
    bool passed = error <= limit;
    ++compared;
    failed += passed ? 0 : 1;
    std::printf("%-12s %7lld %7lld  %-20s %10.2e %10.2e %10.3f  %s\n",
                entry.name.c_str(), static_cast<long long>(tokens),
                static_cast<long long>(hasState ? past : 0),
                buffer.name.c_str(), error, limit, milliseconds,
                passed ? "pass" : "FAIL");
  }
  if (hasState)
    past += tokens;
  return {};
}

Status Selftest::testEntry(const EntrySpec &entry) {
  uint32_t symbol = runner.module->findSymbol(kSymbolTokens);
  if (symbol == kNone) {
    for (int i = 0; i < kCalls; ++i)
      GIST_TRY(testCall(entry, 1));
    return {};
  }
  int64_t most =
      std::min({runner.session->maxTokens(entry.name),
                reference->maxTokens(entry.name), runner.session->capacity()});
  if (entry.name == kEntryDecode)
    most = 1;
  // The largest below the bound is a size of its own.
  std::set<int64_t> sizes;
  for (int64_t tokens : options.tokens)
    sizes.insert(
        std::clamp(tokens, runner.module->spec().symbols[symbol].min, most));
  for (int64_t tokens : sizes)
    for (int i = 0; i < kCalls; ++i)
      GIST_TRY(testCall(entry, tokens));
  return {};
}

/// Which of the target's kernels no entry launched: nobody should take those
/// for tested.
void Selftest::printKernels(const std::set<uint32_t> &launched) const {
  const ModuleSpec &spec = runner.module->spec();
  size_t known = 0;
  std::string missed;
  for (uint32_t i = 0; i < spec.kernels.size(); ++i)
    for (const KernelCode &code : spec.kernels[i].code) {
      if (&spec.targets[code.target] != &runner.session->target())
        continue;
      ++known;
      if (!launched.contains(i))
        missed += " " + spec.kernels[i].name;
    }
  std::printf("%zu of %zu kernels for %s were launched%s%s\n", launched.size(),
              known, runner.session->target().name.c_str(),
              missed.empty() ? "" : "; not:", missed.c_str());
}

Status Selftest::run() {
  const ModuleSpec &spec = runner.module->spec();
  DeviceInfo info = runner.device->info();
  std::printf("%s: %s, %s, beside %s\n", info.kind.c_str(), info.name.c_str(),
              info.architecture.c_str(), cpu->info().name.c_str());
  std::printf("%-12s %7s %7s  %-20s %10s %10s %10s  %s\n", "entry", "tokens",
              "past", "output", "error", "limit", "ms", "result");
  std::set<uint32_t> launched;
  for (const EntrySpec &entry : spec.entries) {
    if (entry.target != kNone &&
        &spec.targets[entry.target] != &runner.session->target())
      continue;
    if (!findReference(entry)) {
      std::printf("%-12s has no code for the CPU to compare with\n",
                  entry.name.c_str());
      continue;
    }
    GIST_TRY(testEntry(entry).in("entry '" + entry.name + "'"));
    for (const CommandSpec &command : entry.commands)
      launched.insert(command.kernel);
  }
  printKernels(launched);
  if (failed != 0)
    return Status::error(Code::Device, "%zu of %zu comparisons failed", failed,
                         compared);
  std::printf("all %zu comparisons passed\n", compared);
  return runner.finish();
}

void run::addSelftest(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "selftest", "Compare every entry of a module on a device with the CPU");
  addModelOptions(*command, options->model);
  command
      ->add_option("--tokens", options->tokens,
                   "Sizes to call each entry with, as far as it takes them")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option(
          "--tolerance", options->tolerance,
          "Largest error that passes; without this option 2e-3, or 1e-2 "
          "for modules that compute in bf16, times the root of the "
          "number of kernels that an entry runs")
      ->type_name("X")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--seed", options->seed,
                   "The same seed gives the same inputs")
      ->capture_default_str();
  command->footer("The error of a row is the length of the difference divided "
                  "by that of the CPU's row; integers must be equal. Kernels "
                  "round independently, so that squares of errors add up.\n"
                  "Example: gist-run selftest smollm2.gist --device hip");
  command->callback([options, &action] {
    action = [options] {
      Selftest test(*options);
      GIST_TRY(test.open());
      return test.run();
    };
  });
}
