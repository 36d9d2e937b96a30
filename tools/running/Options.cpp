//===- Options.cpp - Options that several commands share ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options that commands share, and the model that is opened with them.
//
//===----------------------------------------------------------------------===//

#include "tools/running/Options.h"

#include "runtime/device/CpuTopology.h"
#include "runtime/grammar/JsonSchema.h"
#include "runtime/session/Generator.h"
#include "runtime/support/AtomicFile.h"
#include "tools/running/CommandLine.h"
#include "tools/running/ModuleCache.h"
#include "tools/running/ProfileTable.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <sys/resource.h>

using namespace gist;
using namespace gist::run;

/// A name without a folder may be that of a library of ours, such as the
/// simulator, which is installed in ../lib.
static std::string besideProgram(const std::string &library) {
  std::error_code error;
  std::filesystem::path beside =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path() /
      ".." / "lib" / library;
  bool isName = !library.empty() && library.find('/') == std::string::npos;
  return isName && std::filesystem::is_regular_file(beside, error)
             ? beside.string()
             : library;
}

/// The CPU has no driver.
DeviceOptions DriverOptions::forKind(const std::string &kind) const {
  DeviceOptions options;
  if (kind == "hip")
    options.library = besideProgram(hipLibrary);
  else if (kind == "cuda")
    options.library = besideProgram(cudaLibrary);
  return options;
}

void run::addDriverOptions(CLI::App &command, DriverOptions &options) {
  addSetting(command, "--hip-library", options.hipLibrary, "PATH",
             "AMD's driver; without this option libamdhip64.so is looked "
             "for");
  addSetting(command, "--cuda-library", options.cudaLibrary, "PATH",
             "NVIDIA's driver; without this option libcuda.so.1 is looked "
             "for");
}

/// Threads that share a core wait for one another.
static unsigned capThreads(unsigned threads) {
  auto cpus = static_cast<unsigned>(allowedCpus().size());
  if (cpus == 0 || threads <= cpus)
    return threads;
  std::fprintf(stderr,
               "%s: warning: %u threads on %u CPUs would wait for one another; "
               "%u are used\n",
               program_invocation_short_name, threads, cpus, cpus);
  return cpus;
}

Status run::openDevice(const ModelOptions &options,
                       std::unique_ptr<Device> &result) {
  DeviceOptions chosen = options.drivers.forKind(options.device);
  chosen.threads = capThreads(options.threads);
  chosen.index = options.deviceIndex;
  return gist::openDevice(options.device, chosen, result);
}

void run::addTrustOption(CLI::App &command, bool &trust) {
  command.add_flag("--trust", trust,
                   "Run the module's code, which can do whatever you can, also "
                   "if you did not compile it on this machine");
}

void run::addModelOptions(CLI::App &command, ModelOptions &options) {
  command
      .add_option("module", options.path,
                  "Module made by gist-compile; or a GGUF file or a Hugging "
                  "Face folder, which is compiled once and kept")
      ->required()
      ->type_name("MODEL");
  addSetting(command, "--device", options.device, "NAME",
             "Where to run: cpu, hip (AMD) or cuda (NVIDIA)");
  addSetting(command, "--device-index", options.deviceIndex, "N",
             "Which of several GPUs; 'gist-run devices' lists them");
  addDriverOptions(command, options.drivers);
  addSetting(command, "-t,--threads", options.threads, "N",
             "CPU threads; 0: one on each core that this process may use");
  addSetting(command, "-c,--context,--ctx-size", options.context, "N",
             "Tokens the session can hold; memory of the cache grows with "
             "it; 0: the module's default");
  addSetting(command, "--chunk", options.chunk, "N",
             "Tokens per prefill call; 0: the module's choice");
  addSetting(command, "--adapter", options.adapter, "NAME",
             "An adapter of the module (gist-compile --adapter) to compute "
             "with; default: none");
  addSetting(command, "--trace", options.trace, "FILE",
             "Write the time of every command to FILE, for "
             "ui.perfetto.dev or chrome://tracing (slows the run)");
  command.add_flag("--profile", options.profile,
                   "Print where the time went, by kind of command (slows the "
                   "run)");
  command.add_flag("--verify", options.verify,
                   "Compare the hash of every weight before running");
  addTrustOption(command, options.trust);
}

/// Throws what the parser of the command line shows.
static LogitBias parseBias(const std::string &text) {
  LogitBias bias;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%d=%f%c", &bias.token, &bias.bias, &rest) != 2)
    throw CLI::ValidationError("--logit-bias",
                               "'" + text +
                                   "' is not TOKEN=BIAS, a token's number and "
                                   "what is added to its logit");
  return bias;
}

void run::addSamplerOptions(CLI::App &command, SamplerOptions &options) {
  addSetting(command, "--temperature,--temp", options.temperature,
             "0: always the most likely token; 1: as the model says; "
             "higher: more random");
  addSetting(command, "--top-k", options.topK, "K",
             "Choose among the K most likely tokens; 0: all");
  addSetting(command, "--top-p", options.topP,
             "Choose among the most likely tokens that together have this "
             "probability");
  addSetting(command, "--min-p", options.minP,
             "Choose among tokens at least this likely, relative to the "
             "most likely one");
  addSetting(command, "--repeat-penalty", options.repeatPenalty,
             "Make tokens of the last --repeat-window tokens less likely: "
             "divide their logits by this where positive, else multiply; "
             "1: off");
  addSetting(command, "--repeat-window,--repeat-last-n", options.repeatWindow,
             "N",
             "How many of the last tokens --repeat-penalty looks at, those "
             "of the prompt included");
  addSetting(command, "--presence-penalty", options.presencePenalty,
             "Take this from the logits of tokens that the answer has");
  addSetting(command, "--frequency-penalty", options.frequencyPenalty,
             "Take this from the logits of tokens for each time that the "
             "answer has them");
  command
      .add_option_function<std::vector<std::string>>(
          "--logit-bias",
          [&options](const std::vector<std::string> &texts) {
            for (const std::string &text : texts)
              options.biases.push_back(parseBias(text));
          },
          "Add BIAS to the logit of a token, -inf forbids it; may be given "
          "several times")
      ->type_name("TOKEN=BIAS")
      ->expected(1)
      ->take_all();
  addSetting(command, "--min-tokens", options.minTokens, "N",
             "Tokens that the answer has before it may end by a token");
  command.add_option("--seed", options.seed,
                     "The same seed gives the same text; without this option "
                     "one is drawn and printed");
}

/// An option whose file `parse` makes a grammar of.
static CLI::Option *addGrammarFile(CLI::App &command, const char *name,
                                   const char *help,
                                   Status (*parse)(std::string_view, Grammar &),
                                   GenerateOptions &options) {
  return command
      .add_option_function<std::string>(
          name,
          [&options, parse](const std::string &path) {
            std::string text;
            auto grammar = std::make_shared<Grammar>();
            Status status = readText(path, text);
            if (status.ok())
              status = parse(text, *grammar).in(path);
            if (!status.ok())
              throw CLI::ValidationError(status.text);
            options.grammar = std::move(grammar);
          },
          help)
      ->type_name("FILE");
}

void run::addGrammarOptions(CLI::App &command, GenerateOptions &options) {
  CLI::Option *schema = addGrammarFile(
      command, "--schema",
      "Write JSON that is valid for the JSON schema in FILE; - for standard "
      "input",
      [](std::string_view text, Grammar &grammar) {
        return parseJsonSchema(text, grammar);
      },
      options);
  addGrammarFile(command, "--grammar",
                 "Write what matches the grammar in FILE (docs/grammars.md)",
                 parseGrammar, options)
      ->excludes(schema);
}

Status run::chooseSeed(const CLI::App &command, SamplerOptions &options) {
  Sampler ignored;
  GIST_TRY(Sampler::create(options, ignored));
  if (command.count("--seed") != 0 || options.temperature == 0)
    return {};
  options.seed = std::random_device()();
  std::fprintf(stderr, "gist-run: note: --seed %llu repeats this text\n",
               static_cast<unsigned long long>(options.seed));
  return {};
}

/// The time of loading includes mapping, the transfer of weights to the device,
/// and code.
Status Runner::open(const ModelOptions &chosen) {
  options = chosen;
  // Found now, not after all the work.
  if (!options.trace.empty())
    GIST_TRY(checkWritable(options.trace));
  GIST_TRY(compileOnce(options.device, options.path));
  int64_t start = Profile::now();
  GIST_TRY(Module::open(options.path, module));
  if (options.verify)
    GIST_TRY(module->verifyWeights().in(options.path));
  // An encoder's context may also be too small; that is not the reason.
  if (options.writes)
    GIST_TRY(checkGenerates(*module).in(options.path));
  RankedModel ranked;
  ranked.path = options.path;
  ranked.device = options.device;
  ranked.library = options.drivers.forKind(options.device).library;
  ranked.deviceIndex = options.deviceIndex;
  ranked.threads = options.threads;
  ranked.context = options.context;
  ranked.chunk = options.chunk;
  ranked.trust = options.trust;
  GIST_TRY(lease.take(*module, ranked).in(options.path));
  options.threads = ranked.threads;
  options.deviceIndex = ranked.deviceIndex;
  GIST_TRY(run::openDevice(options, device));
  SessionOptions sessionOptions;
  sessionOptions.ranks = lease.ranks();
  sessionOptions.context = options.context;
  sessionOptions.chunk = options.chunk;
  sessionOptions.trust = options.trust;
  sessionOptions.statistics = options.statistics;
  sessionOptions.afterCall = options.afterCall;
  if (options.profile || !options.trace.empty()) {
    profile.keepEvents(!options.trace.empty());
    sessionOptions.profile = &profile;
  }
  GIST_TRY(Session::create(module, *device, sessionOptions, session)
               .in(options.path));
  if (!options.adapter.empty())
    GIST_TRY(session->setAdapter(options.adapter).in(options.path));
  loadSeconds = static_cast<double>(Profile::now() - start) / 1e9;
  return {};
}

Status Runner::openWithTokenizer(const ModelOptions &chosen) {
  GIST_TRY(open(chosen));
  int64_t start = Profile::now();
  GIST_TRY(loadTokenizer(*module, tokenizer).in(options.path));
  loadSeconds += static_cast<double>(Profile::now() - start) / 1e9;
  return {};
}

/// Limits are measured only for a profile: that takes time.
Status run::finishProfile(const ModelOptions &options, Device &device,
                          const Profile &profile) {
  if (options.profile) {
    DeviceLimits limits;
    GIST_TRY(device.measureLimits(limits));
    printProfile(profile, limits);
  }
  if (!options.trace.empty())
    GIST_TRY(profile.writeTrace(options.trace));
  return {};
}

Status Runner::finish() const {
  return finishProfile(options, *device, profile);
}

Status run::readText(const std::string &path, std::string &text) {
  FILE *file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (!file)
    return Status::error(Code::NotFound, "%s: cannot open: %s", path.c_str(),
                         std::strerror(errno));
  text.clear();
  // In pieces, because standard input has no size.
  std::vector<char> piece(size_t{1} << 16);
  size_t count = 0;
  while ((count = std::fread(piece.data(), 1, piece.size(), file)) != 0)
    text.append(piece.data(), count);
  bool failed = std::ferror(file) != 0;
  // fclose may change errno.
  int error = errno;
  if (file != stdin)
    std::fclose(file);
  if (failed)
    return Status::error(Code::Io, "%s: cannot read: %s", path.c_str(),
                         std::strerror(error));
  return {};
}

uint64_t run::weightBytesOfToken(const Module &module) {
  const ModuleSpec &spec = module.spec();
  uint64_t bytes = 0;
  for (const EntrySpec &entry : spec.entries) {
    if (entry.name != kEntryDecode)
      continue;
    bytes = 0; // Targets read the same; the last one counts.
    for (const CommandSpec &command : entry.commands)
      for (const ArgSpec &argument : command.args)
        // Commands that count operations are products; a lookup in a table
        // counts none.
        if (command.flops != kNone && argument.buffer != kNone &&
            spec.buffers[argument.buffer].kind == BufferKind::Weight)
          bytes += spec.weights[spec.buffers[argument.buffer].base].size;
  }
  return bytes;
}

Status run::productFlopsOfToken(const Module &module, double &flops) {
  const ModuleSpec &spec = module.spec();
  std::vector<int64_t> symbols;
  for (const SymbolSpec &symbol : spec.symbols)
    symbols.push_back(symbol.initial);
  if (uint32_t tokens = module.findSymbol(kSymbolTokens); tokens != kNone)
    symbols[tokens] = 1;
  flops = 0;
  const EntrySpec *found = nullptr;
  // Decode is preferred: the second name overwrites the first.
  for (const char *name : {kEntryScore, kEntryDecode})
    for (const EntrySpec &entry : spec.entries)
      if (entry.name == name)
        found = &entry;
  if (!found)
    return {};
  for (const CommandSpec &command : found->commands) {
    if (command.flops == kNone)
      continue;
    int64_t count = 0;
    GIST_TRY(evaluateExpr(spec.exprs[command.flops], symbols, count));
    flops += static_cast<double>(count);
  }
  return {};
}

uint64_t run::peakMemory() {
  // The value of getrusage survives exec: it may be the peak of the parent
  // process.
  if (std::FILE *file = std::fopen("/proc/self/status", "re")) {
    unsigned long long peak = 0;
    char line[256];
    while (peak == 0 && std::fgets(line, sizeof line, file))
      (void)std::sscanf(line, "VmHWM: %llu kB", &peak);
    std::fclose(file);
    if (peak != 0)
      return peak * 1024;
  }
  struct rusage usage;
  if (::getrusage(RUSAGE_SELF, &usage) != 0)
    return 0;
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024; // reported in KiB
}

std::string run::sizeText(uint64_t bytes) {
  static constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.1f %s", value,
                kUnits[unit]);
  return text;
}
