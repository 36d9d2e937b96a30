//===- CApi.cpp - The C interface of the runtime --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/gist.h"

#include "runtime/session/Generator.h"
#include "runtime/session/Session.h"

#include <algorithm>

using namespace gist;

// C names are written as C writes them.
// NOLINTBEGIN(readability-identifier-naming)

struct gist_module {
  std::shared_ptr<const Module> module;
  std::shared_ptr<const Tokenizer> tokenizer; ///< null when there is none
};

struct gist_session {
  // Destroyed last: the session's memory is on it.
  std::unique_ptr<Device> device;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::unique_ptr<Session> session;
};

static std::string &lastError() {
  static thread_local std::string text;
  return text;
}

static gist_code report(Status status) {
  static_assert(static_cast<int>(Code::BadFile) == GIST_BAD_FILE &&
                static_cast<int>(Code::Device) == GIST_DEVICE);
  if (!status.ok())
    lastError() = std::move(status.text);
  return static_cast<gist_code>(status.code);
}

static Status needTokenizer(const std::shared_ptr<const Tokenizer> &tokenizer) {
  if (tokenizer)
    return {};
  return Status::error(Code::NotFound, "the module has no tokenizer");
}

/// Copies results into the caller's array, or says how large it must be.
template <typename T, typename Source>
static Status copyOut(const Source &from, T *to, size_t *count) {
  size_t room = *count;
  *count = from.size();
  if (from.size() > room)
    return Status::error(Code::OutOfMemory, "room for %zu values, need %zu",
                         room, from.size());
  std::copy(from.begin(), from.end(), to);
  return {};
}

const char *gist_last_error(void) { return lastError().c_str(); }

gist_code gist_module_load(const char *path, gist_module **result) {
  auto loaded = std::make_unique<gist_module>();
  Status status = Module::open(path, loaded->module);
  if (status.ok() && loaded->module->tokenizer().size != 0) {
    auto tokenizer = std::make_shared<Tokenizer>();
    status = loadTokenizer(*loaded->module, *tokenizer).in(path);
    loaded->tokenizer = std::move(tokenizer);
  }
  if (status.ok())
    *result = loaded.release();
  return report(std::move(status));
}

void gist_module_free(gist_module *module) { delete module; }

int64_t gist_module_vocab_size(const gist_module *module) {
  return module->module->spec().model.vocabSize;
}

const char *gist_module_architecture(const gist_module *module) {
  return module->module->spec().model.architecture.c_str();
}

gist_code gist_tokenize(const gist_module *module, const char *text,
                        size_t text_size, int add_special, int32_t *tokens,
                        size_t *count) {
  Status status = needTokenizer(module->tokenizer);
  if (status.ok()) {
    std::vector<int32_t> ids;
    module->tokenizer->encode({text, text_size}, ids,
                              {.addSpecial = add_special != 0});
    status = copyOut(ids, tokens, count);
  }
  return report(std::move(status));
}

gist_code gist_detokenize(const gist_module *module, const int32_t *tokens,
                          size_t count, char *text, size_t *size) {
  Status status = needTokenizer(module->tokenizer);
  if (status.ok())
    status = copyOut(module->tokenizer->decode({tokens, count}), text, size);
  return report(std::move(status));
}

gist_code gist_session_create(const gist_module *module,
                              const gist_session_options *options,
                              gist_session **result) {
  gist_session_options chosen = options ? *options : gist_session_options{};
  auto created = std::make_unique<gist_session>();
  created->tokenizer = module->tokenizer;
  Status status = openDevice(chosen.device ? chosen.device : "cpu",
                             {.threads = chosen.threads,
                              .index = chosen.device_index,
                              .library = chosen.library ? chosen.library : ""},
                             created->device);
  if (status.ok()) {
    SessionOptions sessionOptions;
    sessionOptions.context = chosen.context;
    sessionOptions.chunk = chosen.chunk;
    status = Session::create(module->module, *created->device, sessionOptions,
                             created->session);
  }
  if (status.ok())
    *result = created.release();
  return report(std::move(status));
}

void gist_session_free(gist_session *session) { delete session; }

gist_code gist_session_feed(gist_session *session, const int32_t *tokens,
                            size_t count) {
  return report(session->session->feed({tokens, count}));
}

const float *gist_session_logits(const gist_session *session, size_t *count) {
  std::span<const float> logits = session->session->logits();
  *count = logits.size();
  return logits.data();
}

gist_code gist_session_reset(gist_session *session) {
  return report(session->session->reset());
}

int64_t gist_session_position(const gist_session *session) {
  return session->session->position();
}

int64_t gist_session_capacity(const gist_session *session) {
  return session->session->capacity();
}

gist_code gist_session_embed(gist_session *session, const int32_t *tokens,
                             size_t token_count, float *values, size_t *count) {
  std::vector<float> embedding;
  Status status = session->session->embed({tokens, token_count}, embedding);
  if (status.ok())
    status = copyOut(embedding, values, count);
  return report(std::move(status));
}

gist_code gist_session_generate(gist_session *session, const char *prompt,
                                size_t prompt_size,
                                const gist_generate_options *options,
                                gist_text_callback callback, void *user_data) {
  if (Status status = needTokenizer(session->tokenizer); !status.ok())
    return report(std::move(status));
  gist_generate_options given = options ? *options : gist_generate_options{};
  GenerateOptions chosen;
  chosen.maxTokens = given.max_tokens;
  chosen.sampler.temperature = given.temperature;
  chosen.sampler.topK = given.top_k;
  chosen.sampler.topP = given.top_p == 0 ? 1.0f : given.top_p;
  chosen.sampler.minP = given.min_p;
  chosen.sampler.seed = given.seed;
  for (size_t i = 0; i < given.stop_count; ++i)
    chosen.stops.emplace_back(given.stops[i]);
  std::vector<int32_t> tokens;
  session->tokenizer->encode({prompt, prompt_size}, tokens);
  GenerateResult result;
  return report(generate(
      *session->session, *session->tokenizer, tokens, chosen,
      [&](std::string_view piece) {
        return !callback ||
               callback(piece.data(), piece.size(), user_data) == 0;
      },
      result));
}

// NOLINTEND(readability-identifier-naming)
