//===- ModelFolder.cpp - A model as Hugging Face lays it out --------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Hugging Face folder: config.json, safetensors in one file or several, and
// the tokenizer's files. Weights stay mapped; nothing is copied.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/ModelFolder.h"

#include "runtime/support/Json.h"
#include "runtime/support/TextBytes.h"

#include <filesystem>
#include <set>

using namespace gist;
using nlohmann::json;

static bool exists(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

static Status readFile(const std::string &path, std::string &out) {
  std::unique_ptr<MappedFile> file;
  GIST_TRY(MappedFile::open(path, file).in(path));
  out = std::string(file->bytes().text());
  return {};
}

static std::string inFolder(const std::string &folder,
                            const std::string &name) {
  return (std::filesystem::path(folder) / name).string();
}

/// Reads a JSON file that may be absent: `out` is then left as it was.
static Status readJson(const std::string &path, json &out) {
  if (!exists(path))
    return {};
  std::string text;
  GIST_TRY(readFile(path, text));
  return parseJson(text, out).in(path);
}

/// Maps one safetensors file and returns what it holds in `content`.
static Status openWeights(const std::string &path, ModelFolder &folder,
                          SafetensorsFile &content) {
  std::unique_ptr<MappedFile> file;
  GIST_TRY(MappedFile::open(path, file).in(path));
  GIST_TRY(readSafetensors(file->bytes(), content).in(path));
  for (auto &[name, tensor] : content.tensors)
    tensor.file = path;
  folder.files.push_back(std::move(file));
  return {};
}

/// Opens every file that the index names. Tensors are taken from the files; the
/// index is only checked against them, because a stale index would otherwise
/// hide a missing tensor.
static Status openShards(const std::string &path, const std::string &indexPath,
                         ModelFolder &folder) {
  std::string text;
  GIST_TRY(readFile(indexPath, text));
  std::map<std::string, std::string> fileOfTensor;
  GIST_TRY(readSafetensorsIndex(bytesOf(text), fileOfTensor).in(indexPath));
  std::set<std::string> fileNames;
  for (const auto &[name, fileName] : fileOfTensor)
    fileNames.insert(fileName);
  for (const std::string &fileName : fileNames) {
    SafetensorsFile content;
    GIST_TRY(openWeights(inFolder(path, fileName), folder, content));
    for (auto &[name, tensor] : content.tensors)
      if (!folder.tensors.try_emplace(name, std::move(tensor)).second)
        return Status::error(Code::BadFile, "%s: tensor %s is in two files",
                             path.c_str(), inQuotes(name).c_str());
    folder.skipped.merge(content.skipped);
  }
  for (const auto &[name, fileName] : fileOfTensor)
    if (!folder.tensors.contains(name) && !folder.skipped.contains(name))
      return Status::error(Code::BadFile,
                           "%s: the file has no tensor %s, which %s lists",
                           inFolder(path, fileName).c_str(),
                           inQuotes(name).c_str(), indexPath.c_str());
  return {};
}

/// modules.json lists the steps of a sentence-transformers model by type.
/// Only the folder of the usual second module is looked at, which is where
/// sentence-transformers puts it.
static Status readPooling(const std::string &path,
                          ModelFolder::Pooling &pooling) {
  json modules, config;
  GIST_TRY(readJson(path + "/modules.json", modules));
  GIST_TRY(readJson(path + "/1_Pooling/config.json", config));
  if (!modules.is_array() || !config.is_object())
    return {};
  pooling.present = true;
  pooling.mean = config.value("pooling_mode_mean_tokens", json()) == true;
  for (const json &module : modules) {
    if (!module.is_object())
      continue;
    json type = module.value("type", json());
    if (type == "sentence_transformers.models.Normalize")
      pooling.normalize = true;
  }
  json sentence;
  GIST_TRY(readJson(path + "/sentence_bert_config.json", sentence));
  if (!sentence.is_object() || !sentence.contains("max_seq_length") ||
      sentence["max_seq_length"].is_null())
    return {};
  return readInteger(sentence, "max_seq_length", 1, 1 << 24, pooling.maxTokens)
      .in(path + "/sentence_bert_config.json");
}

Status gist::openModelFolder(const std::string &path, ModelFolder &out,
                             bool withWeights) {
  ModelFolder folder;
  GIST_TRY(readJson(path + "/config.json", folder.config));
  if (!folder.config.is_object())
    return Status::error(Code::NotFound,
                         "%s: the folder has no config.json with a JSON object",
                         path.c_str());
  // Kept as text: importTokenizer reads what it needs of them.
  for (const char *name :
       {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
        "generation_config.json", "vocab.json", "merges.txt", "vocab.txt",
        "chat_template.jinja", "tokenizer.model"})
    if (exists(path + "/" + name))
      GIST_TRY(readFile(path + "/" + name, folder.texts[name]));
  GIST_TRY(readPooling(path, folder.pooling));

  if (withWeights)
    GIST_TRY(openFolderWeights(path, folder));
  out = std::move(folder);
  return {};
}

Status gist::openFolderWeights(const std::string &path, ModelFolder &folder) {
  std::string single = path + "/model.safetensors";
  std::string index = single + ".index.json";
  if (exists(index)) {
    // The index comes first: a folder may also have an old single file.
    GIST_TRY(openShards(path, index, folder));
  } else if (exists(single)) {
    SafetensorsFile content;
    GIST_TRY(openWeights(single, folder, content));
    folder.tensors = std::move(content.tensors);
    folder.skipped = std::move(content.skipped);
  } else {
    return Status::error(Code::NotFound,
                         "%s: the folder has neither model.safetensors nor "
                         "model.safetensors.index.json",
                         path.c_str());
  }
  return {};
}
