//===- Answer.h - The text of tokens, until it ends -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_SERVING_ANSWER_H
#define GIST_TOOLS_SERVING_ANSWER_H

#include "runtime/session/Sampler.h"
#include "runtime/text/Tokenizer.h"

#include <string>
#include <vector>

namespace gist::serve {

/// Turns the tokens of one answer into text, as `gist-run generate` does: whole
/// characters, and nothing that may be the beginning of a stop text.
class Answer {
public:
  /// `tokenizer` outlives this.
  Answer(const Tokenizer &tokenizer, std::vector<std::string> stops,
         bool continuesText)
      : decoder(tokenizer, /*skipSpecial=*/true, continuesText),
        stops(std::move(stops)) {}

  /// The text that is certain after this token.
  std::string push(int32_t token) { return stops.push(decoder.push(token)); }

  /// A stop text has come: the answer ends before it.
  bool stopped() const { return stops.stopped(); }

  /// What was held back, when no token follows. Bytes of a character that was
  /// cut off become text here, and may still complete a stop text.
  std::string finish() {
    std::string rest;
    if (!stops.stopped())
      rest = stops.push(decoder.finish());
    if (!stops.stopped())
      rest += stops.finish();
    return rest;
  }

private:
  StreamDecoder decoder;
  StopMatcher stops;
};

} // namespace gist::serve

#endif // GIST_TOOLS_SERVING_ANSWER_H
