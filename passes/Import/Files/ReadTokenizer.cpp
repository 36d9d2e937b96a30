//===- ReadTokenizer.cpp - The tokenizer of a model -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects what GGUF metadata or a folder says of the tokenizer. runtime/text
// gives it its meaning.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/ModelSource.h"
#include "runtime/text/TokenizerImport.h"

#include <algorithm>

using namespace gist;

/// The elements of an array of strings; empty if there is no such array.
static std::vector<std::string> readStrings(const GgufFile &file,
                                            const char *key) {
  auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    return {};
  auto views = found->second.strings();
  if (!views)
    return {};
  return {views->begin(), views->end()};
}

static std::optional<int64_t> readInteger(const GgufFile &file,
                                          const char *key) {
  auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    return std::nullopt;
  return found->second.integer();
}

static std::string readString(const GgufFile &file, const char *key) {
  auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    return {};
  return std::string(found->second.string().value_or(""));
}

/// The scores of pieces; empty if the file has none.
static Status readScores(const GgufFile &file, std::vector<float> &scores) {
  auto found = file.metadata.find("tokenizer.ggml.scores");
  if (found == file.metadata.end())
    return {};
  std::optional<std::vector<double>> numbers = found->second.numbers();
  if (!numbers)
    return Status::error(Code::BadFile,
                         "'tokenizer.ggml.scores' is not an array of numbers");
  for (double number : *numbers)
    scores.push_back(static_cast<float>(number));
  return {};
}

/// The types of tokens; empty if the file has none.
static Status readTokenTypes(const GgufFile &file,
                             std::vector<int32_t> &types) {
  auto found = file.metadata.find("tokenizer.ggml.token_type");
  if (found == file.metadata.end())
    return {};
  std::optional<std::vector<int64_t>> numbers = found->second.integers();
  if (!numbers)
    return Status::error(
        Code::BadFile,
        "'tokenizer.ggml.token_type' is not an array of integers");
  for (int64_t number : *numbers) // Clamped: invalid stays invalid.
    types.push_back(static_cast<int32_t>(std::clamp<int64_t>(number, -1, 255)));
  return {};
}

static Status readGgufTokenizer(const GgufFile &file, TokenizerSpec &spec) {
  // Some files have -1 for a token that does not exist.
  auto id = [&](const char *key) -> std::optional<uint32_t> {
    std::optional<int64_t> value = readInteger(file, key);
    if (!value || *value < 0 || *value > int64_t(UINT32_MAX))
      return std::nullopt;
    return static_cast<uint32_t>(*value);
  };
  auto flag = [&](const char *key) -> std::optional<bool> {
    std::optional<int64_t> value = readInteger(file, key);
    return value ? std::optional(*value != 0) : std::nullopt;
  };
  GgufTokenizer tokenizer;
  tokenizer.model = readString(file, "tokenizer.ggml.model");
  tokenizer.pre = readString(file, "tokenizer.ggml.pre");
  tokenizer.tokens = readStrings(file, "tokenizer.ggml.tokens");
  tokenizer.merges = readStrings(file, "tokenizer.ggml.merges");
  GIST_TRY(readTokenTypes(file, tokenizer.tokenTypes));
  GIST_TRY(readScores(file, tokenizer.scores));
  tokenizer.bos = id("tokenizer.ggml.bos_token_id");
  tokenizer.eos = id("tokenizer.ggml.eos_token_id");
  tokenizer.unknown = id("tokenizer.ggml.unknown_token_id");
  tokenizer.pad = id("tokenizer.ggml.padding_token_id");
  tokenizer.mask = id("tokenizer.ggml.mask_token_id");
  // The key is misspelt in the format.
  tokenizer.separator = id("tokenizer.ggml.seperator_token_id");
  tokenizer.endOfTurn = id("tokenizer.ggml.eot_token_id");
  tokenizer.addBos = flag("tokenizer.ggml.add_bos_token");
  tokenizer.addEos = flag("tokenizer.ggml.add_eos_token");
  tokenizer.addSpacePrefix = flag("tokenizer.ggml.add_space_prefix");
  tokenizer.removeExtraSpaces = flag("tokenizer.ggml.remove_extra_whitespaces");
  tokenizer.chatTemplate = readString(file, "tokenizer.chat_template");
  return importTokenizer(tokenizer, spec);
}

static Status readFolderTokenizer(const ModelFolder &folder,
                                  TokenizerSpec &spec) {
  // An absent file is fine; an empty one is damage, which importTokenizer could
  // not tell from an absent one.
  for (const char *name : {"tokenizer.json", "tokenizer.model"})
    if (auto found = folder.texts.find(name);
        found != folder.texts.end() && found->second.empty())
      return Status::error(Code::BadFile, "%s is empty", name);
  HuggingFaceTokenizer files;
  files.tokenizerJson = folder.text("tokenizer.json");
  files.vocabJson = folder.text("vocab.json");
  files.mergesTxt = folder.text("merges.txt");
  files.vocabTxt = folder.text("vocab.txt");
  files.configJson = folder.text("tokenizer_config.json");
  files.specialMapJson = folder.text("special_tokens_map.json");
  files.generationJson = folder.text("generation_config.json");
  files.chatTemplate = folder.text("chat_template.jinja");
  files.sentencePiece = folder.text("tokenizer.model");
  return importTokenizer(files, spec);
}

Status gist::readTokenizer(const ModelSource &source, TokenizerSpec &spec) {
  return source.isGguf ? readGgufTokenizer(source.gguf, spec)
                       : readFolderTokenizer(source.folder, spec);
}
