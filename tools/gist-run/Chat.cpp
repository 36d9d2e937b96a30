//===- Chat.cpp - gist-run chat -------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"
#include "tools/running/Interrupt.h"
#include "tools/running/Options.h"
#include "tools/running/Report.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <unistd.h>

using namespace gist;
using namespace gist::run;

namespace {
struct Options {
  ModelOptions model;
  GenerateOptions generate;
  std::string system;
  bool stats = false;
};

/// A conversation and what of it the session has already seen.
class Conversation {
public:
  Conversation(Runner &runner, const Options &options)
      : runner(runner), options(options) {
    restart();
  }

  void restart() {
    messages.clear();
    if (!options.system.empty())
      messages.push_back({"system", options.system});
  }

  /// Answers one message, on standard output.
  Status answer(const std::string &question);

private:
  /// Brings the session to a prefix of `tokens`, the longest it can.
  Status keepCommonPrefix(const std::vector<int32_t> &tokens);

  Runner &runner;
  const Options &options;
  std::vector<ChatMessage> messages;
  std::vector<int32_t> seen; ///< tokens in the session
};
} // namespace

Status Conversation::keepCommonPrefix(const std::vector<int32_t> &tokens) {
  // The last token is always fed again: its logits are what is wanted.
  size_t limit = std::min(seen.size(), tokens.size() - 1);
  size_t same = 0;
  while (same < limit && seen[same] == tokens[same])
    ++same;
  Status status = runner.session->rewind(static_cast<int64_t>(same));
  if (status.code == Code::Unsupported) {
    same = 0;
    status = runner.session->reset();
  }
  seen.resize(same);
  return status;
}

Status Conversation::answer(const std::string &question) {
  messages.push_back({"user", question});
  std::vector<int32_t> tokens;
  GIST_TRY(encodeChat(runner.tokenizer, messages, tokens));
  if (tokens.empty())
    return Status::error(Code::BadArgument, "the chat template wrote nothing");
  GIST_TRY(keepCommonPrefix(tokens));
  std::span<const int32_t> fresh = std::span(tokens).subspan(seen.size());

  InterruptScope interrupt;
  GenerateResult result;
  Status status = generate(
      *runner.session, runner.tokenizer, fresh, options.generate,
      [&](std::string_view piece) {
        std::fwrite(piece.data(), 1, piece.size(), stdout);
        std::fflush(stdout);
        return !interrupt.requested();
      },
      result);
  if (!status.ok()) {
    messages.pop_back();
    return status;
  }
  std::printf("\n");
  std::fflush(stdout);
  if (result.reason == FinishReason::ContextFull)
    std::fprintf(stderr,
                 "gist-run: note: the context of %lld tokens is full; "
                 "/new starts a new conversation\n",
                 static_cast<long long>(runner.session->capacity()));
  if (options.stats)
    printStatistics(runner, fresh.size(), result);
  messages.push_back({"assistant", result.text});
  seen = std::move(tokens);
  seen.insert(seen.end(), result.tokens.begin(), result.tokens.end());
  seen.resize(static_cast<size_t>(runner.session->position()));
  return {};
}

static Status runChat(const Options &options) {
  Runner runner;
  GIST_TRY(runner.openWithTokenizer(options.model));
  Conversation conversation(runner, options);
  bool interactive = ::isatty(STDIN_FILENO) != 0;
  if (interactive)
    std::fputs("Type a message; /new starts over, /quit or Control-D ends, "
               "Control-C stops an answer.\n",
               stderr);
  std::string line;
  while (true) {
    if (interactive)
      std::fputs("> ", stderr);
    if (!std::getline(std::cin, line) || line == "/quit")
      break;
    if (line.empty())
      continue;
    if (line == "/new") {
      conversation.restart();
      continue;
    }
    Status status = conversation.answer(line);
    if (status.ok())
      continue;
    // A person can go on after an error; a script should notice it.
    if (!interactive)
      return status;
    std::fprintf(stderr, "gist-run: error: %s\n", status.text.c_str());
  }
  return runner.finish();
}

void run::addChat(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  options->generate.sampler = {
      .temperature = 0.7f, .topK = 40, .topP = 0.95f, .minP = 0, .seed = 0};
  CLI::App *command = app.add_subcommand(
      "chat", "Talk to a model, one message per line, with its own template");
  addModelOptions(*command, options->model);
  command
      ->add_option("-n,--max-tokens", options->generate.maxTokens,
                   "Longest answer; 0: until the context is full")
      ->type_name("N")
      ->capture_default_str();
  addSamplerOptions(*command, options->generate.sampler);
  command->add_option("--system", options->system, "System message")
      ->type_name("TEXT");
  command->add_flag("--stats", options->stats,
                    "Print speed and memory after every answer");
  command->footer("Lines from a pipe work too: printf 'Hello\\n' | gist-run "
                  "chat smollm2.gist");
  command->callback(
      [options, &action] { action = [options] { return runChat(*options); }; });
}
