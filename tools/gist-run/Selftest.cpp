//===- Selftest.cpp - gist-run selftest -----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs every entry of a module on a device and on the CPU, with the same random
// inputs and the same state, and compares what comes out; a token that the
// device drew, with what the host draws from the same logits. Each size runs
// several times in a row, so that plain launches, the recorded graph and its
// second launch are all seen, with state that grows, from nothing or from a
// text that the CPU has read.
//
// What rounding may do is measured: a second run on the CPU has as much noise
// in its parameters as the device rounds. Some rows are moved far by it. And
// where a module selects or gates, a number may be within rounding of its
// threshold: there the device may rightly decide otherwise than the CPU, as
// does the noise, and what follows differs by more than rounding.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"
#include "tools/running/Comparing.h"
#include "tools/running/Options.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string_view>

using namespace gist;
using namespace gist::run;

using Outputs = std::map<std::string, std::vector<uint8_t>>;

namespace {
/// `tokens` has odd sizes, so that tiles are part full, and one of exactly 64.
struct Options {
  ModelOptions model;
  std::vector<int64_t> tokens = {1, 2, 7, 33, 64};
  int64_t past = 0; ///< tokens of a text before the first call
  double tolerance = 0;
  uint32_t seed = 1;
};

/// One output in all calls of one size, with a row for each token.
struct Comparison {
  /// The error of each row, and the error that noise alone causes.
  std::vector<double> errors, noise;

  void add(double error, double ofNoise = 0) {
    errors.push_back(error);
    noise.push_back(ofNoise);
  }
  double worst() const { return largest(errors); }
  /// How many rows have an error beyond `limit`, and beyond four times what
  /// noise makes of them: noise is one sample of what rounding does. Where
  /// nothing is decided rows are alike, and the largest of all samples counts,
  /// since any one may be small by chance.
  size_t countBeyond(double limit, bool decides) const {
    size_t count = 0;
    for (size_t row = 0; row < errors.size(); ++row) {
      double sample = decides ? noise[row] : largest(noise);
      count += errors[row] <= std::max(limit, 4 * sample) ? 0 : 1;
    }
    return count;
  }
  size_t countNoiseBeyond(double limit) const {
    return static_cast<size_t>(std::ranges::count_if(
        noise, [&](double sample) { return !(sample <= limit); }));
  }

private:
  static double largest(const std::vector<double> &values) {
    return values.empty() ? 0 : *std::ranges::max_element(values);
  }
};

/// The device and the CPU beside it, with the same state.
class Selftest {
public:
  explicit Selftest(const Options &options)
      : options(options), random(options.seed), noise(options.seed) {}

  Status open();
  Status run();

private:
  Status openCpu();
  Status addNoise();
  Status beginText();
  Status testEntry(const EntrySpec &entry);
  bool hasDecisions(const EntrySpec &entry) const;
  Status testSize(const EntrySpec &entry, int64_t tokens);
  Status testCall(const EntrySpec &entry, int64_t tokens,
                  std::vector<Comparison> &comparisons);
  Status compare(const EntrySpec &entry, const Outputs &got,
                 const EntrySpec &onCpu, const Outputs &expected, size_t output,
                 std::vector<double> &errors);
  Status call(Session &session, const EntrySpec &entry,
              const std::vector<std::vector<uint8_t>> &contents,
              Outputs &outputs);
  Status checkToken(const EntrySpec &entry,
                    const std::vector<std::vector<uint8_t>> &contents,
                    const Outputs &got, Comparison &comparison);
  Status shapeOf(const BufferSpec &buffer, std::vector<int64_t> &shape);
  Status fillInput(const BufferSpec &buffer, std::vector<uint8_t> &content);
  /// Null if the CPU has no such entry to compare with.
  const EntrySpec *findReference(const EntrySpec &entry) const;
  bool usesState(const EntrySpec &entry) const;
  double getLimit(const EntrySpec &entry) const;
  void printKernels(const std::set<uint32_t> &launched) const;

  const Options &options;
  std::mt19937 random, noise;
  Runner runner;
  std::unique_ptr<Device> cpu;
  std::unique_ptr<Session> reference;
  std::unique_ptr<Session> noisy;        ///< null: a limit was given
  std::unique_ptr<SymbolValues> symbols; ///< of the call that is tested
  std::map<std::string, int64_t> values; ///< the same, by name
  double oneKernel = 0;                  ///< what a kernel may be off
  int64_t past = 0;
  bool hasText = false;
  size_t compared = 0, failed = 0;
};
} // namespace

/// How often each size is called.
static constexpr int kCalls = 3;

/// Whether a buffer is called `name`. Its name may have its target's and its
/// entry's in front.
/// "gfx942.decode.logits" is called "logits".
static bool isCalled(const BufferSpec &buffer, std::string_view name) {
  std::string_view whole = buffer.name;
  return whole.substr(whole.rfind('.') + 1) == name; // npos + 1 is 0.
}

/// The numbers of those of `buffers` that are not called `name`.
static std::vector<uint32_t> without(const ModuleSpec &spec,
                                     std::vector<uint32_t> buffers,
                                     std::string_view name) {
  std::erase_if(buffers,
                [&](uint32_t i) { return isCalled(spec.buffers[i], name); });
  return buffers;
}

/// A second session on the CPU has the noise. It is not needed where the user
/// names the limit.
Status Selftest::openCpu() {
  GIST_TRY(gist::openDevice("cpu", {.threads = options.model.threads}, cpu));
  SessionOptions sessionOptions;
  sessionOptions.context = options.model.context;
  sessionOptions.trust = options.model.trust;
  GIST_TRY(
      Session::create(runner.module, *cpu, sessionOptions, reference)
          .in(options.model.path + ": nothing to compare with on the CPU"));
  if (options.tolerance > 0)
    return {};
  GIST_TRY(Session::create(runner.module, *cpu, sessionOptions, noisy));
  return addNoise();
}

/// Moves the gains of norms and the biases by as much as numbers of the
/// device's type are rounded: every layer has some.
Status Selftest::addNoise() {
  const std::vector<WeightSpec> &weights = runner.module->spec().weights;
  for (uint32_t i = 0; i < weights.size(); ++i) {
    // Vectors in f32 are gains and biases; matrices are left alone.
    if (weights[i].format != "f32" || weights[i].shape.size() != 1 ||
        weights[i].random)
      continue;
    Bytes bytes = runner.module->weight(i);
    std::vector<float> values(bytes.size / sizeof(float));
    std::memcpy(values.data(), bytes.data, values.size() * sizeof(float));
    for (float &value : values) {
      // In [-1, 1): the generator gives 32 bits.
      double unit = std::ldexp(static_cast<double>(noise()), -31) - 1;
      // Relative, as rounding is: a parameter of 0 stays 0.
      value *= static_cast<float>(1 + unit * oneKernel / 2);
    }
    Status status = noisy->setWeight(
        weights[i].name, {reinterpret_cast<const uint8_t *>(values.data()),
                          values.size() * sizeof(float)});
    if (!status.ok() && status.code != Code::NotFound) // another target's
      return status;
  }
  return {};
}

/// What one kernel may be off depends on the type that the module computes in.
Status Selftest::open() {
  GIST_TRY(runner.open(options.model));
  symbols = std::make_unique<SymbolValues>(runner.module->spec());
  const auto &properties = runner.module->spec().model.properties;
  auto compute = properties.find("compute");
  // The module says what it computes in.
  bool isBf16 = compute != properties.end() &&
                compute->second.find("bf16") != std::string::npos;
  oneKernel = isBf16 ? kToleranceBf16 : kToleranceF16;
  return openCpu();
}

/// Every kernel rounds, independently of the others, and passes on what it is
/// given: over n of them the squares of errors add up.
double Selftest::getLimit(const EntrySpec &entry) const {
  if (options.tolerance > 0)
    return options.tolerance;
  return oneKernel * std::sqrt(std::max<double>(
                         1, static_cast<double>(entry.commands.size())));
}

/// An entry with state is called with the state of the calls before.
bool Selftest::usesState(const EntrySpec &entry) const {
  const std::vector<BufferSpec> &buffers = runner.module->spec().buffers;
  for (const CommandSpec &command : entry.commands)
    for (const ArgSpec &arg : command.args)
      if (arg.buffer != kNone && buffers[arg.buffer].kind == BufferKind::State)
        return true;
  return false;
}

/// Dimensions are expressions of the symbols of this call.
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

/// The CPU's entry of this name, or prefill for a few tokens, which CPUs have
/// no entry for. Its inputs and outputs are in the same order, but for a token
/// that is drawn, with its settings; their names need not be the same, as names
/// in a module are unique.
const EntrySpec *Selftest::findReference(const EntrySpec &entry) const {
  const ModuleSpec &spec = runner.module->spec();
  auto target = &reference->target() - spec.targets.data();
  const EntrySpec *found = runner.module->findEntry(
      entry.name == kEntryShort ? kEntryPrefill : entry.name,
      static_cast<uint32_t>(target));
  bool isSame =
      found &&
      found->inputs.size() ==
          without(spec, entry.inputs, kTensorSampling).size() &&
      found->outputs.size() == without(spec, entry.outputs, kTensorNext).size();
  return isSame ? found : nullptr;
}

/// The contents are random, but the same for the same seed.
Status Selftest::fillInput(const BufferSpec &buffer,
                           std::vector<uint8_t> &content) {
  std::vector<int64_t> shape;
  GIST_TRY(shapeOf(buffer, shape));
  size_t count = 1;
  for (int64_t size : shape)
    count *= static_cast<size_t>(size);
  if (isCalled(buffer, kTensorSampling)) {
    auto oneOf = [&](std::initializer_list<float> choices) {
      return choices.begin()[random() % choices.size()];
    };
    Sampler sampler;
    // Greedy, cold and hot, with and without each limit: all paths of the
    // device's sampler.
    GIST_TRY(Sampler::create({.temperature = oneOf({0.0f, 0.7f, 1.5f}),
                              .topK = random() % 2 == 0 ? 40u : 0u,
                              .topP = oneOf({0.9f, 1.0f}),
                              .minP = oneOf({0.0f, 0.05f}),
                              .seed = random()},
                             sampler));
    SampleSettings settings = sampler.next();
    content.resize(sizeof settings.numbers);
    std::memcpy(content.data(), settings.numbers.data(), content.size());
    return {};
  }
  // Integers are tokens, or indices of something there are a few of.
  // Everything else that is an integer counts something; 0 and 1 are always in
  // range.
  int64_t vocabulary = runner.module->spec().model.vocabSize;
  bool isTokens = isCalled(buffer, kTensorTokens) && vocabulary > 0;
  content = randomArray(buffer.type, count, isTokens ? vocabulary : 2, random);
  return {};
}

/// Inputs go by name, in the order of the entry.
Status Selftest::call(Session &session, const EntrySpec &entry,
                      const std::vector<std::vector<uint8_t>> &contents,
                      Outputs &outputs) {
  const std::vector<BufferSpec> &buffers = runner.module->spec().buffers;
  std::map<std::string, Bytes> inputs;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    inputs[buffers[entry.inputs[i]].name] = {contents[i].data(),
                                             contents[i].size()};
  return session.call(entry.name, values, inputs, outputs);
}

/// The errors of the rows of an output.
Status Selftest::compare(const EntrySpec &entry, const Outputs &got,
                         const EntrySpec &onCpu, const Outputs &expected,
                         size_t output, std::vector<double> &errors) {
  const std::vector<BufferSpec> &buffers = runner.module->spec().buffers;
  const BufferSpec &buffer = buffers[entry.outputs[output]];
  const std::vector<uint8_t> &here = got.at(buffer.name);
  const std::vector<uint8_t> &there =
      expected.at(buffers[onCpu.outputs[output]].name);
  std::vector<int64_t> shape;
  GIST_TRY(shapeOf(buffer, shape));
  if (here.size() != there.size())
    return Status::error(Code::BadFile,
                         "output '%s' has %zu bytes here and %zu on the CPU",
                         buffer.name.c_str(), here.size(), there.size());
  errors =
      rowErrors(buffer.type, static_cast<size_t>(shape.back()), here, there);
  return {};
}

/// Compares the token that the device drew from its logits with what the host
/// draws from them.
Status Selftest::checkToken(const EntrySpec &entry,
                            const std::vector<std::vector<uint8_t>> &contents,
                            const Outputs &got, Comparison &comparison) {
  const std::vector<BufferSpec> &buffers = runner.module->spec().buffers;
  SampleSettings settings;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    if (isCalled(buffers[entry.inputs[i]], kTensorSampling))
      std::memcpy(settings.numbers.data(), contents[i].data(),
                  std::min(contents[i].size(), sizeof settings.numbers));
  std::vector<float> logits;
  int32_t token = 0, expected = 0;
  for (uint32_t i : entry.outputs) {
    const std::vector<uint8_t> &bytes = got.at(buffers[i].name);
    if (isCalled(buffers[i], kTensorLogits)) {
      logits.resize(bytes.size() / sizeof(float));
      std::memcpy(logits.data(), bytes.data(), logits.size() * sizeof(float));
    } else if (isCalled(buffers[i], kTensorNext)) {
      std::memcpy(&token, bytes.data(), std::min(bytes.size(), sizeof token));
    }
  }
  // The sampler's own settings do not matter: `settings` has all that a draw
  // needs, the random number too.
  Sampler sampler;
  GIST_TRY(Sampler::create({}, sampler));
  GIST_TRY(sampler.draw(logits, settings, expected));
  comparison.add(token == expected ? 0 : 1);
  return {};
}

/// Forgets all tokens, and lets the CPU read as many as a text begins with:
/// what calls of few tokens do after many is so tested without comparing the
/// many.
Status Selftest::beginText() {
  GIST_TRY(reference->reset());
  past = options.past;
  hasText = true;
  if (past == 0)
    return {};
  auto vocabulary = static_cast<uint32_t>(
      std::max<int64_t>(runner.module->spec().model.vocabSize, 1));
  std::vector<int32_t> tokens(static_cast<size_t>(past));
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(random() % vocabulary);
  return reference->feed(tokens);
}

/// One call on the device, on the CPU, and on the CPU with noise. State is
/// taken from the CPU before, so that errors do not add up over calls.
Status Selftest::testCall(const EntrySpec &entry, int64_t tokens,
                          std::vector<Comparison> &comparisons) {
  const ModuleSpec &spec = runner.module->spec();
  bool hasState = usesState(entry);
  // The context is full: the next calls begin a new text.
  if (hasState && (!hasText || past + tokens > runner.session->capacity()))
    GIST_TRY(beginText());
  if (hasState) {
    // Errors of earlier calls must not count again, and a different decision in
    // one of them is not an error of this call.
    GIST_TRY(runner.session->takeState(*reference));
    if (noisy)
      GIST_TRY(noisy->takeState(*reference));
    tokens = std::min(tokens, reference->tokensInBlock(past));
  }
  values.clear();
  if (runner.module->findSymbol(kSymbolTokens) != kNone)
    values[kSymbolTokens] = tokens;
  if (runner.module->findSymbol(kSymbolPast) != kNone)
    values[kSymbolPast] = hasState ? past : 0;
  for (const auto &[name, value] : values)
    GIST_TRY(symbols->set(runner.module->findSymbol(name), value));

  const EntrySpec &onCpu = *findReference(entry);
  std::vector<std::vector<uint8_t>> contents(entry.inputs.size());
  for (size_t i = 0; i < contents.size(); ++i)
    GIST_TRY(fillInput(spec.buffers[entry.inputs[i]], contents[i]));
  Outputs got, expected, withNoise;
  GIST_TRY(call(*runner.session, entry, contents, got));
  std::vector<std::vector<uint8_t>> all = contents;
  // The CPU's entry has no settings of a sampler: it gives logits only.
  for (size_t i = contents.size(); i-- > 0;)
    if (isCalled(spec.buffers[entry.inputs[i]], kTensorSampling))
      contents.erase(contents.begin() + static_cast<ptrdiff_t>(i));
  GIST_TRY(call(*reference, onCpu, contents, expected));
  if (noisy)
    GIST_TRY(call(*noisy, onCpu, contents, withNoise));

  for (size_t i = 0; i < entry.outputs.size(); ++i) {
    Comparison &comparison = comparisons[i];
    if (isCalled(spec.buffers[entry.outputs[i]], kTensorNext)) {
      GIST_TRY(checkToken(entry, all, got, comparison));
      continue;
    }
    std::vector<double> errors, noiseErrors;
    GIST_TRY(compare(entry, got, onCpu, expected, i, errors));
    noiseErrors.resize(errors.size());
    if (noisy)
      GIST_TRY(compare(onCpu, withNoise, onCpu, expected, i, noiseErrors));
    for (size_t row = 0; row < errors.size(); ++row)
      comparison.add(errors[row], noiseErrors[row]);
  }
  if (hasState)
    past += tokens;
  return {};
}

/// Whether an entry makes decisions that rounding may change: how many tokens
/// stay, which gates open (it says so), or which experts a token has. The CPU's
/// list keeps whole numbers between kernels for nothing else.
bool Selftest::hasDecisions(const EntrySpec &entry) const {
  if (!entry.statistics.empty())
    return true;
  const ModuleSpec &spec = runner.module->spec();
  for (const CommandSpec &command : findReference(entry)->commands)
    for (const ArgSpec &arg : command.args)
      if (arg.buffer != kNone &&
          spec.buffers[arg.buffer].kind == BufferKind::Arena &&
          spec.buffers[arg.buffer].type == ElementType::I32)
        return true;
  return false;
}

/// A line for each output. The time is of all calls on all three.
Status Selftest::testSize(const EntrySpec &entry, int64_t tokens) {
  std::vector<Comparison> comparisons(entry.outputs.size());
  int64_t start = Profile::now();
  for (int i = 0; i < kCalls; ++i)
    GIST_TRY(testCall(entry, tokens, comparisons));
  double seconds = static_cast<double>(Profile::now() - start) / 1e9;
  for (size_t i = 0; i < entry.outputs.size(); ++i) {
    const Comparison &comparison = comparisons[i];
    const BufferSpec &output = runner.module->spec().buffers[entry.outputs[i]];
    bool isToken = isCalled(output, kTensorNext);
    bool decides = noisy && hasDecisions(entry) && !isToken;
    double limit = isToken ? 0 : getLimit(entry);
    size_t beyond = comparison.countBeyond(limit, decides);
    // One row may always be decided differently. Beyond that, three times what
    // the noise shows, because the noise is one sample of many.
    size_t allowed = decides ? 1 + 3 * comparison.countNoiseBeyond(limit) : 0;
    bool passed = beyond <= allowed;
    ++compared;
    failed += passed ? 0 : 1;
    std::printf("%-12s %7lld  %-20s %6zu %10.2e %10.2e %7zu %7zu %8.2f  %s\n",
                entry.name.c_str(), static_cast<long long>(tokens),
                output.name.c_str(), comparison.errors.size(),
                comparison.worst(), limit, beyond, allowed, seconds,
                passed ? "pass" : "FAIL");
  }
  return {};
}

/// Sizes beyond what the entry takes are cut to the largest one.
Status Selftest::testEntry(const EntrySpec &entry) {
  uint32_t symbol = runner.module->findSymbol(kSymbolTokens);
  if (symbol == kNone)
    return testSize(entry, 1);
  int64_t room = runner.session->capacity();
  if (usesState(entry))
    room -= options.past;
  if (room < 1)
    return Status::error(Code::BadArgument,
                         "%lld tokens before the first call leave no room: the "
                         "context has %lld",
                         static_cast<long long>(options.past),
                         static_cast<long long>(runner.session->capacity()));
  int64_t most = std::min({runner.session->maxTokens(entry.name),
                           reference->maxTokens(entry.name), room});
  // Decode takes one token at a time.
  if (entry.name == kEntryDecode)
    most = 1;
  // The largest below the bound is a size of its own.
  std::set<int64_t> sizes;
  for (int64_t tokens : options.tokens)
    sizes.insert(
        std::clamp(tokens, runner.module->spec().symbols[symbol].min, most));
  for (int64_t tokens : sizes)
    GIST_TRY(testSize(entry, tokens));
  return {};
}

/// The target's kernels that no entry launched: they are not tested.
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

/// The exit status is 1 if any comparison failed.
Status Selftest::run() {
  const ModuleSpec &spec = runner.module->spec();
  DeviceInfo info = runner.device->info();
  std::printf("%s: %s, %s, beside %s\n", info.kind.c_str(), info.name.c_str(),
              info.architecture.c_str(), cpu->info().name.c_str());
  std::printf("%-12s %7s  %-20s %6s %10s %10s %7s %7s %8s  %s\n", "entry",
              "tokens", "output", "rows", "error", "limit", "beyond", "allowed",
              "s", "result");
  std::set<uint32_t> launched;
  for (const EntrySpec &entry : spec.entries) {
    if (entry.target != kNone &&
        &spec.targets[entry.target] != &runner.session->target())
      continue;
    // Not a failure: a module for a GPU alone can still be opened.
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
  addSetting(*command, "--tokens", options->tokens, "N,...",
             "Sizes to call each entry with, as far as it takes them")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  addSetting(*command, "--past", options->past, "N",
             "Tokens that the CPU reads first, so that entries that "
             "continue a text are called after them")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option(
          "--tolerance", options->tolerance,
          "Largest error that passes; without this option 2e-3, or 1e-2 "
          "for modules that compute in bf16, times the root of the "
          "number of kernels that an entry runs")
      ->type_name("X")
      ->check(CLI::PositiveNumber);
  addSetting(*command, "--seed", options->seed,
             "The same seed gives the same inputs");
  command->footer("The error of a row is the length of the difference divided "
                  "by that of the CPU's row; integers must be equal. Kernels "
                  "round independently, so that squares of errors add up.\n"
                  "A row that noise of that size moves further on the CPU may "
                  "be off by four times as much. Where tokens are selected or "
                  "gated, rounding may decide a token otherwise: as many rows "
                  "as such noise moves beyond the limit, three times and one "
                  "more, may be beyond it.\n"
                  "Example: gist-run selftest smollm2.gist --device hip");
  command->callback([options, &action] {
    action = [options] {
      Selftest test(*options);
      GIST_TRY(test.open());
      return test.run();
    };
  });
}
