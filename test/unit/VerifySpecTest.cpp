//===- VerifySpecTest.cpp - Every rule of the metadata, broken once -------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/RankSpec.h"

#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <functional>

using namespace gist;
using namespace gist::test;

// Every rule of verifySpec is broken once, by one change to a module that is
// right. The sentence shows that it is this rule that refused it.
namespace {
/// One change, and what is said about it.
struct BrokenRule {
  const char *name;
  std::function<void(ModuleSpec &)> breakIt;
  const char *message;
};

/// The name of the rule instead of its bytes.
void PrintTo(const BrokenRule &rule, std::ostream *out) { *out << rule.name; }

class VerifySpec : public ::testing::TestWithParam<BrokenRule> {};
} // namespace

// Otherwise the others would prove nothing.
TEST(VerifySpecs, AcceptsTheModel) {
  Status status = verifySpec(TinyModel().writer.spec);
  EXPECT_TRUE(status.ok()) << status.text;
}

TEST_P(VerifySpec, Refuses) {
  ModuleSpec spec = TinyModel().writer.spec;
  GetParam().breakIt(spec);
  Status status = verifySpec(spec);
  EXPECT_EQ(status.code, Code::BadFile);
  EXPECT_EQ(status.text, GetParam().message);
}

static const BrokenRule kRules[] = {
    {"VocabSize", [](ModuleSpec &s) { s.model.vocabSize = -1; },
     "the model's description has a negative size: -1"},
    {"StopToken", [](ModuleSpec &s) { s.model.stopTokens = {261}; },
     "stop token 261 is outside a vocabulary of 261"},
    {"PadToken", [](ModuleSpec &s) { s.model.padToken = -2; },
     "special token -2 is outside a vocabulary of 261"},
    {"SymbolNames", [](ModuleSpec &s) { s.symbols[1].name = "T"; },
     "two symbols are named 'T'"},
    {"SymbolBounds", [](ModuleSpec &s) { s.symbols[0].initial = 25; },
     "symbol 'T' starts at 25, which is outside its bounds 1 and 24"},
    {"SymbolCount",
     [](ModuleSpec &s) {
       // Sets of symbols are masks of 64 bits.
       while (s.symbols.size() < 65)
         s.symbols.push_back({"s" + std::to_string(s.symbols.size()), 0, 0, 0});
     },
     "the module has 65 symbols; at most 64 are allowed"},
    {"Expr", [](ModuleSpec &s) { s.exprs[1].steps.clear(); },
     "expression 1: an expression leaves 0 values; expected one"},
    {"Targets",
     [](ModuleSpec &s) {
       while (s.targets.size() < 257)
         s.targets.push_back(s.targets[0]);
     },
     "the module has 257 targets; at most 256 are allowed"},
    {"WeightName", [](ModuleSpec &s) { s.weights[0].name = ""; },
     "a weight has no name"},
    {"WeightShape", [](ModuleSpec &s) { s.weights[0].shape[1] = -9; },
     "weight 'embeddings' has a dimension of -9"},
    {"RandomFormat",
     [](ModuleSpec &s) {
       s.weights[0].random = {0, 1};
       s.weights[0].format = "q4_1";
     },
     "weight 'embeddings': random numbers cannot be stored as 'q4_1'"},
    {"RandomBounds", [](ModuleSpec &s) { s.weights[0].random = {0, -1}; },
     "weight 'embeddings': the mean or the spread of random numbers is not "
     "finite, or the spread is negative"},
    {"RandomSize",
     [](ModuleSpec &s) {
       s.weights[0].random = {0, 1};
       ++s.weights[0].size;
     },
     "weight 'embeddings': 2349 random numbers do not take 9397 bytes"},
    {"RandomCount",
     [](ModuleSpec &s) {
       s.weights[0].random = {0, 1};
       s.weights[0].shape = {int64_t(1) << 40, int64_t(1) << 40};
     },
     "weight 'embeddings': has too many numbers"},
    {"RandomFile",
     [](ModuleSpec &s) {
       s.weights[0].random = {0, 1};
       s.weights[0].file = "model.bin";
     },
     "weight 'embeddings': 2349 random numbers do not take 9396 bytes"},
    {"BufferKind",
     [](ModuleSpec &s) { s.buffers[1].kind = static_cast<BufferKind>(5); },
     "buffer 'tokens': unknown kind 5"},
    {"BufferType",
     [](ModuleSpec &s) { s.buffers[1].type = static_cast<ElementType>(8); },
     "buffer 'tokens': unknown element type 8"},
    {"BufferSize", [](ModuleSpec &s) { s.buffers[1].size = kNone; },
     "buffer 'tokens': size is missing"},
    {"BufferShape", [](ModuleSpec &s) { s.buffers[1].shape = {1000}; },
     "buffer 'tokens': dimension 1000 does not exist; there are 20"},
    {"BufferWeight", [](ModuleSpec &s) { s.buffers[0].base = 1; },
     "buffer 'embeddings': weight 1 does not exist; there are 1"},
    {"ArenaOffset", [](ModuleSpec &s) { s.buffers[3].offset = kNone; },
     "buffer 'rows': offset is missing"},
    {"TargetFormat",
     [](ModuleSpec &s) { s.targets[0].format = static_cast<CodeFormat>(3); },
     "target 'cpu' has code of unknown format 3"},
    {"KernelTarget", [](ModuleSpec &s) { s.kernels[0].code[0].target = 1; },
     "kernel 'embed': target 1 does not exist; there are 1"},
    {"KernelTwice",
     [](ModuleSpec &s) { s.kernels[0].code.push_back(s.kernels[0].code[0]); },
     "kernel 'embed': has code twice for target 'cpu'"},
    {"KernelSymbol", [](ModuleSpec &s) { s.kernels[0].code[0].symbol = ""; },
     "kernel 'embed': has no symbol for target 'cpu'"},
    {"KernelWorkgroup",
     [](ModuleSpec &s) { s.kernels[0].code[0].workgroup[1] = 0; },
     "kernel 'embed': has a workgroup of 0 threads in one direction; "
     "expected 1 to 1024"},
    {"KernelNoCode", [](ModuleSpec &s) { s.kernels[1].code.clear(); },
     "entry 'prefill': command 1: kernel 'append' has no code for target "
     "'cpu'"},
    {"EntryNames", [](ModuleSpec &s) { s.entries[1].name = "prefill"; },
     "two entries are named 'prefill' for one target"},
    {"EntryInput", [](ModuleSpec &s) { s.entries[0].inputs = {5}; },
     "entry 'prefill': buffer 'logits' is not an input"},
    {"EntryOutput", [](ModuleSpec &s) { s.entries[0].outputs = {99}; },
     "entry 'prefill': output 99 does not exist; there are 9"},
    {"EntryArena", [](ModuleSpec &s) { s.entries[0].arenaSize = kNone; },
     "entry 'prefill': command 0: uses the arena, but the entry has none"},
    {"CommandKernel",
     [](ModuleSpec &s) { s.entries[0].commands[2].kernel = 5; },
     "entry 'prefill': command 2: kernel 5 does not exist; there are 5"},
    {"CommandArgs",
     [](ModuleSpec &s) { s.entries[0].commands[0].args.pop_back(); },
     "entry 'prefill': command 0: has 3 arguments, but kernel 'embed' takes 4"},
    {"CommandBuffer",
     [](ModuleSpec &s) { s.entries[0].commands[0].args[0].buffer = 10; },
     "entry 'prefill': command 0: argument's buffer 10 does not exist; there "
     "are 9"},
    {"CommandScalar",
     [](ModuleSpec &s) { s.entries[0].commands[0].args[3].value = kNone; },
     "entry 'prefill': command 0: scalar argument is missing"},
    {"CommandGrid",
     [](ModuleSpec &s) { s.entries[0].commands[0].grid[2] = 4000; },
     "entry 'prefill': command 0: grid 4000 does not exist; there are 20"},
    {"CommandAfter",
     // Itself: a command can wait for earlier ones only.
     [](ModuleSpec &s) { s.entries[0].commands[2].after = {2}; },
     "entry 'prefill': command 2: earlier command 2 does not exist; there are "
     "2"},
    {"StatisticBuffer",
     [](ModuleSpec &s) { s.entries[0].statistics[0].buffer = 12; },
     "entry 'prefill': statistic's buffer 12 does not exist; there are 9"},
    {"StatisticType",
     [](ModuleSpec &s) { s.buffers[8].type = ElementType::F16; },
     "entry 'prefill': statistic 'past' has type f16; expected i32, i64 or "
     "f32"},
    {"ObservationKind",
     [](ModuleSpec &s) {
       s.entries[0].observations = {{static_cast<ObservationKind>(6), 0}};
     },
     "entry 'prefill': observation 0: unknown kind 6"},
    {"ObservationLayer",
     [](ModuleSpec &s) {
       s.entries[0].observations = {{ObservationKind::Keys, -2}};
     },
     "entry 'prefill': observation 0: layer -2 does not exist; expected "
     "-1 or more"},
    {"ObservationGroup",
     [](ModuleSpec &s) {
       s.entries[0].observations = {{ObservationKind::Input, 0, "", {"w"}}};
     },
     "entry 'prefill': observation 0: expected a group and weights for a "
     "linear layer, and neither for anything else"},
    {"ObservationWeights",
     [](ModuleSpec &s) {
       s.entries[0].observations = {{ObservationKind::Keys, 0, "", {"w"}}};
     },
     "entry 'prefill': observation 0: expected a group and weights for a "
     "linear layer, and neither for anything else"},
    {"ObservationOutput",
     [](ModuleSpec &s) {
       s.entries[0].observations = {
           {ObservationKind::Product, 0, "qkv", {"w"}, 1}};
     },
     "entry 'prefill': observation 0: output 1 does not exist; there are 1"},
};

INSTANTIATE_TEST_SUITE_P(Rules, VerifySpec, ::testing::ValuesIn(kRules),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

namespace {
/// One change to a module for two ranks.
struct BrokenRanks {
  const char *name;
  std::function<void(ModuleSpec &, RankSpec &)> breakIt;
  const char *message;
};

void PrintTo(const BrokenRanks &rule, std::ostream *out) { *out << rule.name; }

class VerifyRanks : public ::testing::TestWithParam<BrokenRanks> {};
} // namespace

TEST(VerifySpecs, AcceptsTwoRanks) {
  TinyModel model;
  model.addRanks();
  Status status = verifySpec(model.writer.spec);
  EXPECT_TRUE(status.ok()) << status.text;
  status = verifyRanks(model.writer.spec, model.writer.ranks);
  EXPECT_TRUE(status.ok()) << status.text;
}

TEST_P(VerifyRanks, Refuses) {
  TinyModel model;
  model.addRanks();
  GetParam().breakIt(model.writer.spec, model.writer.ranks);
  // What is wrong is only what ranks do.
  ASSERT_TRUE(verifySpec(model.writer.spec).ok());
  Status status = verifyRanks(model.writer.spec, model.writer.ranks);
  EXPECT_EQ(status.code, Code::BadFile);
  EXPECT_EQ(status.text, GetParam().message);
}

/// The command of the first entry that adds up; the next one gathers.
static CommandSpec &sumOf(ModuleSpec &spec) {
  return *(spec.entries[0].commands.end() - 3);
}

static const BrokenRanks kRankRules[] = {
    {"NoRank", [](ModuleSpec &, RankSpec &r) { r.count = 0; },
     "the module is for 0 ranks; expected 1 to 1024"},
    {"ManyRanks", [](ModuleSpec &, RankSpec &r) { r.count = 1025; },
     "the module is for 1025 ranks; expected 1 to 1024"},
    {"Targets", [](ModuleSpec &, RankSpec &r) { r.targets.pop_back(); },
     "what the module says of 2 ranks does not agree with its targets and "
     "requirements"},
    {"OneRank", [](ModuleSpec &, RankSpec &r) { r = {}; },
     "what the module says of 1 ranks does not agree with its targets and "
     "requirements"},
    {"Rank", [](ModuleSpec &, RankSpec &r) { r.targets[1] = 2; },
     "rank 2 does not exist; there are 2"},
    {"Kernel", [](ModuleSpec &, RankSpec &r) { r.collectives[1].kernel = 7; },
     "kernel 7 does not exist; there are 7"},
    {"Kind",
     [](ModuleSpec &, RankSpec &r) {
       r.collectives[0].kind = static_cast<Collective>(4);
     },
     "kernel 'sum' is of unknown kind 4"},
    {"HandsOnToItself",
     [](ModuleSpec &, RankSpec &r) {
       r.collectives[0].kind = Collective::HandOn;
       r.collectives[0].from = r.collectives[0].to = 1;
     },
     "kernel 'sum' hands on from rank 1 to rank 1; expected two of 2 ranks"},
    {"HandsOnToNobody",
     [](ModuleSpec &, RankSpec &r) {
       r.collectives[0].kind = Collective::HandOn;
       r.collectives[0].to = 2;
     },
     "kernel 'sum' hands on from rank 0 to rank 2; expected two of 2 ranks"},
    {"Code", [](ModuleSpec &, RankSpec &r) { r.collectives[0].kernel = 0; },
     "kernel 'embed' has 4 arguments and code for 2 targets; expected two "
     "arguments and no code"},
    {"ColumnsOfASum",
     [](ModuleSpec &, RankSpec &r) { r.collectives[0].columns = {1, 2}; },
     "kernel 'sum' has columns of 2 ranks; expected 0"},
    {"ColumnsOfEachRank",
     [](ModuleSpec &, RankSpec &r) { r.collectives[1].columns = {9}; },
     "kernel 'gather' has columns of 1 ranks; expected 2"},
    {"NoColumns",
     [](ModuleSpec &, RankSpec &r) { r.collectives[1].columns[0] = 0; },
     "kernel 'gather' has 0 columns of a rank; expected 1 to 2147483647"},
    {"Order",
     [](ModuleSpec &, RankSpec &r) {
       std::swap(r.collectives[0], r.collectives[1]);
     },
     "the collectives are not in the order of their kernels"},
    {"Twice",
     [](ModuleSpec &, RankSpec &r) { r.collectives[1] = r.collectives[0]; },
     "the collectives are not in the order of their kernels"},
    {"KernelWithoutCode",
     [](ModuleSpec &, RankSpec &r) { r.collectives.pop_back(); },
     "entry 'prefill': kernel 'gather' has no code"},
    {"PartOfABuffer",
     [](ModuleSpec &s, RankSpec &) {
       sumOf(s).args[0].value = s.addConstant(4);
     },
     "entry 'prefill': 'sum' has no whole buffer of f32 as argument 0"},
    {"BufferOfIntegers",
     [](ModuleSpec &s, RankSpec &) { sumOf(s).args[1].buffer = 8; },
     "entry 'prefill': 'sum' has no whole buffer of f32 as argument 1"},
    {"WritesAWeight",
     [](ModuleSpec &s, RankSpec &) { sumOf(s).args[1].buffer = 0; },
     "entry 'prefill': 'sum' writes what is only read"},
    {"EntryForAll",
     [](ModuleSpec &s, RankSpec &) { s.entries[0].target = kNone; },
     "entry 'prefill' is for all targets, and so for all ranks; expected one "
     "entry for each rank"},
    {"OtherOrder",
     [](ModuleSpec &s, RankSpec &) {
       std::swap(sumOf(s), s.entries[0].commands[5]);
     },
     "the ranks of entry 'prefill' have different collectives; expected the "
     "same in the same order"},
};

INSTANTIATE_TEST_SUITE_P(Rules, VerifyRanks, ::testing::ValuesIn(kRankRules),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });
