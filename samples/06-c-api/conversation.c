//===- conversation.c - A conversation of several turns in C --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: conversation MODULE QUESTION...
//
// Asks one question after the other. Each answer sees what was said before.
//
//===----------------------------------------------------------------------===//

#include <gist/gist.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// An answer as it grows.
typedef struct {
  char *text;
  size_t size;
} Answer;

// Prints what is new and keeps it for the turns that follow.
static int receive(int32_t token, const char *text, size_t size, void *data) {
  Answer *answer = data;
  (void)token;
  char *longer = realloc(answer->text, answer->size + size + 1);
  if (!longer)
    return 1; // Anything but 0 stops.
  memcpy(longer + answer->size, text, size);
  answer->text = longer;
  answer->size += size;
  answer->text[answer->size] = 0;
  fwrite(text, 1, size, stdout);
  fflush(stdout);
  return 0;
}

static int fail(const char *what) {
  fprintf(stderr, "conversation: error: %s: %s\n", what, gist_last_error());
  return 1;
}

// Frees the answers among the messages.
static void freeAnswers(gist_message *messages, size_t count) {
  for (size_t i = 1; i < count; i += 2)
    free((char *)messages[i].content);
  free(messages);
}

static int converse(gist_session *session, int questions, char **question) {
  // Questions and answers in turn.
  gist_message *messages = calloc(2 * (size_t)questions, sizeof *messages);
  if (!messages)
    return fail("no memory");
  gist_generate_options options = {.max_tokens = 40};
  size_t count = 0;
  int status = 0;
  for (int i = 0; i < questions && status == 0; ++i) {
    messages[count++] = (gist_message){"user", question[i]};
    printf("> %s\n", question[i]);
    Answer answer = {0};
    gist_generate_result result;
    if (gist_session_chat(session, messages, count, &options, receive, &answer,
                          &result) != GIST_OK)
      status = fail("cannot answer");
    printf("\n");
    if (status == 0)
      fprintf(stderr, "(%zu tokens read, %zu written, %lld of %lld held)\n",
              result.prompt_tokens, result.tokens,
              (long long)gist_session_position(session),
              (long long)gist_session_capacity(session));
    if (!answer.text)
      answer.text = calloc(1, 1); // The model said nothing.
    messages[count++] = (gist_message){"assistant", answer.text};
    if (!answer.text)
      status = fail("no memory");
  }
  freeAnswers(messages, count);
  return status;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fputs("usage: conversation MODULE QUESTION...\n", stderr);
    return 2;
  }
  if (gist_abi_version() != GIST_ABI_VERSION) {
    fprintf(stderr, "conversation: error: libgist %s has another interface\n",
            gist_version());
    return 1;
  }
  gist_module *module = NULL;
  if (gist_module_load(argv[1], &module) != GIST_OK)
    return fail("cannot load the module");
  gist_session_options options = {.context = 512};
  gist_session *session = NULL;
  int status = gist_session_create(module, &options, &session) == GIST_OK
                   ? converse(session, argc - 2, argv + 2)
                   : fail("cannot start");
  gist_session_free(session);
  gist_module_free(module);
  return status;
}
