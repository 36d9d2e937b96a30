//===- Model.cpp - A module and its tokenizer, for Python -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What gist/_model.py shows to people: this file only translates.
//
//===----------------------------------------------------------------------===//

#include "tools/python/Model.h"

#include "runtime/session/Binding.h"
#include "tools/python/Errors.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

using namespace gist;
using namespace gist::python;

namespace nb = nanobind;

std::vector<ChatMessage> python::readMessages(const Messages &messages) {
  std::vector<ChatMessage> result;
  result.reserve(messages.size());
  for (const auto &[role, content] : messages)
    result.push_back({getString(role), getString(content)});
  return result;
}

const Tokenizer &Model::needTokenizer() const {
  if (!tokenizer)
    check(Status::error(Code::NotFound, "the module has no tokenizer"));
  return *tokenizer;
}

static Status open(const std::string &path, Model &model) {
  GIST_TRY(Module::open(path, model.module));
  if (model.module->tokenizer().size == 0)
    return {};
  auto tokenizer = std::make_shared<Tokenizer>();
  GIST_TRY(loadTokenizer(*model.module, *tokenizer).in(path));
  model.tokenizer = std::move(tokenizer);
  return {};
}

static Model load(const nb::bytes &path, bool trust) {
  std::string name = getString(path);
  Model model;
  model.isTrusted = trust;
  Status status;
  {
    nb::gil_scoped_release release;
    status = open(name, model);
  }
  check(status);
  return model;
}

/// Facts about the model, by the names that gist.Model has.
static nb::dict describe(const Model &model) {
  const ModuleSpec &spec = model.module->spec();
  nb::dict facts;
  facts["architecture"] = makeText(spec.model.architecture);
  facts["name"] = makeText(spec.model.name);
  facts["vocab_size"] = spec.model.vocabSize;
  facts["context_length"] = spec.model.contextLength;
  facts["embedding_size"] = spec.model.embeddingSize;
  facts["layer_count"] = spec.model.layerCount;
  facts["has_tokenizer"] = model.tokenizer != nullptr;
  facts["plan"] = makeText(model.module->plan());
  nb::dict properties;
  for (const auto &[name, value] : spec.model.properties)
    properties[makeText(name)] = makeText(value);
  facts["properties"] = properties;
  nb::list targets;
  for (const TargetSpec &target : spec.targets)
    targets.append(
        nb::make_tuple(makeText(target.name), makeText(target.device)));
  facts["targets"] = targets;
  nb::list entries;
  std::vector<std::string> names;
  for (const EntrySpec &entry : spec.entries)
    if (std::find(names.begin(), names.end(), entry.name) == names.end()) {
      names.push_back(entry.name);
      entries.append(makeText(entry.name));
    }
  facts["entries"] = entries;
  return facts;
}

const EntrySpec *python::findEntry(const ModuleSpec &spec,
                                   const std::string &name) {
  // Targets have entries of the same names, inputs and outputs.
  for (const EntrySpec &entry : spec.entries)
    if (entry.name == name)
      return &entry;
  check(Status::error(Code::NotFound, "the module has no entry '%s'",
                      name.c_str()));
  return nullptr;
}

/// Sizes of a buffer where a call has T tokens; -1 where they are not numbers
/// of T alone.
static nb::list listShape(const ModuleSpec &spec, const BufferSpec &buffer,
                          uint32_t symbol, int64_t tokens) {
  SymbolValues values(spec);
  nb::list shape;
  bool isSet = symbol == kNone || values.set(symbol, tokens).ok();
  for (ExprId dim : buffer.shape) {
    int64_t size = -1;
    if (!isSet || !values.get(dim, size).ok())
      size = -1;
    shape.append(size);
  }
  return shape;
}

/// Name, number of the ElementType and shape of inputs and of outputs.
static nb::tuple describeEntry(const Model &model, const std::string &name,
                               int64_t tokens) {
  const ModuleSpec &spec = model.module->spec();
  const EntrySpec *entry = findEntry(spec, name);
  uint32_t symbol = model.module->findSymbol(kSymbolTokens);
  auto list = [&](const std::vector<uint32_t> &buffers) {
    nb::list result;
    for (uint32_t number : buffers) {
      const BufferSpec &buffer = spec.buffers[number];
      result.append(nb::make_tuple(makeText(buffer.name),
                                   static_cast<int>(buffer.type),
                                   listShape(spec, buffer, symbol, tokens)));
    }
    return result;
  };
  return nb::make_tuple(list(entry->inputs), list(entry->outputs));
}

static TokensOut tokenize(const Model &model, const nb::bytes &text,
                          bool addSpecial, bool parseSpecial) {
  std::vector<int32_t> tokens;
  model.needTokenizer().encode(
      getString(text), tokens,
      {.addSpecial = addSpecial, .parseSpecial = parseSpecial});
  size_t count = tokens.size();
  return TokensOut(moveToArray(std::move(tokens), {count}));
}

static nb::str detokenize(const Model &model, const TokensIn &tokens,
                          bool skipSpecial) {
  return makeText(model.needTokenizer().decode(getSpan(tokens), skipSpecial));
}

static TokensOut chatTokens(const Model &model, const Messages &messages,
                            bool addAnswer) {
  std::vector<int32_t> tokens;
  check(encodeChat(model.needTokenizer(), readMessages(messages), tokens,
                   addAnswer));
  size_t count = tokens.size();
  return TokensOut(moveToArray(std::move(tokens), {count}));
}

static void verify(const Model &model) {
  Status status;
  {
    nb::gil_scoped_release release;
    status = model.module->verifyWeights();
  }
  check(status);
}

void python::addModel(nb::module_ &m) {
  nb::class_<Model>(m, "Model")
      .def("describe", describe)
      .def("describe_entry", describeEntry)
      .def("tokenize", tokenize)
      .def("detokenize", detokenize)
      .def("chat_tokens", chatTokens)
      .def("verify", verify);
  m.def("load", load);
}
