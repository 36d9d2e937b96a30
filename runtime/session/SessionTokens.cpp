//===- SessionTokens.cpp - Tokens in, logits and embeddings out -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Adapters.h"
#include "runtime/session/CheckTokens.h"
#include "runtime/session/Session.h"
#include "runtime/support/OutOfMemory.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

using namespace gist;

Status Session::checkRoom(size_t count) const {
  if (count <= static_cast<uint64_t>(context - past))
    return {};
  return Status::error(Code::BadArgument,
                       "the context is full: it holds %" PRId64
                       " tokens, %" PRId64 " are taken and %zu more were given",
                       context, past, count);
}

bool Session::keepsLogits() const {
  for (const char *name : {kEntryPrefill, kEntryShort, kEntryDecode}) {
    const EntrySpec *entry = source->findEntry(name, targetId);
    if (!entry)
      continue;
    uint32_t i =
        findTensor(source->spec(), *entry, entry->outputs, kTensorLogits);
    // A buffer that grows with the call moves when it is reallocated; a buffer
    // that the host cannot read is downloaded to memory that other outputs use
    // too.
    if (i == kNone || symbols.dependencies(source->spec().buffers[i].size) ||
        (map.buffers[i].address != 0 &&
         !device.hostPointer(map.buffers[i].address)))
      return false;
  }
  return true;
}

/// The contents of an output: a view of the device's memory where the host can
/// read it.
Status Session::readOutput(std::string_view entryName, std::string_view name,
                           ElementType type, Bytes &content) {
  const EntrySpec &entry = *source->findEntry(entryName, targetId);
  uint32_t i = findTensor(source->spec(), entry, entry.outputs, name);
  if (i == kNone)
    return Status::error(Code::BadFile, "entry '%s' has no output '%.*s'",
                         entry.name.c_str(), static_cast<int>(name.size()),
                         name.data());
  const BufferSpec &buffer = source->spec().buffers[i];
  if (buffer.type != type)
    return Status::error(Code::BadFile, "output '%s' is %s; expected %s",
                         buffer.name.c_str(), toString(buffer.type),
                         toString(type));
  GIST_TRY(contentSize(i, content.size));
  const void *pointer = device.hostPointer(map.buffers[i].address);
  if (pointer) {
    GIST_TRY(device.synchronize());
  } else {
    downloaded.resize(content.size);
    GIST_TRY(device.download(map.buffers[i].address, downloaded.data(),
                             content.size));
    pointer = downloaded.data();
  }
  content.data = static_cast<const uint8_t *>(pointer);
  return {};
}

Status Session::readFloats(std::string_view entry, std::string_view name,
                           std::span<const float> &values) {
  Bytes content;
  GIST_TRY(readOutput(entry, name, ElementType::F32, content));
  values = {reinterpret_cast<const float *>(content.data),
            content.size / sizeof(float)};
  return {};
}

Status Session::numbersOf(std::span<const int32_t> tokens,
                          std::vector<int32_t> &numbers) const {
  GIST_TRY(checkTokens(tokens, vocabSize()));
  numbers.clear();
  for (int32_t token : tokens)
    numbers.push_back(withAdapter(token, adapter));
  return {};
}

/// Fills an input of token ids.
Status Session::uploadTokens(const EntrySpec &entry, uint32_t buffer,
                             std::span<const int32_t> tokens) {
  GIST_TRY(checkNumbers(tokens, source->spec().model));
  uint64_t size = 0;
  GIST_TRY(contentSize(buffer, size));
  if (size != tokens.size_bytes())
    return Status::error(Code::BadFile,
                         "entry '%s' takes %" PRIu64
                         " bytes of tokens, but %zu were given",
                         entry.name.c_str(), size, tokens.size_bytes());
  return device.upload(
      map.buffers[buffer].address,
      {reinterpret_cast<const uint8_t *>(tokens.data()), tokens.size_bytes()});
}

Status Session::runTokens(std::string_view name,
                          std::span<const int32_t> tokens,
                          std::span<const int32_t> targets, int64_t before) {
  EntryBinding *binding = nullptr;
  GIST_TRY(findEntry(name, binding));
  const EntrySpec &entry = binding->entry();
  const std::vector<BufferSpec> &buffers = source->spec().buffers;
  GIST_TRY(setTokens(entry, static_cast<int64_t>(tokens.size()), before));
  GIST_TRY(callMemory.reserve(entry, symbols, map));
  std::vector<uint32_t> inputs = entry.inputs;
  uint32_t settings =
      findTensor(source->spec(), entry, inputs, kTensorSampling);
  if (settings != kNone) {
    GIST_TRY(callMemory.upload(sampling, settings, map));
    std::erase(inputs, settings);
  }
  std::vector<int32_t> numbers;
  GIST_TRY(numbersOf(tokens, numbers));
  GIST_TRY(checkTokens(targets, vocabSize()));
  std::span<const int32_t> given[] = {numbers, targets};
  size_t count = targets.empty() ? 1 : 2;
  if (inputs.size() != count)
    return Status::error(
        Code::BadFile, "entry '%s' should have %s of i32 tokens",
        entry.name.c_str(), count == 1 ? "one input" : "two inputs");
  for (size_t i = 0; i < count; ++i) {
    if (buffers[inputs[i]].type != ElementType::I32)
      return Status::error(Code::BadFile, "input '%s' is %s; expected i32",
                           buffers[inputs[i]].name.c_str(),
                           toString(buffers[inputs[i]].type));
    GIST_TRY(uploadTokens(entry, inputs[i], given[i]));
  }
  GIST_TRY(announceRun(name, tokens, targets, before));
  GIST_TRY(execute(*binding));
  if (options.afterCall)
    options.afterCall(*this, before, static_cast<int64_t>(tokens.size()));
  return {};
}

/// The entry that takes so many tokens in the least time. Those of the bulk of
/// a prompt are read for the state they leave.
static const char *chooseEntry(const Session &session, size_t tokens,
                               bool isBulk) {
  if (isBulk && session.hasEntry(kEntryRead))
    return kEntryRead;
  if (tokens == 1 && session.hasEntry(kEntryDecode))
    return kEntryDecode;
  if (session.hasEntry(kEntryShort) &&
      tokens <= static_cast<size_t>(session.maxTokens(kEntryShort)))
    return kEntryShort;
  return kEntryPrefill;
}

Status Session::advance(std::span<const int32_t> tokens,
                        std::string_view &entry) {
  lastLogits = {};
  if (tokens.empty())
    return Status::error(Code::BadArgument, "no tokens were given");
  GIST_TRY(checkRoom(tokens.size()));
  auto chunk = static_cast<size_t>(chunkTokens());
  size_t total = tokens.size();
  PromptBulk::Range range = readsWhole && bulk.first
                                ? PromptBulk::Range{total, total}
                                : bulk.find(total, past);
  while (true) {
    // A call does not cross the ends of the bulk.
    size_t done = total - tokens.size();
    bool isBulk = done >= range.begin && done < range.end;
    size_t most = done < range.begin ? range.begin - done
                  : isBulk           ? range.end - done
                                     : tokens.size();
    std::span<const int32_t> piece = tokens.first(callTokens(most, chunk));
    // Only the last call computes logits.
    entry = chooseEntry(*this, piece.size(),
                        isBulk && piece.size() < tokens.size());
    Status status = runTokens(entry, piece, {}, past);
    // Another process may have taken memory that was free.
    if (status.code == Code::OutOfMemory && prefillTokens != 0 &&
        piece.size() > static_cast<size_t>(kLeastPrefillTokens)) {
      chunk =
          std::max(piece.size() / 2, static_cast<size_t>(kLeastPrefillTokens));
      prefillTokens = static_cast<int64_t>(chunk);
      continue;
    }
    GIST_TRY(std::move(status));
    past += static_cast<int64_t>(piece.size());
    tokens = tokens.subspan(piece.size());
    // The last call runs on: reading its results waits for it.
    if (tokens.empty())
      return {};
    // The next call's inputs go where this one's are.
    GIST_TRY(device.synchronize());
  }
}

Status Session::feed(std::span<const int32_t> tokens) try {
  sampling = {}; // Greedy, the cheapest: the drawn token is not read.
  std::string_view entry;
  GIST_TRY(advance(tokens, entry));
  std::span<const float> logits;
  GIST_TRY(readFloats(entry, kTensorLogits, logits));
  if (logits.size() != static_cast<uint64_t>(vocabSize()))
    return Status::error(
        Code::BadFile,
        "the entry returned %zu logits for a vocabulary of %" PRId64,
        logits.size(), vocabSize());
  // They may lie in the output's own buffer, which the next call overwrites.
  lastLogits = logits;
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

Status Session::next(std::span<const int32_t> tokens, Sampler &sampler,
                     int32_t &token) try {
  // The random number is drawn before it is known whether the host or the
  // device samples, so that a seed gives one text on every device.
  SampleSettings settings = sampler.next();
  const EntrySpec *prefill = source->findEntry(kEntryPrefill, targetId);
  // The check of prefill holds for decode too, which is a copy of it.
  if (sampler.needsLogits() || !prefill ||
      findTensor(source->spec(), *prefill, prefill->outputs, kTensorNext) ==
          kNone) {
    GIST_TRY(feed(tokens));
    return sampler.draw(lastLogits, settings, token);
  }
  sampling = settings;
  std::string_view entry;
  GIST_TRY(advance(tokens, entry));
  Bytes content;
  GIST_TRY(readOutput(entry, kTensorNext, ElementType::I32, content));
  if (content.size != sizeof token)
    return Status::error(Code::BadFile,
                         "the entry returned %" PRIu64
                         " bytes for one token; expected 4",
                         content.size);
  std::memcpy(&token, content.data, sizeof token);
  return token < 0 ? noTokenError(static_cast<size_t>(vocabSize())) : Status();
}
GIST_CATCH_OUT_OF_MEMORY

Status Session::score(std::span<const int32_t> tokens, const LogitsSink &sink) {
  auto vocab = static_cast<size_t>(vocabSize());
  return scoreRows(
      tokens, [&](size_t first, std::span<const float> rows) -> Status {
        for (size_t i = 0; i < rows.size() / vocab; ++i)
          GIST_TRY(sink(first + i, rows.subspan(i * vocab, vocab)));
        return {};
      });
}

Status Session::scoreRows(std::span<const int32_t> tokens,
                          const RowsSink &sink) try {
  lastLogits = {};
  GIST_TRY(checkRoom(tokens.size()));
  // Without the entry it is one token at a time: slow, but the same numbers.
  bool whole = hasEntry(kEntryScore);
  int64_t chunk = whole ? chunkRows(kEntryScore) : 1;
  auto vocab = static_cast<size_t>(vocabSize());
  for (size_t begin = 0; begin < tokens.size();) {
    std::span<const int32_t> piece = tokens.subspan(
        begin, callTokens(tokens.size() - begin, static_cast<size_t>(chunk)));
    std::span<const float> values;
    if (whole) {
      GIST_TRY(runTokens(kEntryScore, piece, {}, past));
      GIST_TRY(readFloats(kEntryScore, kTensorLogits, values));
      past += static_cast<int64_t>(piece.size());
    } else {
      GIST_TRY(feed(piece));
      values = lastLogits;
    }
    if (values.size() != piece.size() * vocab)
      return Status::error(Code::BadFile,
                           "the entry returned %zu logits for %zu tokens and a "
                           "vocabulary of %zu",
                           values.size(), piece.size(), vocab);
    GIST_TRY(sink(begin, values));
    begin += piece.size();
  }
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

Status Session::nll(std::span<const int32_t> tokens,
                    std::span<const int32_t> targets,
                    const LossSink &sink) try {
  lastLogits = {};
  if (tokens.size() != targets.size())
    return Status::error(
        Code::BadArgument,
        "%zu tokens were given, but %zu tokens that follow them", tokens.size(),
        targets.size());
  GIST_TRY(checkRoom(tokens.size()));
  auto chunk = static_cast<size_t>(chunkRows(kEntryNll));
  for (size_t begin = 0; begin < tokens.size();) {
    size_t count = callTokens(tokens.size() - begin, chunk);
    std::span<const float> values;
    Status status = runTokens(kEntryNll, tokens.subspan(begin, count),
                              targets.subspan(begin, count), past);
    // The memory that is left may hold fewer rows of logits.
    if (status.code == Code::OutOfMemory && options.chunk == 0 && count > 16) {
      chunk = count / 2;
      continue;
    }
    GIST_TRY(std::move(status));
    GIST_TRY(readFloats(kEntryNll, kTensorNll, values));
    past += static_cast<int64_t>(count);
    if (values.size() != count)
      return Status::error(Code::BadFile,
                           "the entry returned %zu losses for %zu tokens",
                           values.size(), count);
    GIST_TRY(sink(begin, values));
    begin += count;
  }
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

Status Session::embed(std::span<const int32_t> tokens,
                      std::vector<float> &result) try {
  if (tokens.empty())
    return Status::error(Code::BadArgument, "no tokens were given");
  lastLogits = {};
  std::span<const float> values;
  GIST_TRY(runTokens(kEntryEmbed, tokens, {}, 0));
  GIST_TRY(readFloats(kEntryEmbed, kTensorEmbedding, values));
  result.assign(values.begin(), values.end());
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

int64_t Session::vocabSize() const { return source->spec().model.vocabSize; }

int64_t Session::tokensInBlock(int64_t before) const {
  int64_t block = source->spec().model.prefillChunk;
  // A plan's clusters are the same for all tokens of a block, so a call must
  // not reach into the next one.
  return block == 0 ? INT64_MAX : block - before % block;
}

size_t Session::callTokens(size_t count, size_t chunk) const {
  if (prefillTokens != 0)
    return static_cast<size_t>(evenPrefillTokens(static_cast<int64_t>(count),
                                                 static_cast<int64_t>(chunk)));
  return std::min({count, chunk, static_cast<size_t>(tokensInBlock(past))});
}

int64_t Session::chunkTokens() const {
  if (prefillTokens != 0)
    return prefillTokens;
  int64_t chunk = options.chunk;
  if (chunk == 0)
    chunk = source->spec().model.prefillChunk;
  return std::max<int64_t>(1, std::min(chunk, maxTokens(kEntryPrefill)));
}

int64_t Session::chunkRows(std::string_view entry) const {
  // A size that the user gives is taken to fit in memory.
  if (options.chunk != 0)
    return std::min(chunkTokens(), maxTokens(entry));
  // Rows of logits are as wide as the vocabulary: keep them to 32 MiB. Those of
  // losses never leave the device, and few of them leave a GPU idle.
  constexpr int64_t kFloatsOfToken = int64_t{16} << 10;
  int64_t tokens = entry == kEntryNll ? device.tokensPerCall() : 512;
  int64_t rows = tokens * kFloatsOfToken / std::max<int64_t>(vocabSize(), 1);
  return std::min(
      {chunkTokens(), maxTokens(entry), std::max<int64_t>(rows, 16)});
}
