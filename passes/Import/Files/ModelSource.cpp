//===- ModelSource.cpp - One model, from a file or a folder ---------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Opens a model of either kind, so that the rest need not ask which it is.
//
//===----------------------------------------------------------------------===//

#include "passes/Import/Files/ModelSource.h"

#include <filesystem>

using namespace gist;

/// What is not a folder is taken as GGUF; the magic number decides.
static Status openGguf(const std::string &path, ModelSource &source,
                       const AcceptSource &accept) {
  GIST_TRY(MappedFile::open(path, source.ggufBytes).in(path));
  source.isGguf = true;
  auto acceptFile = [&](const GgufFile &file) -> Status {
    auto found = file.metadata.find("general.architecture");
    std::optional<std::string_view> name;
    if (found != file.metadata.end())
      name = found->second.string();
    if (!name)
      return Status::error(Code::BadFile,
                           "the file has no 'general.architecture'");
    source.architecture = std::string(*name);
    return accept ? accept(source) : Status();
  };
  Status status = readGguf(source.ggufBytes->bytes(), source.gguf, acceptFile);
  // What lies beyond the end is the usual sign of half a file.
  if (status.text.find(" do not fit in ") != std::string::npos)
    status.text += "; was the file fetched completely?";
  GIST_TRY(std::move(status).in(path));
  for (auto &[name, tensor] : source.gguf.tensors)
    tensor.file = path;
  return {};
}

static Status readArchitecture(const std::string &path, ModelSource &source) {
  GIST_TRY(ConfigReader(source.folder.config)
               .read({{"model_type"}}, source.architecture)
               .in(path + "/config.json"));
  if (source.architecture.empty())
    return Status::error(Code::BadFile,
                         "%s/config.json: the file has no 'model_type'",
                         path.c_str());
  return {};
}

static Status openFolder(const std::string &path, ModelSource &source,
                         const AcceptSource &accept) {
  // What the model is comes before its weights, which may be missing.
  GIST_TRY(openModelFolder(path, source.folder, /*withWeights=*/false));
  GIST_TRY(readArchitecture(path, source));
  if (accept)
    GIST_TRY(accept(source).in(path));
  return openFolderWeights(path, source.folder);
}

/// For --random-weights: config.json is all that is read.
Status gist::openModelConfig(const std::string &path, ModelSource &out) {
  ModelSource source;
  std::filesystem::path folder = path;
  if (folder.filename() == "config.json")
    folder = folder.has_parent_path() ? folder.parent_path() : ".";
  source.path = folder.string();
  GIST_TRY(openModelFolder(source.path, source.folder, /*withWeights=*/false));
  GIST_TRY(readArchitecture(source.path, source));
  out = std::move(source);
  return {};
}

Status gist::openModelSource(const std::string &path, ModelSource &out,
                             const AcceptSource &accept) {
  ModelSource source;
  source.path = path;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    GIST_TRY(openFolder(path, source, accept));
  else
    GIST_TRY(openGguf(path, source, accept));
  out = std::move(source);
  return {};
}

Status gist::scaleRotaryByTensor(const ModelSource &source, const char *name,
                                 ModelConfig &config) {
  auto found = source.tensors().find(name);
  if (found == source.tensors().end())
    return {};
  const StoredTensor &tensor = found->second;
  auto numPairs = static_cast<int64_t>(config.rotaryFrequencies.size());
  if (tensor.shape != std::vector<int64_t>{numPairs})
    return Status::error(Code::BadFile, "tensor %s is %s, expected %" PRId64,
                         name, shapeText(tensor.shape).c_str(), numPairs);
  std::vector<float> factors(config.rotaryFrequencies.size());
  dequantize(tensor.format, tensor.content, factors.data());
  // A factor of 8 slows a pair to an eighth.
  for (size_t i = 0; i < factors.size(); ++i)
    config.rotaryFrequencies[i] /= factors[i];
  return {};
}
