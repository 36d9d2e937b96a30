//===- gist.h - The C interface of the runtime ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Installed as <gist/gist.h>; a program links -lgist and nothing else.
//
// Functions that can fail return 0 on success and a gist_code otherwise; then
// gist_last_error() is a sentence about it. Every pointer is checked: a null
// one that is not said to be allowed is GIST_BAD_ARGUMENT. Nothing is thrown.
// Objects belong to the caller and are freed by the function named after them;
// freeing a null pointer is fine. An object may be used by one thread at a
// time; a module by many.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_GIST_H
#define GIST_RUNTIME_GIST_H

#include <stddef.h>
#include <stdint.h>

// NOLINTBEGIN(readability-identifier-naming)

/// Changes whenever a program that was compiled before must be compiled again:
/// the number in the name of libgist.so.N.
#define GIST_ABI_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gist_code {
  GIST_OK = 0,
  GIST_BAD_FILE = 1,
  GIST_NOT_FOUND = 2,
  GIST_BAD_ARGUMENT = 3,
  GIST_UNSUPPORTED = 4,
  GIST_OUT_OF_MEMORY = 5,
  GIST_IO = 6,
  GIST_DEVICE = 7,
  GIST_UNTRUSTED = 8
} gist_code;

typedef struct gist_module gist_module;
typedef struct gist_session gist_session;

/// The version of the library, as "0.1.0".
const char *gist_version(void);
/// The library's GIST_ABI_VERSION, to compare with that of this header.
int gist_abi_version(void);

/// What went wrong in the last failed call of this thread; never null. Valid
/// until the next failure in this thread.
const char *gist_last_error(void);

/// Opens and verifies a module file, tokenizer included.
gist_code gist_module_load(const char *path, gist_module **result);
/// Says that the caller trusts the code of this module as it would trust a
/// program. Without this, gist_session_create takes modules that were compiled
/// on this machine by this user, or that 'gist-run trust MODULE' has named, and
/// gives GIST_UNTRUSTED for others. Not while another thread uses the module.
gist_code gist_module_trust(gist_module *module);
/// Sessions keep what they need: a module may be freed before them.
void gist_module_free(gist_module *module);

/// -1 for a null pointer.
int64_t gist_module_vocab_size(const gist_module *module);
/// Null-terminated; lives as long as the module. Null for a null pointer.
const char *gist_module_architecture(const gist_module *module);

/// Token ids of a text. `*count` is the room in `tokens` on entry and the
/// number of tokens on return; GIST_OUT_OF_MEMORY when the room is too small.
/// With no room `tokens` may be null.
gist_code gist_tokenize(const gist_module *module, const char *text,
                        size_t text_size, int add_special, int32_t *tokens,
                        size_t *count);
/// The text of tokens, not null-terminated. `*size` as `*count` above.
gist_code gist_detokenize(const gist_module *module, const int32_t *tokens,
                          size_t count, char *text, size_t *size);

/// Null-terminated UTF-8.
typedef struct gist_message {
  const char *role; ///< "system", "user" or "assistant"
  const char *content;
} gist_message;

/// Token ids of a conversation, written with the module's chat template. What
/// messages contain cannot become a special token. With `add_answer` the
/// beginning of the assistant's answer follows. `*count` as for gist_tokenize.
gist_code gist_chat_tokens(const gist_module *module,
                           const gist_message *messages, size_t message_count,
                           int add_answer, int32_t *tokens, size_t *count);

typedef struct gist_session_options {
  const char *device;  ///< "cpu", "hip" or "cuda"; null: "cpu"
  unsigned threads;    ///< CPU; 0: one on each core that this process may use
  int64_t context;     ///< tokens to hold; 0: the module's default
  int64_t chunk;       ///< tokens per prefill call; 0: the module's choice
  const char *library; ///< path of the GPU's driver; null: its usual names
  int device_index;    ///< which GPU, as the driver counts them
} gist_session_options;

/// `options` may be null.
gist_code gist_session_create(const gist_module *module,
                              const gist_session_options *options,
                              gist_session **result);
void gist_session_free(gist_session *session);

/// Appends tokens and computes the logits after the last one.
gist_code gist_session_feed(gist_session *session, const int32_t *tokens,
                            size_t count);
/// The logits after the last fed token, `*count` of them; null when there are
/// none. Valid until the session is used again.
const float *gist_session_logits(const gist_session *session, size_t *count);
/// Forgets every token.
gist_code gist_session_reset(gist_session *session);
/// Tokens that the session has seen, and how many it can hold; -1 for a null
/// pointer.
int64_t gist_session_position(const gist_session *session);
int64_t gist_session_capacity(const gist_session *session);

/// The embedding of a text; `*count` as for gist_tokenize.
gist_code gist_session_embed(gist_session *session, const int32_t *tokens,
                             size_t token_count, float *values, size_t *count);

/// From now on what the session writes is JSON that is valid for a JSON schema,
/// or matches a grammar (docs/grammars.md). Null-terminated UTF-8; null: all is
/// allowed again. On an error nothing changes.
gist_code gist_session_set_schema(gist_session *session, const char *schema);
gist_code gist_session_set_grammar(gist_session *session, const char *grammar);

/// What is added to the logit of a token; -INFINITY forbids the token.
typedef struct gist_logit_bias {
  int32_t token;
  float bias;
} gist_logit_bias;

/// A struct of zeros is a good beginning: every 0 changes nothing.
typedef struct gist_generate_options {
  int64_t max_tokens; ///< 0: until the model ends or the context is full
  float temperature;  ///< 0: the most likely token
  uint32_t top_k;     ///< 0: all
  float top_p;        ///< 0 or 1: all
  float min_p;
  uint64_t seed;
  const char *const *stops; ///< texts that end the answer; may be null
  size_t stop_count;
  int ignore_end;   ///< go on after the model's end token
  int show_special; ///< special tokens appear as text
  /// Divides positive logits of tokens that were there lately, and multiplies
  /// negative ones; 0 or 1: no penalty.
  float repeat_penalty;
  uint32_t repeat_window; ///< tokens that count as lately; 0: 64
  /// Taken from the logits of tokens that the answer has: once, and for each
  /// time that it has them.
  float presence_penalty, frequency_penalty;
  const gist_logit_bias *logit_bias; ///< may be null
  size_t logit_bias_count;
  int64_t min_tokens; ///< tokens that the answer has before a token may end it
  const int32_t *stop_tokens; ///< end the answer as its end does; may be null
  size_t stop_token_count;
} gist_generate_options;

typedef enum gist_finish {
  GIST_FINISH_END_TOKEN = 0,  ///< the model ended its text, or a stop token
  GIST_FINISH_STOP_TEXT = 1,  ///< one of the stop texts appeared
  GIST_FINISH_MAX_TOKENS = 2, ///< max_tokens were drawn
  GIST_FINISH_CONTEXT_FULL = 3,
  GIST_FINISH_CANCELLED = 4 ///< the callback said so
} gist_finish;

typedef struct gist_generate_result {
  gist_finish finish;
  size_t prompt_tokens; ///< tokens read; of a conversation those that were new
  size_t tokens;        ///< tokens drawn, an end token included
  int64_t prompt_nanoseconds;
  int64_t decode_nanoseconds;
} gist_generate_result;

/// Receives every token and the text that it completes, UTF-8 without a
/// terminator. The text is empty while a character or what may be a stop text
/// is incomplete; what was held back at the end comes with token -1. Anything
/// but 0 stops.
typedef int (*gist_token_callback)(int32_t token, const char *text, size_t size,
                                   void *user_data);

/// Continues a text. The first call of a session begins a text, a later one
/// goes on where the session is; without a prompt (size 0) it goes on after
/// what was said last. Afterwards the session has seen the prompt and every
/// token of the answer, except the last one where the context is full.
/// `options`, `callback` and `result` may be null.
gist_code gist_session_generate(gist_session *session, const char *prompt,
                                size_t prompt_size,
                                const gist_generate_options *options,
                                gist_token_callback callback, void *user_data,
                                gist_generate_result *result);

/// Answers the last message of a conversation with the module's chat template.
/// `messages` are the whole conversation: add the answer and the next question
/// and call again. What the session has seen of it is not read again; a
/// conversation that differs is read from where it does.
/// `options`, `callback` and `result` may be null.
gist_code gist_session_chat(gist_session *session, const gist_message *messages,
                            size_t message_count,
                            const gist_generate_options *options,
                            gist_token_callback callback, void *user_data,
                            gist_generate_result *result);

/// The session forgets what it has seen, and computes with an adapter of its
/// module from now on (gist-compile --adapter); null: with none.
gist_code gist_session_set_adapter(gist_session *session, const char *name);

/// Makes later answers of the session come faster; the texts are the same. What
/// followed the last tokens earlier in the text is guessed to follow again.
/// Fails for modules that cannot forget tokens: those with a plan.
gist_code gist_session_draft_by_lookup(gist_session *session);
/// The same with the guesses of `draft`, a smaller model with the same
/// tokenizer; null: without guesses.
gist_code gist_session_draft_by_module(gist_session *session,
                                       const gist_module *draft);

/// A session of its own that has seen what this one has: both go on apart. It
/// is on the same kind of device and has neither drafts nor a grammar.
gist_code gist_session_fork(gist_session *session, gist_session **result);
/// Writes what a session has seen to a file, so that a session of the same
/// module can go on from there without reading it again.
gist_code gist_session_save(gist_session *session, const char *path);
/// The session has then seen what is in the file, and nothing after an error.
/// GIST_UNTRUSTED for modules with a plan, unless gist_module_trust was called
/// for the module before the session was made: their state steers kernels.
gist_code gist_session_load(gist_session *session, const char *path);

#ifdef __cplusplus
}
#endif

// NOLINTEND(readability-identifier-naming)

#endif // GIST_RUNTIME_GIST_H
