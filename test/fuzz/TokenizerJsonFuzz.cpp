//===- TokenizerJsonFuzz.cpp - Any bytes as a tokenizer.json --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/TokenizerImport.h"
#include "test/fuzz/UseTokenizer.h"

using namespace gist;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  HuggingFaceTokenizer files;
  files.tokenizerJson = text;
  TokenizerSpec spec;
  if (importTokenizer(files, spec).ok())
    fuzz::useTokenizer(std::move(spec));
  // The same words in the other files of a folder; they are parsed five times
  // over, so not for every input.
  if (size % 4 != 0)
    return 0;
  HuggingFaceTokenizer others;
  others.vocabJson = others.mergesTxt = others.configJson = text;
  others.specialMapJson = others.generationJson = text;
  if (importTokenizer(others, spec).ok())
    fuzz::useTokenizer(std::move(spec));
  // Lines of words, or of letters.
  for (const char *config : {"{}", "{\"tokenizer_class\": \"EsmTokenizer\"}"}) {
    HuggingFaceTokenizer words;
    words.vocabTxt = text;
    words.configJson = config;
    words.generationJson = "{\"eos_token_id\": [0, 1]}";
    if (importTokenizer(words, spec).ok())
      fuzz::useTokenizer(std::move(spec));
  }
  return 0;
}
