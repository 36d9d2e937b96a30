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
#include "tools/gist-run/LineReader.h"
#include "tools/running/Drafts.h"
#include "tools/running/Interrupt.h"
#include "tools/running/Options.h"
#include "tools/running/Report.h"

#include "runtime/session/Conversation.h"
#include "runtime/support/AtomicFile.h"
#include "runtime/support/Json.h"

#include "nlohmann/json.hpp"

#include <memory>

using namespace gist;
using namespace gist::run;

namespace {
struct Options {
  ModelOptions model;
  GenerateOptions generate;
  std::string system;
  DraftOptions draft;
  bool stats = false;
};

/// A conversation on the terminal.
class Chat {
public:
  Chat(Runner &runner, const Options &options, GenerateOptions chosen)
      : runner(runner), options(options), generate(std::move(chosen)),
        conversation(*runner.session) {
    if (generate.grammar)
      generate.trie = std::make_shared<const TokenTrie>(runner.tokenizer);
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

  /// Does what a line that begins with a slash says.
  Status command(const std::string &line);

private:
  Status save(const std::string &path) const;
  Status load(const std::string &path);

  Runner &runner;
  const Options &options;
  GenerateOptions generate;
  Conversation conversation;
  std::vector<ChatMessage> messages;
};
} // namespace

/// On an error the conversation is as it was before the question.
Status Chat::answer(const std::string &question) {
  messages.push_back({"user", question});
  // Control-C ends the answer, not the program. A second one ends that.
  InterruptScope interrupt;
  GenerateResult result;
  Status output;
  Status status = conversation.answer(
      runner.tokenizer, messages, generate,
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
  // Also an answer that was cut short: the session has seen it.
  messages.push_back({"assistant", result.text});
  return {};
}

/// The conversation as a JSON list of messages.
Status Chat::save(const std::string &path) const {
  nlohmann::json list = nlohmann::json::array();
  for (const ChatMessage &message : messages)
    list.push_back({{"role", message.role}, {"content", message.content}});
  return writeWhole(
      path, list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                "\n");
}

Status Chat::load(const std::string &path) {
  std::string text;
  GIST_TRY(readText(path, text));
  nlohmann::json list;
  GIST_TRY(parseJson(text, list).in(path));
  std::vector<ChatMessage> loaded;
  bool isValid = list.is_array();
  for (size_t i = 0; isValid && i < list.size(); ++i) {
    const nlohmann::json &item = list[i];
    isValid = item.is_object() && item.contains("role") &&
              item.contains("content") && item["role"].is_string() &&
              item["content"].is_string();
    if (isValid)
      loaded.push_back({item["role"], item["content"]});
  }
  if (!isValid)
    return Status::error(Code::BadFile,
                         "%s: the file is not a list of messages with 'role' "
                         "and 'content'",
                         path.c_str());
  messages = std::move(loaded);
  return {};
}

Status Chat::command(const std::string &line) {
  size_t space = line.find(' ');
  std::string name = line.substr(0, space);
  std::string argument =
      space == std::string::npos ? "" : line.substr(space + 1);
  if (name == "/new") {
    restart();
    return {};
  }
  if (name == "/undo") {
    // The last question and its answer.
    for (const char *role : {"assistant", "user"})
      if (!messages.empty() && messages.back().role == role)
        messages.pop_back();
    return {};
  }
  if ((name == "/save" || name == "/load") && !argument.empty())
    return name == "/save" ? save(argument) : load(argument);
  bool isHelp = name == "/help";
  if (!isHelp)
    std::fprintf(stderr,
                 "gist-run: note: '%s' is not a command; commands are\n",
                 line.c_str());
  std::fputs("/new         start a new conversation\n"
             "/undo        forget the last question and its answer\n"
             "/save FILE   write the conversation to FILE\n"
             "/load FILE   go on with the conversation in FILE\n"
             "/quit        end\n",
             stderr);
  return {};
}

/// A line is a message, or a command that begins with a slash. Without a
/// terminal the first error ends the program.
static Status runChat(const CLI::App &command, Options &options) {
  Runner runner;
  options.model.writes = true;
  GIST_TRY(runner.openWithTokenizer(options.model));
  GIST_TRY(chooseSeed(command, options.generate.sampler));
  GenerateOptions generate = options.generate;
  GIST_TRY(chooseDrafter(options.draft, runner, options.model.trust, generate));
  Chat chat(runner, options, std::move(generate));
  LineReader lines;
  if (lines.isInteractive())
    std::fputs("Type a message; /help lists commands, Control-D ends, "
               "Control-C stops an answer.\n",
               stderr);
  std::string line;
  while (lines.read(line) && line != "/quit") {
    if (line.empty())
      continue;
    Status status = line[0] == '/' ? chat.command(line) : chat.answer(line);
    if (status.ok())
      continue;
    // A person can go on after an error, but not without seeing the answers; a
    // script should notice it.
    if (!lines.isInteractive() || std::ferror(stdout) != 0)
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
  addSetting(*command, "-n,--max-tokens,--n-predict",
             options->generate.maxTokens, "N",
             "Longest answer; 0: until the context is full");
  addSamplerOptions(*command, options->generate.sampler);
  addGrammarOptions(*command, options->generate);
  addDraftOptions(*command, options->draft);
  addSetting(*command, "--system", options->system, "TEXT", "System message");
  command->add_flag("--stats", options->stats,
                    "Print speed and memory after every answer");
  command->footer("Lines from a pipe work too: printf 'Hello\\n' | gist-run "
                  "chat smollm2.gist");
  command->callback([options, command, &action] {
    action = [options, command] { return runChat(*command, *options); };
  });
}
