//===- gist-serve.cpp - Serves models over HTTP ---------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-serve`: models that many clients use at once, with the OpenAI API.
//
//===----------------------------------------------------------------------===//

#include "tools/running/CommandLine.h"
#include "tools/running/Drafts.h"
#include "tools/running/ModuleCache.h"
#include "tools/running/Options.h"
#include "tools/serving/Api.h"

#include <csignal>
#include <ctime>
#include <memory>
#include <set>
#include <thread>

using namespace gist;
using namespace gist::serve;

#ifndef GIST_VERSION
#define GIST_VERSION "unknown"
#endif

namespace {
struct Options {
  std::vector<std::string> models;
  run::ModelOptions device; ///< where to run, and with how many threads
  ModelSettings settings;
  std::string host = "127.0.0.1";
  int port = 8080;
  size_t connections = 512;
  std::string key, keyFile;
  Engine::Limits engine;
  int readSeconds = 30, writeSeconds = 30, idleSeconds = 60;
  int requestSeconds = 600, drainSeconds = 30;
  size_t bodyMiB = 16;
  uint64_t memoryMiB = 0;
  bool log = false;
};

/// Signals that end the server. They are blocked in all threads, and taken
/// where they are waited for: no handler has to do anything.
class EndSignals {
public:
  EndSignals() {
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTERM);
    ::sigaddset(&set, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  }
  /// Whether one comes within so many milliseconds, of less than a second.
  bool comesWithin(long time) const {
    timespec moment = {0, time * 1'000'000}; // in nanoseconds
    return ::sigtimedwait(&set, nullptr, &moment) > 0;
  }

private:
  sigset_t set;
};
} // namespace

/// Keys from everywhere that keys may come from.
static Status readKeys(const Options &options, Keys &keys) {
  if (!options.key.empty())
    GIST_TRY(keys.add(options.key));
  if (const char *text = std::getenv("GIST_API_KEY"))
    GIST_TRY(keys.add(text).in("GIST_API_KEY"));
  if (options.keyFile.empty())
    return {};
  std::string text;
  GIST_TRY(run::readText(options.keyFile, text));
  return keys.addLines(text).in(options.keyFile);
}

static Status openModels(const std::vector<std::string> &files,
                         const ModelSettings &settings, Device &device,
                         std::vector<std::unique_ptr<Model>> &models) {
  std::set<std::string> names;
  for (const std::string &text : files) {
    ModelFile file;
    GIST_TRY(ModelFile::parse(text, file));
    if (!names.insert(file.name).second)
      return Status::error(Code::BadArgument,
                           "two models are called '%s'; NAME=MODULE gives one "
                           "another name",
                           file.name.c_str());
    std::string note;
    GIST_TRY(openModel(file, settings, device, models.emplace_back(), note));
    if (!note.empty())
      std::fprintf(stderr, "gist-serve: note: %s: %s\n", file.name.c_str(),
                   note.c_str());
  }
  return {};
}

/// Lets what has begun end, for some time, and refuses what is new.
static void drain(Engine &engine, HttpServer &server, const EndSignals &signals,
                  int seconds) {
  std::fprintf(stderr,
               "gist-serve: stopping; what has begun may take %d s more\n",
               seconds);
  engine.drain();
  server.closeAfterAnswers();
  auto until = Clock::now() + std::chrono::seconds(seconds);
  // Idle connections stay open until the end, and are told then.
  while (!(engine.isIdle() && server.requests() == 0) && Clock::now() < until)
    if (signals.comesWithin(20))
      break; // A second signal ends the wait.
  if (!engine.isIdle())
    std::fprintf(stderr, "gist-serve: note: answers were cut short\n");
  engine.stopAll();
  server.stop(std::chrono::seconds(2));
}

/// Has the other ranks, where there are any, open the model that they share.
/// Changes the device and threads in `device` to those of this rank.
static Status takeRanks(const Options &options, run::ModelOptions &device,
                        run::RankLease &lease) {
  for (const std::string &text : options.models) {
    ModelFile file;
    GIST_TRY(ModelFile::parse(text, file));
    std::shared_ptr<const Module> module;
    GIST_TRY(Module::open(file.path, module));
    run::RankedModel ranked;
    ranked.path = file.path;
    ranked.device = device.device;
    ranked.library = device.drivers.forKind(device.device).library;
    ranked.deviceIndex = device.deviceIndex;
    ranked.threads = device.threads;
    ranked.context = options.settings.pool.context;
    ranked.trust = options.settings.pool.trust;
    GIST_TRY(lease.take(*module, ranked).in(file.path));
    device.threads = ranked.threads;
    device.deviceIndex = ranked.deviceIndex;
  }
  return {};
}

/// Returns when a signal has come. An error: a rank is missing.
static Status waitForEnd(const EndSignals &signals,
                         const run::RankLease &lease) {
  while (!signals.comesWithin(200))
    GIST_TRY(lease.check());
  // When a rank ends mpirun sends signals to the others, and may be faster than
  // the news of it.
  for (int tries = 0; lease.ranks() && tries < 10; ++tries) {
    GIST_TRY(lease.check());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

/// Has models compiled that are not modules yet; they keep their names.
static Status compileModels(Options &options) {
  for (std::string &text : options.models) {
    ModelFile file;
    GIST_TRY(ModelFile::parse(text, file));
    GIST_TRY(run::compileOnce(options.device.device, file.path));
    text = file.name + "=" + file.path;
  }
  return {};
}

static Status runServer(Options &options) {
  EndSignals signals; // First: threads that start later block them too.
  ApiOptions api;
  api.log = options.log;
  GIST_TRY(readKeys(options, api.keys));
  ConnectionLimits limits;
  limits.read = std::chrono::seconds(options.readSeconds);
  limits.write = std::chrono::seconds(options.writeSeconds);
  limits.idle = std::chrono::seconds(options.idleSeconds);
  limits.request = std::chrono::seconds(options.requestSeconds);
  limits.bodyBytes = options.bodyMiB << 20;

  // The port first: a model may take long to open, for nothing.
  HttpServer server(limits, options.connections);
  GIST_TRY(server.bind(options.host, options.port));
  GIST_TRY(compileModels(options));
  run::ModelOptions where = options.device;
  ModelSettings settings = options.settings;
  run::RankLease lease; // Outlives the models.
  GIST_TRY(takeRanks(options, where, lease));
  settings.ranks = lease.ranks();
  std::unique_ptr<Device> device;
  GIST_TRY(run::openDevice(where, device));
  std::vector<std::unique_ptr<Model>> models;
  GIST_TRY(openModels(options.models, settings, *device, models));

  Metrics metrics;
  Engine engine(std::move(models), options.engine, metrics);
  Api routes(engine, metrics, server, api);
  server.start();
  bool isSix = options.host.find(':') != std::string::npos;
  std::fprintf(stderr, "gist-serve: listening on http://%s%s%s:%d\n",
               isSix ? "[" : "", options.host.c_str(), isSix ? "]" : "",
               server.port());
  if (Status missing = waitForEnd(signals, lease); !missing.ok()) {
    engine.stopAll();
    server.stop(std::chrono::seconds(1));
    return missing;
  }
  drain(engine, server, signals, options.drainSeconds);
  return {};
}

static void addModelOptions(CLI::App &app, Options &options) {
  app.add_option("models", options.models,
                 "Modules to serve, or models, which are compiled once and "
                 "kept; under the names of their files or as NAME=FILE; the "
                 "first is the default")
      ->required()
      ->type_name("MODEL");
  addSetting(app, "--device", options.device.device, "NAME",
             "Where to run: cpu, hip (AMD) or cuda (NVIDIA)");
  addSetting(app, "--device-index", options.device.deviceIndex, "N",
             "Which of several GPUs");
  run::addDriverOptions(app, options.device.drivers);
  addSetting(app, "-t,--threads", options.device.threads, "N",
             "CPU threads; 0: one on each core that this process may use");
  addSetting(app, "-c,--context,--ctx-size", options.settings.pool.context, "N",
             "Tokens of a prompt and its answer at most; 0: the module's "
             "default");
  addSetting(app, "--sequences", options.settings.pool.sequences, "N",
             "Sequences of a model that run at once at most")
      ->check(CLI::Range(1, 4096));
  addSetting(app, "--memory", options.memoryMiB, "MIB",
             "MiB for the state of a model's sequences; 0: what "
             "--sequences of --context need, where that is there");
  addSetting(app, "--chunk", options.settings.pool.chunk, "N",
             "Prompt tokens in a step at most, for which others wait; 0: "
             "the module's choice");
  app.add_flag(
      "--fast-alone", options.settings.pool.fastAlone,
      "On GPUs, run a sequence that is alone by the faster kernels of "
      "one token; they round differently, so that a text may depend on "
      "which other requests were served meanwhile");
  addSetting(
      app, "--draft", options.settings.draft, "lookup|MODULE",
      (std::string("Guess tokens, so that the same text comes faster (of "
                   "every sequence, or by a module of one that is "
                   "alone): ") +
       run::kDraftForms)
          .c_str());
  addSetting(app, "--draft-tokens", options.settings.pool.draftTokens, "N",
             "Tokens that are guessed each time, at most 15; 0: as many as "
             "are worth it");
  run::addTrustOption(app, options.settings.pool.trust);
  app.add_flag("--verify", options.settings.verify,
               "Compare the hash of every weight before serving");
}

static void addServerOptions(CLI::App &app, Options &options) {
  auto seconds = [&](const char *name, int &value, const char *help) {
    addSetting(app, name, value, "SECONDS", help)->check(CLI::Range(1, 86400));
  };
  addSetting(app, "--host", options.host, "ADDRESS",
             "Address to listen on; 0.0.0.0 is every one that this machine "
             "has");
  addSetting(app, "--port", options.port, "N", "Port; 0: any that is free")
      ->check(CLI::Range(0, 65535));
  addSetting(app, "--api-key", options.key, "KEY",
             "Answer only requests with this key. Other users of this "
             "machine can read command lines: --api-key-file and the "
             "variable GIST_API_KEY are for keys that matter");
  addSetting(app, "--api-key-file", options.keyFile, "FILE",
             "Answer only requests with a key of this file: one a line");
  addSetting(app, "--queue", options.engine.waiting, "N",
             "Requests that wait for their turn at most; more get 429")
      ->check(CLI::Range(1, 65536));
  addSetting(app, "--connections", options.connections, "N",
             "Connections at once at most; each is a thread")
      ->check(CLI::Range(1, 900));
  addSetting(app, "--body-limit", options.bodyMiB, "MIB", "Largest body in MiB")
      ->check(CLI::Range(1, 1024));
  seconds("--read-timeout", options.readSeconds,
          "A request must come whole within this");
  seconds("--write-timeout", options.writeSeconds,
          "A client that takes nothing for so long is gone");
  seconds("--idle-timeout", options.idleSeconds,
          "A connection without a request is closed after this");
  seconds("--request-timeout", options.requestSeconds,
          "An answer must be complete within this");
  seconds("--drain-timeout", options.drainSeconds,
          "After SIGTERM, what has begun may take so long");
  app.add_flag("--log", options.log,
               "Print a line for every answer to standard error");
}

static void describe(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  app.require_subcommand(0);
  app.description("Serves models that gist-compile made over HTTP, with the "
                  "OpenAI API.\n");
  app.footer(
      "Example: gist-serve smollm2.gist minilm=all-minilm.gist --port 8080\n"
      "A page to chat on is at '/', the API's description at "
      "'/openapi.json'.\n"
      "SIGTERM and Control-C let what has begun end; a second one does not.\n"
      "Exit status: 0 done, 1 failed, 2 wrong usage.");
  app.set_version_flag("--version", "gist-serve " GIST_VERSION);
  addModelOptions(app, *options);
  addServerOptions(app, *options);
  app.callback([options, &action] {
    options->settings.pool.memory = options->memoryMiB << 20;
    action = [options] { return runServer(*options); };
  });
}

int main(int argc, char **argv) {
  return runCommandLine("gist-serve", argc, argv, describe);
}
