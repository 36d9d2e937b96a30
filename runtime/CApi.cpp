//===- CApi.cpp - The C interface of the runtime --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nothing leaves a function here but its result: arguments are checked before
// they are used, and exceptions (memory that the system refuses) become codes.
//
//===----------------------------------------------------------------------===//

#include "runtime/gist.h"

#include "runtime/grammar/JsonSchema.h"
#include "runtime/session/Conversation.h"

#include <algorithm>
#include <new>

using namespace gist;

// C names are written as C writes them.
// NOLINTBEGIN(readability-identifier-naming)

struct gist_module {
  // Shared with the sessions, so that a caller may free the module while a
  // session still runs.
  std::shared_ptr<const Module> module;
  std::shared_ptr<const Tokenizer> tokenizer; ///< null when there is none
  bool isTrusted = false;                     ///< the caller says so
};

struct gist_session {
  // Destroyed last: the session's memory is on it.
  std::unique_ptr<Device> device;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const Module> module;
  std::unique_ptr<Session> session;
  // Null: all may be written.
  std::shared_ptr<const Grammar> grammar;
  std::shared_ptr<const TokenTrie> trie; ///< made with the first grammar
  // It refers to the session and so is destroyed before it.
  std::unique_ptr<Conversation> conversation;
  std::shared_ptr<Drafter> drafter; ///< null: none
  // What it was made with.
  std::string kind;
  DeviceOptions deviceOptions;
  SessionOptions options;
};

namespace {
/// What the last failure of a thread was.
struct LastError {
  std::string text;
  /// Set instead where there was no memory for a text.
  const char *fixed = nullptr;
};
} // namespace

static LastError &lastError() {
  static thread_local LastError error;
  return error;
}

static gist_code report(Status status) noexcept {
  static_assert(static_cast<int>(Code::BadFile) == GIST_BAD_FILE &&
                static_cast<int>(Code::Untrusted) == GIST_UNTRUSTED);
  // A success leaves the text alone, as errno does: it is about the last
  // failure.
  if (!status.ok()) {
    lastError().text.swap(status.text);
    lastError().fixed = nullptr;
  }
  return static_cast<gist_code>(status.code);
}

/// Runs the body of a function of the interface.
template <typename Body> static gist_code guarded(Body &&body) noexcept {
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    lastError().fixed = "out of memory";
    return GIST_OUT_OF_MEMORY;
  } catch (...) {
    // Nothing of ours throws anything else; a callback in C++ might.
    lastError().fixed = "an exception was thrown";
    return GIST_UNSUPPORTED;
  }
}

static Status checkPointer(const void *pointer, const char *name) {
  if (pointer)
    return {};
  return Status::error(Code::BadArgument, "'%s' is a null pointer", name);
}

/// For functions that have no code to return.
/// The caller still finds the reason in gist_last_error().
static bool isGiven(const void *pointer, const char *name) {
  return guarded([&] { return checkPointer(pointer, name); }) == GIST_OK;
}

/// `count` elements at `pointer`, which may be null for none.
static Status checkArray(const void *pointer, size_t count, size_t elementSize,
                         const char *name) {
  if (!pointer && count != 0)
    return Status::error(Code::BadArgument,
                         "'%s' is a null pointer, but its size is %zu", name,
                         count);
  // No array is larger than this: a count that is was negative.
  if (count > PTRDIFF_MAX / elementSize)
    return Status::error(Code::BadArgument,
                         "'%s' has a size of %zu, which is not possible", name,
                         count);
  return {};
}

static Status needTokenizer(const std::shared_ptr<const Tokenizer> &tokenizer) {
  if (tokenizer)
    return {};
  return Status::error(Code::NotFound, "the module has no tokenizer");
}

/// Copies results into the caller's array, or says how large it must be.
template <typename T, typename Source>
static Status copyOut(const Source &from, T *to, size_t *count) {
  // The size is said even if nothing fits: a caller may ask with room for none,
  // allocate and ask again.
  size_t room = *count;
  *count = from.size();
  if (from.size() > room)
    return Status::error(
        Code::OutOfMemory,
        "the buffer has room for %zu values, but %zu are needed", room,
        from.size());
  std::copy(from.begin(), from.end(), to);
  return {};
}

static Status checkRoom(const void *array, const size_t *count,
                        size_t elementSize, const char *name,
                        const char *countName) {
  GIST_TRY(checkPointer(count, countName));
  return checkArray(array, *count, elementSize, name);
}

static Status readMessages(const gist_message *messages, size_t count,
                           std::vector<ChatMessage> &result) {
  GIST_TRY(checkArray(messages, count, sizeof *messages, "messages"));
  if (count == 0)
    return Status::error(Code::BadArgument, "the conversation is empty");
  for (size_t i = 0; i < count; ++i) {
    if (!messages[i].role || !messages[i].content)
      return Status::error(Code::BadArgument,
                           "'%s' of message %zu is a null pointer",
                           messages[i].role ? "content" : "role", i);
    result.push_back({messages[i].role, messages[i].content});
  }
  return {};
}

static Status readOptions(const gist_generate_options *options,
                          const gist_session &session,
                          GenerateOptions &chosen) {
  chosen.drafter = session.drafter;
  chosen.grammar = session.grammar;
  chosen.trie = session.trie;
  gist_generate_options given = options ? *options : gist_generate_options{};
  chosen.maxTokens = given.max_tokens;
  chosen.sampler.temperature = given.temperature;
  chosen.sampler.topK = given.top_k;
  // A caller in C fills the struct with zeros, so 0 must mean that nothing is
  // cut off.
  chosen.sampler.topP = given.top_p == 0 ? 1.0f : given.top_p;
  chosen.sampler.minP = given.min_p;
  chosen.sampler.seed = given.seed;
  chosen.ignoreEnd = given.ignore_end != 0;
  chosen.showSpecial = given.show_special != 0;
  chosen.feedLast = true;
  if (given.repeat_penalty != 0)
    chosen.sampler.repeatPenalty = given.repeat_penalty;
  if (given.repeat_window != 0)
    chosen.sampler.repeatWindow = given.repeat_window;
  chosen.sampler.presencePenalty = given.presence_penalty;
  chosen.sampler.frequencyPenalty = given.frequency_penalty;
  chosen.sampler.minTokens = given.min_tokens;
  GIST_TRY(checkArray(given.logit_bias, given.logit_bias_count,
                      sizeof *given.logit_bias, "logit_bias"));
  for (size_t i = 0; i < given.logit_bias_count; ++i)
    chosen.sampler.biases.push_back(
        {given.logit_bias[i].token, given.logit_bias[i].bias});
  GIST_TRY(checkArray(given.stop_tokens, given.stop_token_count,
                      sizeof *given.stop_tokens, "stop_tokens"));
  chosen.stopTokens.assign(given.stop_tokens,
                           given.stop_tokens + given.stop_token_count);
  GIST_TRY(
      checkArray(given.stops, given.stop_count, sizeof *given.stops, "stops"));
  for (size_t i = 0; i < given.stop_count; ++i) {
    if (!given.stops[i])
      return Status::error(Code::BadArgument, "'stops[%zu]' is a null pointer",
                           i);
    chosen.stops.emplace_back(given.stops[i]);
  }
  return {};
}

static TokenSink makeSink(gist_token_callback callback, void *userData) {
  if (!callback)
    return nullptr;
  return [=](int32_t token, std::string_view text) {
    // The text does not end in a zero byte; its size goes with it.
    return callback(token, text.data(), text.size(), userData) == 0;
  };
}

static void writeResult(const GenerateResult &from, gist_generate_result *to) {
  static_assert(
      static_cast<int>(FinishReason::EndToken) == GIST_FINISH_END_TOKEN &&
      static_cast<int>(FinishReason::StopString) == GIST_FINISH_STOP_TEXT &&
      static_cast<int>(FinishReason::MaxTokens) == GIST_FINISH_MAX_TOKENS &&
      static_cast<int>(FinishReason::ContextFull) == GIST_FINISH_CONTEXT_FULL &&
      static_cast<int>(FinishReason::Cancelled) == GIST_FINISH_CANCELLED);
  if (to)
    *to = {static_cast<gist_finish>(from.reason), from.promptTokens,
           from.tokens.size(), from.promptNanoseconds, from.decodeNanoseconds};
}

const char *gist_version(void) { return GIST_VERSION; }

int gist_abi_version(void) { return GIST_ABI_VERSION; }

const char *gist_last_error(void) {
  const LastError &error = lastError();
  return error.fixed ? error.fixed : error.text.c_str();
}

gist_code gist_module_load(const char *path, gist_module **result) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(path, "path"));
    GIST_TRY(checkPointer(result, "result"));
    auto loaded = std::make_unique<gist_module>();
    GIST_TRY(Module::open(path, loaded->module));
    if (loaded->module->tokenizer().size != 0) {
      auto tokenizer = std::make_shared<Tokenizer>();
      GIST_TRY(loadTokenizer(*loaded->module, *tokenizer).in(path));
      loaded->tokenizer = std::move(tokenizer);
    }
    // Written last: after an error the caller's pointer is what it was.
    *result = loaded.release();
    return {};
  });
}

gist_code gist_module_trust(gist_module *module) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(module, "module"));
    module->isTrusted = true;
    return {};
  });
}

void gist_module_free(gist_module *module) { delete module; }

int64_t gist_module_vocab_size(const gist_module *module) {
  return isGiven(module, "module") ? module->module->spec().model.vocabSize
                                   : -1;
}

const char *gist_module_architecture(const gist_module *module) {
  return isGiven(module, "module")
             ? module->module->spec().model.architecture.c_str()
             : nullptr;
}

gist_code gist_tokenize(const gist_module *module, const char *text,
                        size_t text_size, int add_special, int32_t *tokens,
                        size_t *count) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(module, "module"));
    GIST_TRY(checkArray(text, text_size, 1, "text"));
    GIST_TRY(checkRoom(tokens, count, sizeof *tokens, "tokens", "count"));
    GIST_TRY(needTokenizer(module->tokenizer));
    std::vector<int32_t> ids;
    module->tokenizer->encode({text, text_size}, ids,
                              {.addSpecial = add_special != 0});
    return copyOut(ids, tokens, count);
  });
}

gist_code gist_detokenize(const gist_module *module, const int32_t *tokens,
                          size_t count, char *text, size_t *size) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(module, "module"));
    GIST_TRY(checkArray(tokens, count, sizeof *tokens, "tokens"));
    GIST_TRY(checkRoom(text, size, 1, "text", "size"));
    GIST_TRY(needTokenizer(module->tokenizer));
    return copyOut(module->tokenizer->decode({tokens, count}), text, size);
  });
}

gist_code gist_chat_tokens(const gist_module *module,
                           const gist_message *messages, size_t message_count,
                           int add_answer, int32_t *tokens, size_t *count) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(module, "module"));
    GIST_TRY(checkRoom(tokens, count, sizeof *tokens, "tokens", "count"));
    std::vector<ChatMessage> conversation;
    GIST_TRY(readMessages(messages, message_count, conversation));
    GIST_TRY(needTokenizer(module->tokenizer));
    std::vector<int32_t> ids;
    GIST_TRY(
        encodeChat(*module->tokenizer, conversation, ids, add_answer != 0));
    return copyOut(ids, tokens, count);
  });
}

/// Opens device and session, as a session that has nothing else says.
static Status openSession(std::shared_ptr<const Module> module,
                          gist_session &made) {
  made.module = std::move(module);
  GIST_TRY(openDevice(made.kind, made.deviceOptions, made.device));
  GIST_TRY(
      Session::create(made.module, *made.device, made.options, made.session));
  made.conversation = std::make_unique<Conversation>(*made.session);
  return {};
}

gist_code gist_session_create(const gist_module *module,
                              const gist_session_options *options,
                              gist_session **result) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(module, "module"));
    GIST_TRY(checkPointer(result, "result"));
    gist_session_options chosen = options ? *options : gist_session_options{};
    auto created = std::make_unique<gist_session>();
    created->tokenizer = module->tokenizer;
    created->kind = chosen.device ? chosen.device : "cpu";
    created->deviceOptions = {.threads = chosen.threads,
                              .index = chosen.device_index,
                              .library = chosen.library ? chosen.library : ""};
    created->options.context = chosen.context;
    created->options.chunk = chosen.chunk;
    created->options.trust = module->isTrusted;
    GIST_TRY(openSession(module->module, *created));
    *result = created.release();
    return {};
  });
}

gist_code gist_session_fork(gist_session *session, gist_session **result) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(session, "session"));
    GIST_TRY(checkPointer(result, "result"));
    auto created = std::make_unique<gist_session>();
    created->tokenizer = session->tokenizer;
    created->kind = session->kind;
    created->deviceOptions = session->deviceOptions;
    created->options = session->options;
    GIST_TRY(openSession(session->module, *created));
    GIST_TRY(created->conversation->takeOver(*session->conversation));
    *result = created.release();
    return {};
  });
}

gist_code gist_session_save(gist_session *session, const char *path) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(session, "session"));
    GIST_TRY(checkPointer(path, "path"));
    return session->conversation->save(path);
  });
}

gist_code gist_session_load(gist_session *session, const char *path) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(session, "session"));
    GIST_TRY(checkPointer(path, "path"));
    return session->conversation->load(path);
  });
}

void gist_session_free(gist_session *session) { delete session; }

gist_code gist_session_feed(gist_session *session, const int32_t *tokens,
                            size_t count) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(session, "session"));
    GIST_TRY(checkArray(tokens, count, sizeof *tokens, "tokens"));
    return session->conversation->feed({tokens, count});
  });
}

const float *gist_session_logits(const gist_session *session, size_t *count) {
  if (!isGiven(count, "count"))
    return nullptr;
  *count = 0;
  if (!isGiven(session, "session"))
    return nullptr;
  std::span<const float> logits = session->session->logits();
  *count = logits.size();
  return logits.data();
}

gist_code gist_session_reset(gist_session *session) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(session, "session"));
    return session->conversation->reset();
  });
}

int64_t gist_session_position(const gist_session *session) {
  return isGiven(session, "session") ? session->session->position() : -1;
}

int64_t gist_session_capacity(const gist_session *session) {
  return isGiven(session, "session") ? session->session->capacity() : -1;
}

gist_code gist_session_embed(gist_session *session, const int32_t *tokens,
                             size_t token_count, float *values, size_t *count) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(session, "session"));
    GIST_TRY(checkArray(tokens, token_count, sizeof *tokens, "tokens"));
    GIST_TRY(checkRoom(values, count, sizeof *values, "values", "count"));
    std::vector<float> embedding;
    GIST_TRY(session->session->embed({tokens, token_count}, embedding));
    return copyOut(embedding, values, count);
  });
}

/// Makes a grammar of a text for all that follows.
static Status setGrammar(gist_session *session, const char *text,
                         Status (*parse)(std::string_view, Grammar &)) {
  GIST_TRY(checkPointer(session, "session"));
  if (!text) {
    session->grammar.reset();
    return {};
  }
  GIST_TRY(needTokenizer(session->tokenizer));
  auto grammar = std::make_shared<Grammar>();
  GIST_TRY(parse(text, *grammar));
  if (!session->trie)
    session->trie = std::make_shared<const TokenTrie>(*session->tokenizer);
  session->grammar = std::move(grammar);
  return {};
}

gist_code gist_session_set_schema(gist_session *session, const char *schema) {
  return guarded([&] { return setGrammar(session, schema, parseJsonSchema); });
}

gist_code gist_session_set_grammar(gist_session *session, const char *grammar) {
  return guarded([&] { return setGrammar(session, grammar, parseGrammar); });
}

gist_code gist_session_generate(gist_session *session, const char *prompt,
                                size_t prompt_size,
                                const gist_generate_options *options,
                                gist_token_callback callback, void *user_data,
                                gist_generate_result *result) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(session, "session"));
    GIST_TRY(checkArray(prompt, prompt_size, 1, "prompt"));
    GIST_TRY(needTokenizer(session->tokenizer));
    GenerateOptions chosen;
    GIST_TRY(readOptions(options, *session, chosen));
    // A text begins once.
    std::vector<int32_t> tokens;
    session->tokenizer->encode(
        {prompt, prompt_size}, tokens,
        {.addSpecial = session->session->position() == 0});
    GenerateResult generated;
    GIST_TRY(session->conversation->generate(
        *session->tokenizer, tokens, chosen, makeSink(callback, user_data),
        generated));
    writeResult(generated, result);
    return {};
  });
}

gist_code gist_session_chat(gist_session *session, const gist_message *messages,
                            size_t message_count,
                            const gist_generate_options *options,
                            gist_token_callback callback, void *user_data,
                            gist_generate_result *result) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(session, "session"));
    std::vector<ChatMessage> conversation;
    GIST_TRY(readMessages(messages, message_count, conversation));
    GIST_TRY(needTokenizer(session->tokenizer));
    GenerateOptions chosen;
    GIST_TRY(readOptions(options, *session, chosen));
    GenerateResult generated;
    GIST_TRY(session->conversation->answer(
        *session->tokenizer, conversation, chosen,
        makeSink(callback, user_data), generated));
    writeResult(generated, result);
    return {};
  });
}

gist_code gist_session_set_adapter(gist_session *session, const char *name) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(session, "session"));
    return session->conversation->setAdapter(name ? name : "");
  });
}

gist_code gist_session_draft_by_lookup(gist_session *session) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(session, "session"));
    GIST_TRY(DraftVerifier::check(*session->session));
    session->drafter = makeLookupDrafter();
    return {};
  });
}

gist_code gist_session_draft_by_module(gist_session *session,
                                       const gist_module *draft) {
  return guarded([&]() -> Status {
    GIST_TRY(checkPointer(session, "session"));
    std::unique_ptr<Drafter> drafter;
    if (draft) {
      GIST_TRY(DraftVerifier::check(*session->session));
      GIST_TRY(needTokenizer(session->tokenizer));
      GIST_TRY(makeModuleDrafter(draft->module, *session->device,
                                 draft->isTrusted, session->session->module(),
                                 session->session->capacity(),
                                 *session->tokenizer, drafter));
    }
    session->drafter = std::move(drafter);
    return {};
  });
}

// NOLINTEND(readability-identifier-naming)
