//===- Call.cpp - gist-run call -------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-run call`: one entry of a module on arrays, for tests and for
// debugging. It knows nothing of what an entry means.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"
#include "tools/running/Npy.h"
#include "tools/running/Options.h"

#include "runtime/support/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>

using namespace gist;
using namespace gist::run;

namespace {
/// Inputs and symbols as the user wrote them: NAME=FILE, NAME=N.
struct Options {
  ModelOptions model;
  std::string entry, folder = ".";
  std::vector<std::string> symbols, inputs;
  std::string text;
  int64_t maxTokens = 0;
  unsigned repeat = 0;
};
} // namespace

/// "name=value".
static Status splitPair(const std::string &text, std::string &name,
                        std::string &value) {
  size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    return Status::error(Code::BadArgument, "'%s' is not NAME=VALUE",
                         text.c_str());
  name = text.substr(0, equals);
  value = text.substr(equals + 1);
  return {};
}

/// The numbers that shapes are made of, such as T for the tokens of a call.
static Status readSymbols(const Options &options,
                          std::map<std::string, int64_t> &symbols) {
  for (const std::string &text : options.symbols) {
    std::string name, value;
    GIST_TRY(splitPair(text, name, value));
    // strtoll says how far it read and whether the number fits.
    char *end = nullptr;
    errno = 0;
    symbols[name] = std::strtoll(value.c_str(), &end, 10);
    if (value.empty() || *end != '\0' || errno != 0)
      return Status::error(Code::BadArgument, "'%s' is not an integer",
                           value.c_str());
  }
  return {};
}

/// Names of buffers are unique in a module.
static const BufferSpec *findBuffer(const ModuleSpec &spec,
                                    const std::string &name) {
  for (const BufferSpec &buffer : spec.buffers)
    if (buffer.name == name)
      return &buffer;
  return nullptr;
}

/// The type must be the buffer's; the size is compared by Session::call, which
/// knows the symbols.
static Status readInputs(const Options &options, const ModuleSpec &spec,
                         std::map<std::string, Array> &arrays) {
  for (const std::string &text : options.inputs) {
    std::string name, path;
    GIST_TRY(splitPair(text, name, path));
    const BufferSpec *buffer = findBuffer(spec, name);
    if (!buffer || buffer->kind != BufferKind::Input)
      return Status::error(Code::NotFound, "the module has no input '%s'",
                           name.c_str());
    Array &array = arrays[name];
    GIST_TRY(readNpy(path, array));
    if (array.type != buffer->type)
      return Status::error(Code::BadArgument,
                           "%s: the array is %s, but input '%s' is %s",
                           path.c_str(), toString(array.type), name.c_str(),
                           toString(buffer->type));
  }
  return {};
}

/// Makes the tokens of a text an input.
static Status readTokens(const Options &options, const Runner &runner,
                         std::map<std::string, Array> &arrays) {
  std::string text;
  GIST_TRY(readText(options.text, text));
  std::vector<int32_t> tokens;
  runner.tokenizer.encode(text, tokens);
  // Zero means all.
  if (options.maxTokens > 0 &&
      tokens.size() > static_cast<size_t>(options.maxTokens))
    tokens.resize(static_cast<size_t>(options.maxTokens));
  const auto *bytes = reinterpret_cast<const uint8_t *>(tokens.data());
  arrays[kTensorTokens] = {
      .type = ElementType::I32,
      .shape = {static_cast<int64_t>(tokens.size())},
      .bytes = {bytes, bytes + tokens.size() * sizeof(int32_t)}};
  return {};
}

/// Enough runs in a row that starting them and waiting does not count.
static constexpr unsigned kBatch = 50;

/// Prints how long the entry takes, if that was asked for.
static Status printTimes(const Options &options, Session &session) {
  if (options.repeat == 0)
    return {};
  std::vector<double> times;
  GIST_TRY(session.measure(options.entry, options.repeat, kBatch, times));
  std::sort(times.begin(), times.end());
  std::printf("median %.2f us, fastest %.2f us, slowest %.2f us, %u times %u "
              "runs\n",
              times[times.size() / 2], times.front(), times.back(),
              options.repeat, kBatch);
  return {};
}

/// Prints the paths of what it wrote, one on a line, for scripts.
static Status runCall(const Options &options) {
  // Found now, not after all the work.
  GIST_TRY(checkWritable(options.folder + "/output.npy"));
  Runner runner;
  GIST_TRY(options.text.empty() ? runner.open(options.model)
                                : runner.openWithTokenizer(options.model));
  const ModuleSpec &spec = runner.module->spec();
  std::map<std::string, int64_t> symbols;
  std::map<std::string, Array> arrays;
  GIST_TRY(readSymbols(options, symbols));
  GIST_TRY(readInputs(options, spec, arrays));
  if (!options.text.empty())
    GIST_TRY(readTokens(options, runner, arrays));
  // The number of tokens is what their array says.
  if (auto tokens = arrays.find(kTensorTokens);
      tokens != arrays.end() && tokens->second.shape.size() == 1)
    // What the user gave with -s stays.
    symbols.try_emplace(kSymbolTokens, tokens->second.shape[0]);

  std::map<std::string, Bytes> inputs;
  for (const auto &[name, array] : arrays)
    inputs[name] = {array.bytes.data(), array.bytes.size()};
  std::map<std::string, std::vector<uint8_t>> outputs;
  GIST_TRY(runner.session->call(options.entry, symbols, inputs, outputs));

  // Shapes of outputs are expressions of the symbols, evaluated again here:
  // outputs are bytes only.
  SymbolValues values(spec);
  for (const auto &[name, value] : symbols)
    GIST_TRY(values.set(runner.module->findSymbol(name), value));
  for (auto &[name, bytes] : outputs) {
    const BufferSpec *buffer = findBuffer(spec, name);
    Array array{.type = buffer->type, .bytes = std::move(bytes)};
    for (ExprId dim : buffer->shape)
      GIST_TRY(values.get(dim, array.shape.emplace_back()));
    // A buffer that does not say its shape is a row of elements.
    if (array.shape.empty())
      array.shape.push_back(
          static_cast<int64_t>(array.bytes.size() / elementSize(array.type)));
    std::string path = options.folder + "/" + name + ".npy";
    GIST_TRY(writeNpy(path, array));
    std::printf("%s\n", path.c_str());
  }
  GIST_TRY(printTimes(options, *runner.session));
  return runner.finish();
}

void run::addCall(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "call", "Run one entry of a module on arrays from .npy files");
  addModelOptions(*command, options->model);
  command
      ->add_option("entry", options->entry,
                   "Entry to run; 'gist-run info' lists them")
      ->required()
      ->type_name("ENTRY");
  command
      ->add_option("-i,--input", options->inputs,
                   "Input from a .npy file; may be given several times")
      ->type_name("NAME=FILE")
      ->expected(1)
      ->take_all();
  addSetting(*command, "-f,--text", options->text, "FILE",
             "Text whose tokens are the input 'tokens'");
  command
      ->add_option("--max-tokens", options->maxTokens,
                   "Use the first N tokens of the text; 0: all")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("-s,--symbol", options->symbols,
                   "Value of a symbol; T is the length of 'tokens' where that "
                   "is an input")
      ->type_name("NAME=N")
      ->expected(1)
      ->take_all();
  addSetting(*command, "-o,--output", options->folder, "FOLDER",
             "Folder for the outputs, NAME.npy; their paths are printed");
  command
      ->add_option("--repeat", options->repeat,
                   "Afterwards run it again on the same inputs, N times " +
                       std::to_string(kBatch) +
                       " runs in a row, and print how long a run takes")
      ->type_name("N");
  command->footer("Example: gist-run call smollm2.gist score -i "
                  "tokens=tokens.npy -o out");
  command->callback(
      [options, &action] { action = [options] { return runCall(*options); }; });
}
