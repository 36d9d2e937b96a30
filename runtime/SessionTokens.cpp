//===- SessionTokens.cpp - Tokens in, logits and embeddings out -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Session.h"

#include <algorithm>
#include <cinttypes>

using namespace gist;

Status Session::checkRoom(size_t count) const {
  if (count <= static_cast<uint64_t>(context - past))
    return {};
  return Status::error(Code::BadArgument,
                       "the context is full: it holds %" PRId64
                       " tokens, %" PRId64 " are taken and %zu more were given",
                       context, past, count);
}

/// The values of an f32 output. Stays on the device's own memory where the host
/// can read that.
Status Session::readOutput(const EntrySpec &entry, std::string_view name,
                           std::span<const float> &values) {
  const std::vector<BufferSpec> &buffers = source->spec().buffers;
  for (uint32_t i : entry.outputs) {
    if (buffers[i].name != name &&
        buffers[i].name != entry.name + "." + std::string(name))
      continue;
    if (buffers[i].type != ElementType::F32)
      return Status::error(Code::BadFile, "output '%s' is %s, expected f32",
                           buffers[i].name.c_str(), toString(buffers[i].type));
    uint64_t size = 0;
    GIST_TRY(contentSize(i, size));
    uint64_t count = size / sizeof(float);
    const void *pointer = device.hostPointer(owned[i].address());
    if (pointer) {
      GIST_TRY(device.synchronize());
    } else {
      downloaded.resize(count);
      GIST_TRY(device.download(owned[i].address(), downloaded.data(),
                               count * sizeof(float)));
      pointer = downloaded.data();
    }
    values = {static_cast<const float *>(pointer), count};
    return {};
  }
  return Status::error(Code::BadFile, "entry '%s' has no output '%.*s'",
                       entry.name.c_str(), static_cast<int>(name.size()),
                       name.data());
}

/// Fills an input of token ids.
Status Session::uploadTokens(const EntrySpec &entry, uint32_t buffer,
                             std::span<const int32_t> tokens) {
  const ModuleSpec &spec = source->spec();
  for (int32_t token : tokens)
    if (token < 0 || token >= spec.model.vocabSize)
      return Status::error(Code::BadArgument,
                           "token %" PRId32
                           " is outside a vocabulary of %" PRId64,
                           token, spec.model.vocabSize);
  uint64_t size = 0;
  GIST_TRY(contentSize(buffer, size));
  if (size != tokens.size_bytes())
    return Status::error(Code::BadFile,
                         "entry '%s' wants %" PRIu64
                         " bytes of tokens, %zu were given",
                         entry.name.c_str(), size, tokens.size_bytes());
  return device.upload(
      owned[buffer].address(),
      {reinterpret_cast<const uint8_t *>(tokens.data()), tokens.size_bytes()});
}

Status Session::runTokens(std::string_view name,
                          std::span<const int32_t> tokens,
                          std::span<const int32_t> targets, int64_t before,
                          std::string_view output,
                          std::span<const float> &values) {
  EntryBinding *binding = nullptr;
  GIST_TRY(findEntry(name, binding));
  const EntrySpec &entry = binding->entry();
  const std::vector<BufferSpec> &buffers = source->spec().buffers;
  GIST_TRY(setTokens(entry, static_cast<int64_t>(tokens.size()), before));
  GIST_TRY(ensureMemory(entry));
  std::span<const int32_t> given[] = {tokens, targets};
  size_t count = targets.empty() ? 1 : 2;
  if (entry.inputs.size() != count)
    return Status::error(
        Code::BadFile, "entry '%s' should have %s of i32 tokens",
        entry.name.c_str(), count == 1 ? "one input" : "two inputs");
  for (size_t i = 0; i < count; ++i) {
    if (buffers[entry.inputs[i]].type != ElementType::I32)
      return Status::error(Code::BadFile, "input '%s' is %s, expected i32",
                           buffers[entry.inputs[i]].name.c_str(),
                           toString(buffers[entry.inputs[i]].type));
    GIST_TRY(uploadTokens(entry, entry.inputs[i], given[i]));
  }
  GIST_TRY(execute(*binding));
  if (options.afterCall)
    options.afterCall(*this, before, static_cast<int64_t>(tokens.size()));
  return readOutput(entry, output, values);
}

Status Session::feed(std::span<const int32_t> tokens) {
  lastLogits = {};
  if (tokens.empty())
    return Status::error(Code::BadArgument, "no tokens were given");
  GIST_TRY(checkRoom(tokens.size()));
  auto chunk = static_cast<size_t>(chunkTokens());
  while (!tokens.empty()) {
    std::span<const int32_t> piece =
        tokens.first(std::min(callTokens(chunk), tokens.size()));
    bool single = piece.size() == 1 && hasEntry(kEntryDecode);
    GIST_TRY(runTokens(single ? kEntryDecode : kEntryPrefill, piece, {}, past,
                       kTensorLogits, lastLogits));
    past += static_cast<int64_t>(piece.size());
    tokens = tokens.subspan(piece.size());
  }
  if (lastLogits.size() != static_cast<uint64_t>(vocabSize()))
    return Status::error(Code::BadFile,
                         "%zu logits for a vocabulary of %" PRId64,
                         lastLogits.size(), vocabSize());
  return {};
}

Status Session::score(std::span<const int32_t> tokens, const LogitsSink &sink) {
  lastLogits = {};
  GIST_TRY(checkRoom(tokens.size()));
  // Without the entry it is one token at a time: slow, but the same numbers.
  bool whole = hasEntry(kEntryScore);
  int64_t chunk = whole ? chunkRows(kEntryScore) : 1;
  auto vocab = static_cast<size_t>(vocabSize());
  for (size_t begin = 0; begin < tokens.size();) {
    std::span<const int32_t> piece =
        tokens.subspan(begin, std::min(callTokens(static_cast<size_t>(chunk)),
                                       tokens.size() - begin));
    std::span<const float> values;
    if (whole) {
      GIST_TRY(runTokens(kEntryScore, piece, {}, past, kTensorLogits, values));
      past += static_cast<int64_t>(piece.size());
    } else {
      GIST_TRY(feed(piece));
      values = lastLogits;
    }
    if (values.size() != piece.size() * vocab)
      return Status::error(Code::BadFile,
                           "%zu logits for %zu tokens and a vocabulary of %zu",
                           values.size(), piece.size(), vocab);
    for (size_t i = 0; i < piece.size(); ++i)
      GIST_TRY(sink(begin + i, values.subspan(i * vocab, vocab)));
    begin += piece.size();
  }
  return {};
}

Status Session::nll(std::span<const int32_t> tokens,
                    std::span<const int32_t> targets, const LossSink &sink) {
  lastLogits = {};
  if (tokens.size() != targets.size())
    return Status::error(Code::BadArgument,
                         "%zu tokens were given and %zu that follow them",
                         tokens.size(), targets.size());
  GIST_TRY(checkRoom(tokens.size()));
  auto chunk = static_cast<size_t>(chunkRows(kEntryNll));
  for (size_t begin = 0; begin < tokens.size();) {
    size_t count = std::min(callTokens(chunk), tokens.size() - begin);
    std::span<const float> values;
    GIST_TRY(runTokens(kEntryNll, tokens.subspan(begin, count),
                       targets.subspan(begin, count), past, kTensorNll,
                       values));
    past += static_cast<int64_t>(count);
    if (values.size() != count)
      return Status::error(Code::BadFile, "%zu losses for %zu tokens",
                           values.size(), count);
    GIST_TRY(sink(begin, values));
    begin += count;
  }
  return {};
}

Status Session::embed(std::span<const int32_t> tokens,
                      std::vector<float> &result) {
  if (tokens.empty())
    return Status::error(Code::BadArgument, "no tokens were given");
  lastLogits = {};
  std::span<const float> values;
  GIST_TRY(runTokens(kEntryEmbed, tokens, {}, 0, kTensorEmbedding, values));
  result.assign(values.begin(), values.end());
  return {};
}

int64_t Session::vocabSize() const { return source->spec().model.vocabSize; }

int64_t Session::tokensInBlock(int64_t before) const {
  int64_t block = source->spec().model.prefillChunk;
  return block == 0 ? INT64_MAX : block - before % block;
}

size_t Session::callTokens(size_t chunk) const {
  return std::min(chunk, static_cast<size_t>(tokensInBlock(past)));
}

int64_t Session::chunkTokens() const {
  // Tokens per prefill call where neither the user nor the module says.
  constexpr int64_t kDefaultChunk = 512;
  int64_t chunk = options.chunk;
  if (chunk == 0)
    chunk = source->spec().model.prefillChunk;
  if (chunk == 0)
    chunk = kDefaultChunk;
  return std::max<int64_t>(1, std::min(chunk, maxTokens(kEntryPrefill)));
}

int64_t Session::chunkRows(std::string_view entry) const {
  // Rows of logits are as wide as the vocabulary: keep them to 32 MiB.
  constexpr int64_t kMaxFloats = int64_t{8} << 20;
  int64_t rows = kMaxFloats / std::max<int64_t>(vocabSize(), 1);
  return std::min(
      {chunkTokens(), maxTokens(entry), std::max<int64_t>(rows, 16)});
}
