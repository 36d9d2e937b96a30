//===- DraftTest.cpp - Several tokens in one call -------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Conversation.h"

#include "test/unit/TinyModel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

using namespace gist;
using namespace gist::test;

using Tokens = std::vector<int32_t>;

static Tokens lookUp(const Tokens &text, size_t most) {
  Draft draft;
  EXPECT_TRUE(makeLookupDrafter()->draft(text, most, draft).ok());
  EXPECT_TRUE(draft.from.empty());
  return draft.tokens;
}

TEST(Drafts, LookUp) {
  EXPECT_EQ(lookUp({}, 4), Tokens());
  EXPECT_EQ(lookUp({1}, 4), Tokens());
  EXPECT_EQ(lookUp({1, 2, 3, 4}, 4), Tokens());
  // One equal token is not enough.
  EXPECT_EQ(lookUp({1, 2, 3, 1}, 4), Tokens());
  EXPECT_EQ(lookUp({1, 2, 3, 4, 1, 2}, 2), (Tokens{3, 4}));
  // Of two that match as long, the last; of all, the longest.
  EXPECT_EQ(lookUp({1, 2, 3, 1, 2, 4, 1, 2}, 1), (Tokens{4}));
  EXPECT_EQ(lookUp({9, 1, 2, 3, 8, 1, 2, 4, 9, 1, 2}, 1), (Tokens{3}));
  // What repeats itself goes on repeating.
  EXPECT_EQ(lookUp({7, 1, 2, 1, 2}, 5), (Tokens{1, 2, 1, 2, 1}));
  EXPECT_EQ(lookUp({5, 5, 5}, 3), (Tokens{5, 5, 5}));
}

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

static Sampler makeSampler(const SamplerOptions &options) {
  Sampler sampler;
  EXPECT_TRUE(Sampler::create(options, sampler).ok());
  return sampler;
}

/// The statistic of Pearson's test: how far counts are from what is expected.
static double chiSquare(const std::vector<double> &counts,
                        const std::vector<double> &expected) {
  double sum = 0;
  for (size_t i = 0; i < counts.size(); ++i)
    if (expected[i] > 0)
      sum +=
          (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
    else if (counts[i] > 0)
      return INFINITY; // What cannot come has come.
  return sum;
}

/// Beyond this one of a thousand is, with so many degrees of freedom
/// (Wilson and Hilferty's approximation).
static double limitOf(double freedom) {
  double part = 2.0 / (9.0 * freedom);
  return freedom * std::pow(1 - part + 3.0902 * std::sqrt(part), 3);
}

/// Softmax of logits at a temperature, in f64.
static std::vector<double> softmax(const std::vector<float> &logits,
                                   double temperature) {
  std::vector<double> shares;
  double sum = 0;
  for (float logit : logits) {
    shares.push_back(std::exp(static_cast<double>(logit) / temperature));
    sum += shares.back();
  }
  for (double &share : shares)
    share /= sum;
  return shares;
}

// Whatever was drafted, tokens come as often as the model's logits say.
TEST(Drafts, RejectionSamplingKeepsTheDistribution) {
  const std::vector<float> model = {2, 0, 1, -1, 0.5f, -3, 1.5f, 0};
  const std::vector<float> others[] = {
      model,                                    // agrees
      {0, 0, 0, 0, 0, 0, 0, 0},                 // knows nothing
      {-2, 4, -1, 3, -1, 3, -2, 0},             // is mostly wrong
      {9, 0, 0, 0, 0, 0, 0, 0},                 // is too sure
      {-INFINITY, 1, 1, 1, 1, 1, 1, -INFINITY}, // leaves some out
  };
  constexpr size_t kDraws = 100000;
  for (double temperature : {0.7, 1.3})
    for (const std::vector<float> &other : others) {
      auto options = SamplerOptions{
          .temperature = static_cast<float>(temperature), .seed = 11};
      Sampler sampler = makeSampler(options);
      options.seed = 12;
      Sampler drafter = makeSampler(options);
      std::vector<double> counts(model.size()), drafted(model.size());
      for (size_t i = 0; i < kDraws; ++i) {
        Distribution from;
        ASSERT_TRUE(drafter.distribution(other, from).ok());
        int32_t guess = drafter.drawFrom(from), token = -1;
        ASSERT_TRUE(sampler.verify(model, guess, from, token).ok());
        ++counts[static_cast<size_t>(token)];
        ++drafted[static_cast<size_t>(guess)];
      }
      std::vector<double> expected = softmax(model, temperature);
      for (double &share : expected)
        share *= kDraws;
      EXPECT_LT(chiSquare(counts, expected), limitOf(7));
      // The test would notice if drafts were taken as they are.
      if (&other != &others[0])
        EXPECT_GT(chiSquare(drafted, expected), 1000);
    }
}

// The same with filters and a bias: of what they leave.
TEST(Drafts, RejectionSamplingWithFilters) {
  const std::vector<float> model = {2, 0, 1, -1, 0.5f, -3, 1.5f, 0};
  const std::vector<float> other = {0, 2, 1, 1, 1, 1, 0, 3};
  SamplerOptions options{.temperature = 1, .topK = 4, .seed = 3};
  options.biases = {{0, -INFINITY}, {3, 3.0f}};
  Sampler sampler = makeSampler(options);
  Sampler drafter = makeSampler({.temperature = 1, .topP = 0.9f, .seed = 4});
  constexpr size_t kDraws = 100000;
  std::vector<double> counts(model.size());
  for (size_t i = 0; i < kDraws; ++i) {
    Distribution from;
    ASSERT_TRUE(drafter.distribution(other, from).ok());
    int32_t token = -1;
    ASSERT_TRUE(
        sampler.verify(model, drafter.drawFrom(from), from, token).ok());
    ++counts[static_cast<size_t>(token)];
  }
  // Of -inf, 0, 1, 2, .5, -3, 1.5, 0 the four best are left.
  std::vector<double> expected = {
      0, 0, std::exp(1.0), std::exp(2.0), std::exp(0.5), 0, std::exp(1.5), 0};
  double sum = std::exp(1.0) + std::exp(2.0) + std::exp(0.5) + std::exp(1.5);
  for (double &share : expected)
    share *= kDraws / sum;
  EXPECT_LT(chiSquare(counts, expected), limitOf(3));
}

//===----------------------------------------------------------------------===//
// Whole texts
//===----------------------------------------------------------------------===//

namespace {
/// Knows the answer and gets every `wrongEach`-th token wrong.
class Oracle final : public Drafter {
public:
  Oracle(Tokens whole, size_t wrongEach)
      : whole(std::move(whole)), wrongEach(wrongEach) {}
  Status begin(const SamplerOptions &) override { return {}; }
  bool isFree() const override { return false; }
  Status draft(std::span<const int32_t> text, size_t most,
               Draft &result) override {
    result = {};
    for (size_t i = text.size();
         i < whole.size() && result.tokens.size() < most; ++i)
      result.tokens.push_back(i % wrongEach == 0 ? whole[i] ^ 1 : whole[i]);
    return {};
  }

private:
  Tokens whole;
  size_t wrongEach;
};

/// A word that counts calls is all that the tiny model cannot take back.
static void clearOnReset(TinyModel &model, bool isCleared) {
  for (BufferSpec &buffer : model.writer.spec.buffers)
    if (buffer.name == "count")
      buffer.zeroOnReset = isCleared;
}

class DraftTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(openDevice("cpu", {.threads = 2}, device).ok());
    clearOnReset(model, false);
    open();
    tokenizer.encode("hello hello", prompt);
  }

  void open() {
    ASSERT_TRUE(Module::open(model.write(folder.file("m.gist")), module).ok());
    ASSERT_TRUE(loadTokenizer(*module, tokenizer).ok());
    ASSERT_TRUE(
        Session::create(module, *device, {.context = 300}, session).ok());
  }

  /// Another model of the same tokenizer.
  std::shared_ptr<Drafter> makeModel(uint32_t seed) {
    TinyModel other(seed);
    clearOnReset(other, false);
    std::shared_ptr<const Module> draft;
    EXPECT_TRUE(Module::open(other.write(folder.file("d.gist")), draft).ok());
    std::unique_ptr<Drafter> made;
    Status status = makeModuleDrafter(draft, *device, /*trust=*/true, *module,
                                      session->capacity(), tokenizer, made);
    EXPECT_TRUE(status.ok()) << status.text;
    return made;
  }

  GenerateResult write(const GenerateOptions &options) {
    EXPECT_TRUE(session->reset().ok());
    GenerateResult result;
    Status status =
        generate(*session, tokenizer, prompt, options, nullptr, result);
    EXPECT_TRUE(status.ok()) << status.text;
    return result;
  }

  TemporaryFolder folder;
  TinyModel model;
  std::unique_ptr<Device> device;
  std::shared_ptr<const Module> module;
  std::unique_ptr<Session> session;
  Tokenizer tokenizer;
  Tokens prompt;
};
} // namespace

TEST_F(DraftTest, GreedyTextsAreThoseWithoutDrafts) {
  GenerateOptions options{.maxTokens = 120, .ignoreEnd = true};
  GenerateResult plain = write(options);
  ASSERT_EQ(plain.tokens.size(), 120u);
  EXPECT_EQ(plain.drafts.calls, 0);
  Tokens whole = prompt;
  whole.insert(whole.end(), plain.tokens.begin(), plain.tokens.end());
  for (size_t count : {0, 1, 2, 5, 15}) {
    options.draftTokens = count;
    options.drafter = makeLookupDrafter();
    EXPECT_EQ(write(options).tokens, plain.tokens);
    for (uint32_t seed : {7, 8}) {
      options.drafter = makeModel(seed);
      EXPECT_EQ(write(options).tokens, plain.tokens) << seed;
    }
    for (size_t wrongEach : {2, 3, 7, 1000}) {
      options.drafter = std::make_shared<Oracle>(whole, wrongEach);
      GenerateResult result = write(options);
      EXPECT_EQ(result.tokens, plain.tokens) << wrongEach;
      // All but the last were fed.
      EXPECT_EQ(session->position(), static_cast<int64_t>(prompt.size()) + 119);
    }
  }
}

// Of drafts that are right, all are taken: 119 tokens in calls of 6.
TEST_F(DraftTest, RightDraftsAreAccepted) {
  GenerateOptions options{.maxTokens = 121, .ignoreEnd = true};
  options.draftTokens = 5;
  options.drafter = makeModel(7); // The model itself.
  GenerateResult result = write(options);
  EXPECT_EQ(result.drafts.calls, 20); // 120 after the first
  EXPECT_EQ(result.drafts.drafted, 100);
  EXPECT_EQ(result.drafts.accepted, 100);
}

// A guess that is certain costs no random number: a seed gives one text.
TEST_F(DraftTest, SeedsGiveTheSameText) {
  GenerateOptions options{.maxTokens = 100, .ignoreEnd = true};
  options.sampler.temperature = 0.5f;
  options.sampler.seed = 5;
  options.sampler.frequencyPenalty = 0.01f;
  GenerateResult plain = write(options);
  Tokens whole = prompt;
  whole.insert(whole.end(), plain.tokens.begin(), plain.tokens.end());
  options.draftTokens = 4;
  options.drafter = makeLookupDrafter();
  EXPECT_EQ(write(options).tokens, plain.tokens);
  options.drafter = std::make_shared<Oracle>(whole, 3);
  GenerateResult result = write(options);
  EXPECT_EQ(result.tokens, plain.tokens);
  EXPECT_GT(result.drafts.accepted, 40);
}

// A guess is taken only where the grammar allows it, and a text under a grammar
// is the same with and without guesses.
TEST_F(DraftTest, GrammarsHoldForDrafts) {
  auto grammar = std::make_shared<Grammar>();
  ASSERT_TRUE(parseGrammar("root ::= [ab]{12} \"-\" [c-f]{12}", *grammar).ok());
  auto matches = [](const std::string &text) {
    return text.size() == 25 && text.find_first_not_of("ab") == 12 &&
           text[12] == '-' &&
           text.find_first_not_of("cdef", 13) == std::string::npos;
  };
  for (float temperature : {0.0f, 1.0f}) {
    GenerateOptions options{.maxTokens = 40};
    options.sampler.temperature = temperature;
    options.sampler.seed = 9;
    options.grammar = grammar;
    GenerateResult plain = write(options);
    EXPECT_TRUE(matches(plain.text)) << plain.text;
    EXPECT_EQ(plain.reason, FinishReason::EndToken);
    Tokens whole = prompt;
    whole.insert(whole.end(), plain.tokens.begin(), plain.tokens.end());
    options.draftTokens = 4;
    // What is right, followed by guesses after the end; wrong ones; and ones
    // that the grammar never allows.
    Tokens longer = whole;
    longer.insert(longer.end(), 20, 'a');
    options.drafter = std::make_shared<Oracle>(longer, 1000);
    GenerateResult drafted = write(options);
    EXPECT_EQ(drafted.tokens, plain.tokens);
    EXPECT_GE(drafted.drafts.accepted, 20);
    options.drafter = std::make_shared<Oracle>(whole, 3);
    EXPECT_EQ(write(options).tokens, plain.tokens);
    options.drafter = std::make_shared<Oracle>(Tokens(100, 'x'), 1000);
    drafted = write(options);
    EXPECT_EQ(drafted.tokens, plain.tokens);
    EXPECT_EQ(drafted.drafts.accepted, 0);
    // A model guesses without the grammar.
    options.drafter = makeModel(7);
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      options.sampler.seed = seed;
      drafted = write(options);
      EXPECT_TRUE(matches(drafted.text)) << drafted.text;
      EXPECT_GT(drafted.drafts.drafted, 0);
    }
  }
}

// The grammar has the last word over biases, and says so where nothing is left.
TEST_F(DraftTest, GrammarsComeAfterBiases) {
  auto grammar = std::make_shared<Grammar>();
  ASSERT_TRUE(parseGrammar("root ::= [ab]{6}", *grammar).ok());
  GenerateOptions options{.maxTokens = 40};
  options.grammar = grammar;
  options.sampler.biases = {{'x', 1000.0f}, {'b', 500.0f}};
  EXPECT_EQ(write(options).text, "bbbbbb");
  options.sampler.minTokens = 10;
  GenerateResult result;
  ASSERT_TRUE(session->reset().ok());
  Status status =
      generate(*session, tokenizer, prompt, options, nullptr, result);
  EXPECT_EQ(status.text,
            "the grammar allows here only tokens that biases, the least length "
            "or the model forbid; change the grammar or one of those");
  EXPECT_EQ(result.text, "bbbbbb");
}

// Whole loops, with the drafts of another model: the third token of many texts
// has the same distribution as without drafts.
TEST_F(DraftTest, SampledTextsHaveTheSameDistribution) {
  constexpr size_t kTexts = 4000, kBins = 16;
  GenerateOptions options{.maxTokens = 4, .ignoreEnd = true};
  options.sampler.temperature = 0.1f;
  options.draftTokens = 3;
  auto count = [&](std::shared_ptr<Drafter> drafter, uint64_t firstSeed,
                   int64_t &accepted) {
    options.drafter = std::move(drafter);
    std::vector<double> bins(kBins);
    for (size_t i = 0; i < kTexts; ++i) {
      options.sampler.seed = firstSeed + i;
      GenerateResult result = write(options);
      accepted += result.drafts.accepted;
      ++bins[static_cast<size_t>(result.tokens[2]) % kBins];
    }
    return bins;
  };
  int64_t none = 0, accepted = 0;
  std::vector<double> plain = count(nullptr, 1, none);
  std::vector<double> drafted = count(makeModel(8), 100000, accepted);
  EXPECT_EQ(none, 0);
  EXPECT_GT(accepted, 0);
  // Of two samples of the same size: (a - b)^2 / (a + b).
  double sum = 0;
  for (size_t i = 0; i < kBins; ++i)
    if (plain[i] + drafted[i] > 0)
      sum += (plain[i] - drafted[i]) * (plain[i] - drafted[i]) /
             (plain[i] + drafted[i]);
  EXPECT_LT(sum, limitOf(kBins - 1));
}

// What was read ahead is forgotten when a text ends in the middle of it.
TEST_F(DraftTest, TextsEndAsWithoutDrafts) {
  GenerateOptions options{.maxTokens = 60, .ignoreEnd = true};
  GenerateResult whole = write(options);
  Tokens text = prompt;
  text.insert(text.end(), whole.tokens.begin(), whole.tokens.end());
  options.stopTokens = {whole.tokens[20]};
  options.feedLast = true;
  GenerateResult plain = write(options);
  int64_t position = session->position();
  std::vector<float> logits(session->logits().begin(), session->logits().end());
  options.drafter = std::make_shared<Oracle>(text, 1000);
  options.draftTokens = 15;
  GenerateResult drafted = write(options);
  EXPECT_EQ(drafted.tokens, plain.tokens);
  EXPECT_EQ(drafted.reason, FinishReason::EndToken);
  EXPECT_EQ(session->position(), position);
  EXPECT_EQ(logits, std::vector<float>(session->logits().begin(),
                                       session->logits().end()));
}

TEST_F(DraftTest, FullContextEndsAText) {
  GenerateOptions options{.ignoreEnd = true};
  GenerateResult plain = write(options);
  EXPECT_EQ(plain.reason, FinishReason::ContextFull);
  Tokens text = prompt;
  text.insert(text.end(), plain.tokens.begin(), plain.tokens.end());
  options.drafter = std::make_shared<Oracle>(text, 11);
  options.draftTokens = 15;
  GenerateResult drafted = write(options);
  EXPECT_EQ(drafted.tokens, plain.tokens);
  EXPECT_EQ(drafted.reason, FinishReason::ContextFull);
}

// A stream of a conversation that is left half-way knows what was seen.
TEST_F(DraftTest, ConversationsGoOn) {
  Conversation conversation(*session);
  GenerateOptions options{.maxTokens = 40, .ignoreEnd = true};
  options.draftTokens = 6;
  options.drafter = makeModel(7);
  ASSERT_TRUE(conversation.begin(tokenizer, prompt, options).ok());
  std::optional<TokenPiece> piece;
  Tokens given = prompt;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(conversation.next(piece).ok());
    given.push_back(piece->token);
  }
  ASSERT_TRUE(conversation.end().ok());
  Tokens seen(conversation.tokens().begin(), conversation.tokens().end());
  given.pop_back(); // The last token is not fed.
  EXPECT_EQ(seen, given);
  EXPECT_TRUE(conversation.feed(Tokens{1}).ok());
}

TEST_F(DraftTest, ModulesThatCannotDraftAreRefused) {
  GenerateOptions options{.maxTokens = 5};
  options.drafter = makeLookupDrafter();
  GenerateResult result;
  clearOnReset(model, true);
  open();
  Status status =
      generate(*session, tokenizer, prompt, options, nullptr, result);
  EXPECT_EQ(status.code, Code::Unsupported);
  EXPECT_NE(status.text.find("cannot go back"), std::string::npos)
      << status.text;

  clearOnReset(model, false);
  std::erase_if(model.writer.spec.entries, [](const EntrySpec &entry) {
    return entry.name == kEntryScore;
  });
  open();
  status = generate(*session, tokenizer, prompt, options, nullptr, result);
  EXPECT_EQ(status.code, Code::Unsupported);
  EXPECT_NE(status.text.find("--logits=all"), std::string::npos) << status.text;
}

//===----------------------------------------------------------------------===//
// How many
//===----------------------------------------------------------------------===//

namespace {
/// What a call of so many rows takes, in calls for one token.
using Curve = std::function<double(size_t rows)>;

/// A machine on which calls take made-up times.
struct Machine {
  Curve curve;
  double perDraft;   ///< of a call for one token: drafting one
  double acceptance; ///< of a drafted token
  DraftGovernor governor = {};

  /// Time per token of a text, in calls for one token.
  double run(bool isFree, size_t tokens) {
    constexpr double kCall = 1e6;
    auto nanoseconds = [](double calls) {
      return static_cast<int64_t>(calls * kCall);
    };
    for (size_t rows : DraftGovernor::kTrials)
      governor.noteTrial(rows, nanoseconds(curve(rows)));
    governor.begin(isFree);
    if (!governor.knowsDrafting())
      governor.noteDrafting(nanoseconds(perDraft));
    std::mt19937 random(3); // NOLINT(bugprone-random-generator-seed)
    auto isRight = [&] {
      return static_cast<double>(random() % 10000) < 10000 * acceptance;
    };
    double time = 0;
    for (size_t drawn = 0; drawn < tokens;) {
      size_t count = governor.choose(15), accepted = 0;
      if (count == 0) {
        governor.notePlain(nanoseconds(1));
        if (isFree)
          governor.noteGuess(isRight());
        time += 1;
        ++drawn;
        continue;
      }
      while (accepted < count && isRight())
        ++accepted;
      double draft = perDraft * static_cast<double>(count);
      double verify = curve(count + 1);
      governor.noteDraft(count, accepted, nanoseconds(draft),
                         nanoseconds(verify));
      time += draft + verify;
      drawn += accepted + 1;
    }
    return time / static_cast<double>(tokens);
  }
};
} // namespace

/// Every row more costs the same.
static Curve line(double perRow) {
  return
      [=](size_t rows) { return 1 + perRow * static_cast<double>(rows - 1); };
}

/// Kernels with tiles of 16 rows: two rows cost nearly as much as sixteen.
static double tiles(size_t rows) {
  return rows == 1 ? 1 : 2.5 + 0.6 / 14 * static_cast<double>(rows - 2);
}

// Drafts that are worth nothing cost less than 3 % of a text, and those that
// are worth something are made.
TEST(Drafts, GovernorLosesLittle) {
  for (const Curve &curve :
       {line(0.02), line(0.3), line(1.0), line(2.0), Curve(tiles)})
    for (double perDraft : {0.0, 0.3, 1.0})
      for (double acceptance : {0.0, 0.2, 0.5, 0.6, 0.7})
        for (size_t tokens : {128, 2000})
          EXPECT_LT(
              (Machine{curve, perDraft, acceptance}.run(perDraft == 0, tokens)),
              1 / 0.97)
              << curve(2) << " " << perDraft << " " << acceptance << " "
              << tokens;
}

// Short texts of one session share what they may lose.
TEST(Drafts, GovernorLosesLittleInManyTexts) {
  Machine machine{tiles, 0.1, 0.3};
  double time = 0;
  for (int i = 0; i < 100; ++i)
    time += machine.run(false, 20);
  EXPECT_LT(time / 100, 1 / 0.97);
}

TEST(Drafts, GovernorGainsWhereItCan) {
  // Sixteen rows cost 1.75 of one, and nine of ten guesses are right: with 15
  // tokens 8.1 are expected for 1.75.
  EXPECT_LT((Machine{line(0.05), 0, 0.9}.run(true, 2000)), 0.3);
  // A draft model of a third of the time, seven of ten right: three tokens give
  // 2.5 of 2.15.
  EXPECT_LT((Machine{line(0.05), 0.33, 0.7}.run(false, 2000)), 0.95);
  EXPECT_LT((Machine{line(0.1), 0.1, 0.8}.run(false, 2000)), 0.6);
}

// Where two rows cost 2.5 and sixteen 3.1, nothing but long drafts pays: of 15
// tokens with .95 right each 11.2 are expected for 3.1, of one 1.95 for 2.5.
TEST(Drafts, GovernorFindsTheSizeThatPays) {
  EXPECT_LT((Machine{tiles, 0, 0.95}.run(true, 256)), 0.4);
  EXPECT_LT((Machine{tiles, 0, 1}.run(true, 256)), 0.3);
  EXPECT_LT((Machine{tiles, 0.02, 0.95}.run(false, 2000)), 0.45);
}

// A size that was tried while the machine was busy is tried again.
TEST(Drafts, GovernorForgetsACostThatWasHigh) {
  Machine machine{tiles, 0, 0.95};
  for (size_t rows : DraftGovernor::kTrials)
    machine.governor.noteTrial(rows, 5'000'000);
  machine.curve = [](size_t rows) { return rows == 1 ? 1 : 5.5; };
  EXPECT_LT(machine.run(true, 2000), 0.75);
  machine.curve = tiles;
  EXPECT_LT(machine.run(true, 2000), 0.4);
}
