//===- Generate.cpp - gist-run generate -----------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-run generate`: one continuation, token by token on standard output.
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/Commands.h"
#include "tools/running/Drafts.h"
#include "tools/running/Interrupt.h"
#include "tools/running/Options.h"
#include "tools/running/Report.h"

#include "runtime/text/ChatPrompt.h"

#include <memory>

using namespace gist;
using namespace gist::run;

namespace {
struct Options {
  ModelOptions model;
  GenerateOptions generate;
  std::string prompt, file, system;
  DraftOptions draft;
  bool asChat = false, stats = false, tokens = false;
};
} // namespace

/// The prompt's tokens: the text itself, or a conversation of one question.
static Status encodePrompt(const Options &options, const Runner &runner,
                           std::vector<int32_t> &tokens) {
  std::string text = options.prompt;
  if (!options.file.empty())
    GIST_TRY(readText(options.file, text));
  if (!options.asChat) {
    runner.tokenizer.encode(text, tokens);
    // A model without BOS has nothing to continue then.
    if (tokens.empty())
      return Status::error(Code::BadArgument, "the prompt is empty");
    return {};
  }
  std::vector<ChatMessage> messages;
  if (!options.system.empty())
    messages.push_back({"system", options.system});
  messages.push_back({"user", text});
  return encodeChat(runner.tokenizer, messages, tokens);
}

/// Text appears as it is made. The notes about how it ended go to standard
/// error.
static Status runGenerate(const CLI::App &command, Options &options) {
  Runner runner;
  options.model.writes = true;
  GIST_TRY(runner.openWithTokenizer(options.model));
  std::vector<int32_t> prompt;
  GIST_TRY(encodePrompt(options, runner, prompt));
  GIST_TRY(chooseSeed(command, options.generate.sampler));
  GenerateOptions generate = options.generate;
  GIST_TRY(chooseDrafter(options.draft, runner, options.model.trust, generate));

  InterruptScope interrupt;
  GenerateResult result;
  // The callback can only stop the generation. Why it did is kept here.
  Status output;
  GIST_TRY(generateTokens(
      *runner.session, runner.tokenizer, prompt, generate,
      [&](int32_t token, std::string_view piece) {
        if (!options.tokens)
          output = printText(piece);
        // The last piece may come without a token: bytes that were held back.
        else if (token >= 0)
          output = printText(std::to_string(token) + "\n");
        return output.ok() && !interrupt.requested();
      },
      result));
  GIST_TRY(std::move(output));
  if (!options.tokens)
    GIST_TRY(printText("\n"));
  if (result.reason == FinishReason::ContextFull)
    std::fprintf(stderr,
                 "gist-run: note: stopped because the context of %lld tokens "
                 "is full; --context takes more where the module allows it\n",
                 static_cast<long long>(runner.session->capacity()));
  if (options.stats)
    printStatistics(runner, result);
  return runner.finish();
}

void run::addGenerate(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  // A model that does not end would fill the context.
  options->generate.maxTokens = 128;
  CLI::App *command = app.add_subcommand(
      "generate", "Continue a text, or answer one question (--chat)");
  addModelOptions(*command, options->model);
  auto *prompt = command->add_option("-p,--prompt", options->prompt,
                                     "The text to continue");
  auto *file = addSetting(*command, "-f,--file", options->file, "FILE",
                          "Read the text from FILE; - for standard input")
                   ->excludes(prompt);
  addSetting(*command, "-n,--max-tokens,--n-predict",
             options->generate.maxTokens, "N",
             "Stop after N tokens; 0: when the model ends or the context "
             "is full");
  addSamplerOptions(*command, options->generate.sampler);
  addGrammarOptions(*command, options->generate);
  command
      ->add_option("--stop", options->generate.stops,
                   "Stop before this text; may be given several times")
      ->type_name("TEXT")
      ->expected(1)
      ->take_all();
  command
      ->add_option("--stop-token", options->generate.stopTokens,
                   "Stop at the token with this number; may be given several "
                   "times")
      ->type_name("TOKEN")
      ->expected(1)
      ->take_all();
  addDraftOptions(*command, options->draft);
  command->add_flag("--chat", options->asChat,
                    "Put the prompt into the model's chat template");
  addSetting(*command, "--system", options->system, "TEXT",
             "System message for the chat template");
  command->add_flag("--ignore-end", options->generate.ignoreEnd,
                    "Go on when the model ends its text");
  command->add_flag("--show-special", options->generate.showSpecial,
                    "Print special tokens");
  command->add_flag("--print-tokens", options->tokens,
                    "Print token ids, one per line, instead of text");
  command->add_flag("--stats", options->stats,
                    "Print speed and memory to standard error");
  command->footer("Example: gist-run generate smollm2.gist --chat -p 'Why is "
                  "the sky blue?' --stats");
  command->callback([options, command, prompt, file, &action] {
    if (prompt->count() + file->count() == 0)
      throw CLI::RequiredError("--prompt or --file");
    action = [options, command] { return runGenerate(*command, *options); };
  });
}
