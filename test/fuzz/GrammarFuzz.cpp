//===- GrammarFuzz.cpp - Any bytes as a grammar or a schema ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is taken is followed along a text that the bytes choose. However it
// goes, the text can go on or is complete, and what a schema allows is JSON.
//
//===----------------------------------------------------------------------===//

#include "runtime/grammar/GrammarMatcher.h"
#include "runtime/grammar/JsonSchema.h"
#include "runtime/support/Json.h"

#include <nlohmann/json.hpp>

using namespace gist;

static constexpr int kMaxText = 200;

static void follow(const GrammarProgram &program, std::string_view choices,
                   bool isJson) {
  GrammarMatcher matcher(std::make_shared<const GrammarProgram>(program));
  GrammarMatcher::State state = matcher.start();
  std::string text;
  uint32_t random = 1;
  for (int i = 0; i < kMaxText && matcher.status().ok(); ++i) {
    if (matcher.accepts(state) && isJson) {
      nlohmann::json value;
      if (!parseJson(text, value, /*maxDepth=*/kMaxText).ok())
        __builtin_trap();
    }
    random =
        random * 1664525 + 1013904223 +
        static_cast<uint8_t>(choices[static_cast<size_t>(i) % choices.size()]);
    // Any byte that goes on, from a random one.
    GrammarMatcher::State next = GrammarMatcher::kDead;
    for (unsigned tried = 0; tried < 256 && next == GrammarMatcher::kDead;
         ++tried) {
      auto byte = static_cast<uint8_t>((random >> 16) + tried);
      next = matcher.next(state, byte);
      if (next != GrammarMatcher::kDead)
        text += static_cast<char>(byte);
    }
    if (next == GrammarMatcher::kDead) {
      if (matcher.status().ok() && !matcher.accepts(state))
        __builtin_trap();
      return;
    }
    state = next;
    matcher.allowWork();
    if (matcher.isFull())
      state = matcher.compact(state);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Grammar grammar;
  bool isJson = text[0] == '{';
  Status status =
      isJson ? parseJsonSchema(text, grammar) : parseGrammar(text, grammar);
  GrammarProgram program;
  if (status.ok())
    status = GrammarProgram::create(grammar, /*leadingSpace=*/false, program);
  if (status.ok())
    follow(program, text, isJson);
  else if (status.text.empty() || status.text.size() > 1000)
    __builtin_trap();
  return 0;
}
