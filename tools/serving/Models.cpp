//===- Models.cpp - The models that are served ----------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/serving/Models.h"
#include "tools/running/Drafts.h"
#include "tools/running/Embedding.h"
#include "tools/serving/OneByOne.h"

#include "runtime/session/Adapters.h"
#include "runtime/session/Generator.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>

using namespace gist;
using namespace gist::serve;

int32_t Model::adapterOf(const std::string &called) const {
  for (size_t i = 0; i < adapters.size(); ++i)
    if (called == name + ":" + adapters[i])
      return static_cast<int32_t>(i) + 1;
  return 0;
}

Status ModelFile::parse(const std::string &text, ModelFile &result) {
  size_t equals = text.find('=');
  ModelFile file;
  if (equals == std::string::npos) {
    file.path = text;
    file.name = std::filesystem::path(text).stem().string();
  } else {
    file.name = text.substr(0, equals);
    file.path = text.substr(equals + 1);
  }
  if (file.name.empty() || file.path.empty())
    return Status::error(Code::BadArgument,
                         "'%s' is not a module or NAME=MODULE", text.c_str());
  result = std::move(file);
  return {};
}

/// The engine that writes: many sequences in one call where the module can, and
/// otherwise one after the other.
static Status openPool(Model &model, const ModelSettings &settings,
                       Device &device, std::string &note) {
  PoolOptions options = settings.pool;
  if (!settings.draft.empty()) {
    uint32_t symbol = model.module->findSymbol(kSymbolCapacity);
    int64_t context = options.context;
    if (context == 0 && symbol != kNone)
      context = model.module->spec().symbols[symbol].initial;
    GIST_TRY(run::openDrafter(settings.draft, device, options.trust,
                              *model.module, context, model.tokenizer,
                              options.drafter));
  }
  Status status = Pool::create(model.module, device, options, model.pool);
  if (status.code != Code::Unsupported || options.drafter)
    return status;
  note = "its sequences run one after the other: " + status.text;
  return createOneByOne(model.module, device, settings.pool, settings.ranks,
                        model.pool);
}

Status serve::openModel(const ModelFile &file, const ModelSettings &settings,
                        Device &device, std::unique_ptr<Model> &result,
                        std::string &note) {
  note.clear();
  auto model = std::make_unique<Model>();
  model->name = file.name;
  GIST_TRY(Module::open(file.path, model->module));
  if (settings.verify)
    GIST_TRY(model->module->verifyWeights().in(file.path));
  GIST_TRY(loadTokenizer(*model->module, model->tokenizer).in(file.path));
  struct stat info = {};
  if (::stat(file.path.c_str(), &info) == 0)
    model->created = info.st_mtime;

  const ModuleSpec &spec = model->module->spec();
  model->adapters = adapterNames(spec.model);
  auto has = [&](const char *entry) {
    return std::any_of(
        spec.entries.begin(), spec.entries.end(),
        [&](const EntrySpec &found) { return found.name == entry; });
  };
  if (!has(kEntryPrefill) && !has(kEntryEmbed))
    return Status::error(Code::Unsupported,
                         "%s: the module neither writes text nor makes "
                         "embeddings",
                         file.path.c_str());
  if (has(kEntryPrefill)) {
    GIST_TRY(openPool(*model, settings, device, note).in(file.path));
    model->context = model->pool->capacity();
    model->scores = has(kEntryScore);
    model->endTokens = endTokensOf(*model->module, model->tokenizer);
    model->trie = std::make_shared<const TokenTrie>(model->tokenizer);
  }
  if (has(kEntryEmbed)) {
    if (model->module->ranks().count > 1)
      return Status::error(
          Code::Unsupported,
          "%s: embeddings need a module for one rank; this one "
          "is for %u",
          file.path.c_str(), model->module->ranks().count);
    GIST_TRY(Session::create(model->module, device,
                             {.trust = settings.pool.trust}, model->encoder)
                 .in(file.path));
    GIST_TRY(
        run::findEmbedLimit(*model->encoder, model->embedLimit).in(file.path));
  }
  result = std::move(model);
  return {};
}
