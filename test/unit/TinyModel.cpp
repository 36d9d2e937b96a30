//===- TinyModel.cpp - A whole model small enough to check by hand --------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model that is small enough to be computed by hand: the logits after some
// tokens are the negative products of the mean of their embeddings with all
// embeddings. It has all that a real module has: a cache, an arena, entries for
// prefill, decode, scores and embeddings, statistics and a tokenizer.
//
//===----------------------------------------------------------------------===//

#include "test/unit/TinyModel.h"

#include "runtime/device/CpuFeatures.h"
#include "runtime/module/Trust.h"
#include "runtime/text/TokenizerSpec.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

using namespace gist;
using namespace gist::test;

/// Test infrastructure that cannot go on; in a tool there is no gtest to ask.
[[noreturn]] static void giveUp(const std::string &what) {
  std::cerr << "test setup: " << what << "\n";
  std::abort();
}

std::string gist::test::readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    giveUp("cannot read " + path);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

void gist::test::writeFile(const std::string &path,
                           const std::string &content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (!file)
    giveUp("cannot write " + path);
}

// mkdtemp gives each test a folder that no other has.
TemporaryFolder::TemporaryFolder() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "gist-test-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    giveUp("cannot make " + pattern);
  path = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::vector<std::string> TemporaryFolder::list() const {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    names.push_back(entry.path().filename().string());
  return names;
}

/// Bytes are tokens; five special ones follow.
/// A chat template that is easy to check by eye.
static TokenizerSpec byteTokenizer() {
  TokenizerSpec spec;
  spec.model = TokenizerModel::ByteBpe;
  spec.split = TokenizerSplit::Gpt2;
  for (int byte = 0; byte < 256; ++byte)
    spec.vocab.emplace_back(1, static_cast<char>(byte));
  spec.vocab.resize(TinyModel::kVocab);
  const char *special[] = {"<|end|>", "<|system|>", "<|user|>", "<|assistant|>",
                           "<|pad|>"};
  for (uint32_t i = 0; i < 5; ++i)
    spec.added.push_back({.text = special[i], .id = 256 + i, .special = true});
  spec.eos = TinyModel::kEnd;
  spec.pad = 260;
  spec.stop = {TinyModel::kEnd};
  spec.chatTemplate = "{% if tools %}<|system|>{{ tools | tojson }}<|end|>"
                      "{% endif %}"
                      "{% for message in messages %}<|{{ message.role }}|>"
                      "{{ message.content }}"
                      "{% for call in message.tool_calls or [] %}<tool_call>"
                      "{{ call.function | tojson }}</tool_call>{% endfor %}"
                      "<|end|>{% endfor %}"
                      "{% if add_generation_prompt %}<|assistant|>{% endif %}";
  return spec;
}

TinyModel::TinyModel(uint32_t seed, bool scaled) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  embeddings.resize(kVocab * kWidth);
  for (float &value : embeddings)
    value = uniform(random);

  ModuleSpec &spec = writer.spec;
  spec.producer = "unit tests";
  spec.model.architecture = "tiny";
  spec.model.name = "Tiny test model";
  spec.model.vocabSize = kVocab;
  spec.model.contextLength = kMaxContext;
  spec.model.embeddingSize = kWidth;
  spec.model.layerCount = 1;
  spec.model.padToken = 260;
  spec.model.stopTokens = {kEnd};
  spec.model.properties["compute"] = "f32";
  // Tokens of a call, tokens before it, and the capacity. Sessions find them by
  // these names.
  spec.symbols = {{"T", 1, kMaxTokens, 1},
                  {"P", 0, kMaxContext, 0},
                  {"C", 1, kMaxContext, kContext}};
  symbolT = spec.addExpr(Expr::symbol(0));
  symbolP = spec.addExpr(Expr::symbol(1));
  width = spec.addConstant(kWidth);
  vocab = spec.addConstant(kVocab);

  writer.addWeight("embeddings", "f32", {kVocab, kWidth},
                   {reinterpret_cast<const uint8_t *>(embeddings.data()),
                    embeddings.size() * sizeof(float)});
  writer.addTarget(
      {.name = "cpu",
       .device = "cpu",
       .triple = std::string(hostArchitecture()) + "-linux-gnu",
       .cpu = "generic",
       .features = {},
       .format = CodeFormat::Elf},
      readFile(scaled ? GIST_TEST_SCALED_KERNELS : GIST_TEST_KERNELS));
  writer.setTokenizer(byteTokenizer().serialize());
  addBuffers();
  addKernels();
  addEntries();
}

namespace {
/// Positions in ModuleSpec::buffers.
enum BufferNumber : uint32_t {
  Embeddings,
  Tokens,
  Cache,
  Rows,
  Means,
  Logits,
  ScoreLogits,
  Embedding,
  Count,
};
/// Positions in ModuleSpec::kernels.
enum KernelNumber : uint32_t { Embed, Append, Mean, Head, CountPast };
} // namespace

/// Sizes are formulas of T, the tokens of a call, and C, the capacity.
void TinyModel::addBuffers() {
  ModuleSpec &spec = writer.spec;
  Expr t = Expr::symbol(0), c = Expr::symbol(2);
  auto bytes = [](int64_t elements) { return Expr::constant(4 * elements); };
  ExprId rows = spec.addExpr(t * bytes(kWidth));
  spec.buffers = {
      {.name = "embeddings",
       .kind = BufferKind::Weight,
       .shape = {vocab, width},
       .base = 0},
      {.name = "tokens",
       .kind = BufferKind::Input,
       .type = ElementType::I32,
       .shape = {symbolT},
       .size = spec.addExpr(t * bytes(1))},
      {.name = "cache",
       .kind = BufferKind::State,
       .shape = {spec.addExpr(c), width},
       .size = spec.addExpr(c * bytes(kWidth))},
      {.name = "rows",
       .kind = BufferKind::Arena,
       .shape = {symbolT, width},
       .size = rows,
       .offset = spec.addConstant(0)},
      {.name = "means",
       .kind = BufferKind::Arena,
       .shape = {symbolT, width},
       .size = rows,
       .offset = rows},
      {.name = "logits",
       .kind = BufferKind::Output,
       .shape = {vocab},
       .size = spec.addConstant(4 * kVocab)},
      {.name = "score.logits",
       .kind = BufferKind::Output,
       .shape = {symbolT, vocab},
       .size = spec.addExpr(t * bytes(kVocab))},
      {.name = "embedding",
       .kind = BufferKind::Output,
       .shape = {width},
       .size = spec.addConstant(4 * kWidth)},
      {.name = "count",
       .kind = BufferKind::State,
       .type = ElementType::I32,
       .shape = {spec.addConstant(1)},
       .size = spec.addConstant(4),
       .zeroOnReset = true},
  };
}

/// Names of symbols are those of TinyKernels.c.
void TinyModel::addKernels() {
  auto kernel = [](const char *name, uint32_t argCount) {
    return KernelSpec{name, argCount, {{0, std::string("tiny_") + name}}};
  };
  writer.spec.kernels = {kernel("embed", 4), kernel("append", 3),
                         kernel("mean", 4), kernel("logits", 5),
                         kernel("count", 2)};
}

/// Prefill reads the last row only, score all of them; otherwise they are the
/// same commands.
void TinyModel::addEntries() {
  ModuleSpec &spec = writer.spec;
  Expr t = Expr::symbol(0), p = Expr::symbol(1);
  // In bytes: where the rows of this call go.
  ExprId place = spec.addExpr(p * Expr::constant(4 * kWidth));
  // Prefill needs one mean, of all rows up to its last token. Score needs one
  // for each token: the first is of P + 1 rows, each next of one more.
  ExprId upToLast = spec.addExpr(p + t);
  ExprId upToFirst = spec.addExpr(p + Expr::constant(1));
  ExprId flops = spec.addExpr(t * Expr::constant(2 * kVocab * kWidth));
  ExprId tiles =
      spec.addExpr(ceilDiv(Expr::constant(kVocab), Expr::constant(16)));
  auto scalar = [](ExprId value) { return ArgSpec::scalar(value); };
  auto buffer = [](uint32_t number) { return ArgSpec::of(number); };

  CommandSpec embed{
      .kernel = Embed,
      .grid = {symbolT, kNone, kNone},
      .args = {buffer(Tokens), buffer(Embeddings), buffer(Rows), scalar(width)},
      .label = "embed"};
  CommandSpec append{
      .kernel = Append,
      .grid = {symbolT, kNone, kNone},
      .args = {buffer(Rows), ArgSpec::of(Cache, place), scalar(width)},
      .layer = 0,
      .label = "append"};
  // Waits for nothing: it touches what no other command does.
  CommandSpec count{.kernel = CountPast,
                    .args = {scalar(symbolP), buffer(Count)},
                    .after = {},
                    .hasAfter = true,
                    .label = "count"};
  auto mean = [&](ExprId grid, ExprId first) {
    return CommandSpec{
        .kernel = Mean,
        .grid = {grid, kNone, kNone},
        .args = {buffer(Cache), buffer(Means), scalar(first), scalar(width)},
        .layer = 0,
        .label = "mean"};
  };
  auto head = [&](ExprId rows, BufferNumber to) {
    return CommandSpec{.kernel = Head,
                       .grid = {tiles, rows, kNone},
                       .args = {buffer(Means), buffer(Embeddings), buffer(to),
                                scalar(vocab), scalar(width)},
                       .label = "head",
                       .flops = flops};
  };
  // Rows and means, side by side.
  ExprId arenaSize = spec.addExpr(t * Expr::constant(8 * kWidth));
  auto entry = [&](const char *name, uint32_t output,
                   std::vector<CommandSpec> commands) {
    return EntrySpec{.name = name,
                     .arenaSize = arenaSize,
                     .inputs = {Tokens},
                     .outputs = {output},
                     .commands = std::move(commands),
                     .statistics = {{"past", 0, Count}}};
  };
  EntrySpec prefill =
      entry(kEntryPrefill, Logits,
            {embed, append, count, mean(kNone, upToLast), head(kNone, Logits)});
  // The same commands, for calls of one token.
  EntrySpec decode = prefill;
  decode.name = kEntryDecode;
  decode.maxTokens = 1;
  EntrySpec score = entry(
      kEntryScore, ScoreLogits,
      {embed, append, mean(symbolT, upToFirst), head(symbolT, ScoreLogits)});
  // The two in between belong to one sequence: they write and read its cache.
  score.commands.front().byRows = score.commands.back().byRows = true;
  // Seven, so that the chunks of a longer text are not multiples of one
  // another.
  score.maxTokens = 7;
  CommandSpec pool{
      .kernel = Mean,
      .args = {buffer(Rows), buffer(Embedding), scalar(symbolT), scalar(width)},
      .label = "pool"};
  EntrySpec embedEntry = entry(kEntryEmbed, Embedding, {embed, pool});
  // For calls of a prompt before its last one.
  EntrySpec read = prefill;
  read.name = kEntryRead;
  read.outputs = {};
  read.commands = {embed, append, count};
  spec.entries = {prefill, decode, score, embedEntry, read};
}

/// The kernel returns the random number modulo the vocabulary: not a sampler,
/// but it shows which settings arrived.
void TinyModel::addSampling() {
  ModuleSpec &spec = writer.spec;
  auto first = static_cast<uint32_t>(spec.buffers.size());
  // Five numbers of 8 bytes: SampleSettings.
  ExprId one = spec.addConstant(1), five = spec.addConstant(5);
  spec.buffers.push_back({.name = "sampling",
                          .kind = BufferKind::Input,
                          .type = ElementType::I64,
                          .shape = {one, five},
                          .size = spec.addConstant(40)});
  spec.buffers.push_back({.name = "next",
                          .kind = BufferKind::Output,
                          .type = ElementType::I32,
                          .shape = {one},
                          .size = spec.addConstant(4)});
  auto kernel = static_cast<uint32_t>(spec.kernels.size());
  spec.kernels.push_back({"next", 3, {{0, "tiny_next"}}});
  for (EntrySpec &entry : spec.entries) {
    if (entry.name != kEntryPrefill && entry.name != kEntryDecode)
      continue;
    entry.inputs.push_back(first);
    entry.outputs.push_back(first + 1);
    entry.commands.push_back(
        {.kernel = kernel,
         .args = {ArgSpec::of(first), ArgSpec::of(first + 1),
                  ArgSpec::scalar(vocab)},
         .label = "next"});
  }
}

/// The second target of a module: kernels get code for it as well.
void TinyModel::addGpu(const std::string &name, const std::string &device,
                       CodeFormat format, std::string code) {
  auto target = static_cast<uint32_t>(writer.spec.targets.size());
  writer.addTarget({.name = name,
                    .device = device,
                    .triple = "",
                    .cpu = name,
                    .features = {},
                    .format = format},
                   std::move(code));
  // Workgroups are kThreads of TinyGpuKernels.c.
  for (KernelSpec &kernel : writer.spec.kernels)
    kernel.code.push_back({.target = target,
                           .symbol = "tiny_" + kernel.name,
                           .workgroup = {64, 1, 1}});
}

/// Kernels without code: what they do is said by RankSpec.
void TinyModel::addRanks() {
  ModuleSpec &spec = writer.spec;
  TargetSpec second = spec.targets[0];
  second.name = "cpu.rank1";
  writer.addTarget(second, readFile(GIST_TEST_KERNELS));
  for (KernelSpec &kernel : spec.kernels)
    kernel.code.push_back({1, kernel.code[0].symbol});
  auto sum = static_cast<uint32_t>(spec.kernels.size());
  spec.kernels.push_back({"sum", 2, {}});
  spec.kernels.push_back({"gather", 2, {}});
  spec.requirements.emplace_back(kRanksRequirement);
  writer.ranks = {.count = 2,
                  .targets = {0, 1},
                  .collectives = {{sum, Collective::AllReduce},
                                  {sum + 1, Collective::AllGather, {4, 5}}}};
  std::vector<EntrySpec> own;
  for (EntrySpec entry : spec.entries) {
    for (uint32_t kernel : {sum, sum + 1})
      entry.commands.insert(entry.commands.end() - 1,
                            {.kernel = kernel,
                             .args = {ArgSpec::of(Rows), ArgSpec::of(Means)},
                             .label = spec.kernels[kernel].name});
    for (uint32_t rank : {0, 1}) {
      entry.target = rank;
      own.push_back(entry);
    }
  }
  spec.entries = std::move(own);
}

/// The reference: plain loops, written apart from the kernels.
std::vector<float> TinyModel::embedding(std::span<const int32_t> tokens) const {
  std::vector<float> mean(kWidth);
  for (int32_t token : tokens)
    for (int64_t i = 0; i < kWidth; ++i)
      mean[i] += embeddings[token * kWidth + i];
  for (float &value : mean)
    value /= static_cast<float>(tokens.size());
  return mean;
}

/// The sign makes the most likely token one that has not been said, so that
/// texts do not repeat one token.
std::vector<float>
TinyModel::logitsAfter(std::span<const int32_t> tokens) const {
  std::vector<float> mean = embedding(tokens);
  std::vector<float> logits(kVocab);
  for (int64_t v = 0; v < kVocab; ++v)
    for (int64_t i = 0; i < kWidth; ++i)
      logits[v] -= mean[i] * embeddings[v * kWidth + i];
  return logits;
}

std::string TinyModel::write(const std::string &path) {
  if (Status status = writer.write(path); !status.ok())
    giveUp(status.text);
  // As gist-compile does. Some tests want a module that cannot be opened.
  static_cast<void>(trustModuleFile(path));
  return path;
}
