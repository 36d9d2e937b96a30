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

using namespace gist;

/// The elements of an array of strings; empty where there is none.
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
  if (auto found = file.metadata.find("tokenizer.ggml.token_type");
      found != file.metadata.end())
    for (int64_t type :
         found->second.integers().value_or(std::vector<int64_t>()))
      tokenizer.tokenTypes.push_back(static_cast<int32_t>(type));
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
  tokenizer.chatTemplate = readString(file, "tokenizer.chat_template");
  return importTokenizer(tokenizer, spec);
}

static Status readFolderTokenizer(const ModelFolder &folder,
                                  TokenizerSpec &spec) {
  // An absent file is fine; an empty one is damage, which importTokenizer could
  // not tell from an absent one.
  if (auto found = folder.texts.find("tokenizer.json");
      found != folder.texts.end() && found->second.empty())
    return Status::error(Code::BadFile, "tokenizer.json is empty");
  HuggingFaceTokenizer files;
  files.tokenizerJson = folder.text("tokenizer.json");
  files.vocabJson = folder.text("vocab.json");
  files.mergesTxt = folder.text("merges.txt");
  files.vocabTxt = folder.text("vocab.txt");
  files.configJson = folder.text("tokenizer_config.json");
  files.specialMapJson = folder.text("special_tokens_map.json");
  files.generationJson = folder.text("generation_config.json");
  files.chatTemplate = folder.text("chat_template.jinja");
  return importTokenizer(files, spec);
}

Status gist::readTokenizer(const ModelSource &source, TokenizerSpec &spec) {
  return source.isGguf ? readGgufTokenizer(source.gguf, spec)
                       : readFolderTokenizer(source.folder, spec);
}
