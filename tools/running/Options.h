//===- Options.h - Options that several commands share ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_RUNNING_OPTIONS_H
#define GIST_TOOLS_RUNNING_OPTIONS_H

#include "runtime/session/Generator.h"
#include "runtime/session/Profile.h"
#include "runtime/session/Session.h"
#include "runtime/text/Tokenizer.h"
#include "tools/running/Ranks.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// Its header is large, and few files ask it for options.
namespace CLI {
class App;
} // namespace CLI

namespace gist::run {

/// Where GPU drivers are; empty: under their usual names.
struct DriverOptions {
  std::string hipLibrary, cudaLibrary;

  /// What to open a device of this kind with.
  DeviceOptions forKind(const std::string &kind) const;
};

/// Adds --hip-library and --cuda-library.
void addDriverOptions(CLI::App &command, DriverOptions &options);

/// Which model, where, and how much of it.
struct ModelOptions {
  std::string path;
  std::string device = "cpu";
  int deviceIndex = 0;
  DriverOptions drivers;
  unsigned threads = 0;
  int64_t context = 0, chunk = 0;
  std::string adapter; ///< its name; empty: none
  std::string trace;
  bool profile = false;
  bool verify = false;
  bool writes = false; ///< the module must write text
  /// What commands ask of a session: SessionOptions.
  bool statistics = false;
  bool trust = false;
  std::function<void(const Session &session, int64_t before, int64_t tokens)>
      afterCall = {};
};

/// Adds --trust, for code that is not known here (runtime/module/Trust.h).
void addTrustOption(CLI::App &command, bool &trust);

/// Adds MODULE and the options above.
void addModelOptions(CLI::App &command, ModelOptions &options);

/// Opens the device that the options name.
Status openDevice(const ModelOptions &options, std::unique_ptr<Device> &result);

/// Adds the options of sampling; `options` holds the defaults.
void addSamplerOptions(CLI::App &command, SamplerOptions &options);
/// Draws a seed where none was given and one matters, and prints it. Refuses
/// options that are out of range, so call it when nothing else can be wrong.
Status chooseSeed(const CLI::App &command, SamplerOptions &options);

/// Adds --schema and --grammar, which say what may be written. They read the
/// file at once, so that a mistake in it is found before anything else.
void addGrammarOptions(CLI::App &command, GenerateOptions &options);

/// Writes the trace and prints the profile where that was asked for.
Status finishProfile(const ModelOptions &options, Device &device,
                     const Profile &profile);

/// A model ready to run.
class Runner {
public:
  Status open(const ModelOptions &options);
  /// The same, for commands that read or write text.
  Status openWithTokenizer(const ModelOptions &options);

  /// finishProfile.
  Status finish() const;

  /// The module's file.
  const std::string &path() const { return options.path; }
  /// CPU threads to use, as chosen; 0: one on each core.
  unsigned threads() const { return options.threads; }

  std::shared_ptr<const Module> module;
  RankLease lease; ///< of the other ranks, where there are any
  std::unique_ptr<Device> device;
  Profile profile;
  std::unique_ptr<Session> session;
  Tokenizer tokenizer;
  double loadSeconds = 0;

private:
  ModelOptions options;
};

/// The content of a file, or of standard input for "-".
Status readText(const std::string &path, std::string &text);

/// Bytes of weights that products read to decode one token, every gate open;
/// tables that are only looked up do not count. 0: the module does not decode.
uint64_t weightBytesOfToken(const Module &module);

/// Floating-point operations of products for one token, every gate open.
/// Attention is not among them: its work grows with the tokens before.
Status productFlopsOfToken(const Module &module, double &flops);

/// Largest resident memory of this process so far, in bytes.
uint64_t peakMemory();

/// "97.3 MiB".
std::string sizeText(uint64_t bytes);

} // namespace gist::run

#endif // GIST_TOOLS_RUNNING_OPTIONS_H
