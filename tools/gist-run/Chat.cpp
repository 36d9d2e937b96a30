//===- Chat.cpp - gist-run chat -------------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-run chat`: a conversation on the terminal. Answers go to standard
// output and everything else to standard error, so that a pipe gets the answers
// alone.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"
#include "tools/running/Interrupt.h"
#include "tools/running/Options.h"
#include "tools/running/Report.h"

#include "runtime/session/Conversation.h"

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

/// A conversation on the terminal.
class Chat {
public:
  Chat(Runner &runner, const Options &options)
      : runner(runner), options(options), conversation(*runner.session) {
    restart();
  }

  /// The system message stays. `conversation` forgets what the session has seen
  /// beyond the messages.
  void restart() {
    messages.clear();
    if (!options.system.empty())
      messages.push_back({"system", options.system});
  }

  /// Answers one message, on standard output.
  Status answer(const std::string &question);

private:
  Runner &runner;
  const Options &options;
  Conversation conversation;
  std::vector<ChatMessage> messages;
};
} // namespace

Status Chat::answer(const std::string &question) {
  messages.push_back({"user", question});
  // Control-C ends the answer, not the program. A second one ends that.
  InterruptScope interrupt;
  GenerateResult result;
  Status output;
  Status status = conversation.answer(
      runner.tokenizer, messages, options.generate,
      [&](int32_t, std::string_view piece) {
        output = printText(piece);
        return output.ok() && !interrupt.requested();
      },
      result);
  // The question is taken back, so that the conversation stays one of questions
  // and answers.
  if (!status.ok()) {
    messages.pop_back();
    return status;
  }
  GIST_TRY(std::move(output));
  GIST_TRY(printText("\n"));
  if (result.reason == FinishReason::ContextFull)
    std::fprintf(stderr,
                 "gist-run: note: the context of %lld tokens is full; "
                 "/new starts a new conversation\n",
                 static_cast<long long>(runner.session->capacity()));
  if (options.stats)
    printStatistics(runner, result);
  messages.push_back({"assistant", result.text});
  return {};
}

static Status runChat(const Options &options) {
  Runner runner;
  GIST_TRY(runner.openWithTokenizer(options.model));
  Chat chat(runner, options);
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
      chat.restart();
      continue;
    }
    Status status = chat.answer(line);
    if (status.ok())
      continue;
    // A person can go on after an error, but not without seeing the answers; a
    // script should notice it.
    if (!interactive || status.code == Code::Io)
      return status;
    std::fprintf(stderr, "gist-run: error: %s\n", status.text.c_str());
  }
  return runner.finish();
}

void run::addChat(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  // The usual settings of chat models; `generate` is greedy unless asked.
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
