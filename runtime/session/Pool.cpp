//===- Pool.cpp - Many sequences of one model at once ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A prompt is cut at multiples of the chunk, whatever the other sequences are:
// so a sequence is computed in the same pieces in every mix, and a chunk that
// two prompts begin with is the same to the bit whichever of them computed it.
// The bulk of a prompt, which a plan of depths reduces, depends on its length:
// two prompts share what is of the bulk in both or in neither.
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Pool.h"

#include "runtime/session/Batch.h"
#include "runtime/session/CheckTokens.h"
#include "runtime/session/LoneSequence.h"
#include "runtime/session/ModuleCode.h"
#include "runtime/session/PrefillCalls.h"
#include "runtime/session/PromptPrefixes.h"
#include "runtime/session/WeightMemory.h"
#include "runtime/support/Checked.h"
#include "runtime/support/OutOfMemory.h"

#include <algorithm>
#include <cinttypes>
#include <optional>
#include <utility>

using namespace gist;

/// State is reserved for multiples of so many tokens, so that sequences of
/// nearly the same length have states of the same size.
static constexpr int64_t kCapacityStep = 64;

namespace {
/// A sequence that runs. The tokens of its request are the prompt's by now.
struct Sequence : ReadPrompt {
  SequenceId id = 0;
  PoolRequest request;
  Sampler sampler;
  std::vector<int32_t> written = {}; ///< of the answer
  uint64_t served = 0; ///< when it last had a piece of prompt, in steps
};

/// Tokens that one call takes.
struct Rows {
  std::vector<BatchPiece> pieces;
  std::vector<int32_t> tokens;
};

/// What one sequence does in a step.
struct Turn {
  Sequence *sequence = nullptr;
  int64_t tokens = 0;
  int64_t row = 0; ///< the first
  /// Of a turn that ends with a token of the answer.
  bool writes = false;
  SampleSettings settings = {};
  std::optional<size_t> draw = {};   ///< its number; none: the host draws
  std::optional<int32_t> drawn = {}; ///< by the kernels of a session
  Draft draft = {}; ///< of one that is alone: what its last tokens are
};

class PoolOfSequences final : public Pool {
public:
  PoolOfSequences(std::shared_ptr<const Module> module, Device &device,
                  const PoolOptions &options)
      : source(std::move(module)), device(device), options(options) {}
  Status initialize();

  Status add(PoolRequest request, SequenceId &id) override;
  bool remove(SequenceId id) override;
  Status step(std::vector<PoolEvent> &events) override;
  Status stateBytes(int64_t tokens, uint64_t &bytes) const override;
  int64_t size() const override {
    return static_cast<int64_t>(sequences.size());
  }
  PoolCounters counters() const override;
  int64_t capacity() const override { return context; }
  int64_t chunk() const override { return chunkTokens; }
  const Module &module() const override { return *source; }

private:
  Status chooseLimits(const EntrySpec &entry);
  Status makeBatches(const EntrySpec &entry);
  Status chooseMemory();
  Status check(const PoolRequest &request) const;
  int64_t reservedTokens(int64_t tokens) const;
  Status reserve(int64_t tokens, std::unique_ptr<SequenceState> &state);
  void findBulk(Sequence &sequence) const;
  void keepPrefix(const Sequence &sequence, int64_t tokens);
  void end(std::unique_ptr<Sequence> sequence);

  int64_t pieceOf(const Sequence &sequence) const;
  Status takeOver(Sequence &sequence);
  Status chooseReaders(std::vector<Turn> &turns);
  static void addRows(Turn &turn, Rows &rows);
  Status run(std::vector<Turn> &turns, std::vector<RowRange> &wanted);
  void finishTurn(const Turn &turn, const std::vector<RowRange> &wanted,
                  PoolEvent &event);
  void write(const Turn &turn, size_t number, std::span<const float> logits,
             PoolEvent &event);
  Status measureDrafts();
  Status addDraft(Turn &turn);
  void finishDraft(const Turn &turn, const std::vector<RowRange> &wanted,
                   std::vector<PoolEvent> &events);

  std::shared_ptr<const Module> source;
  Device &device;
  PoolOptions options;
  uint32_t target = kNone;
  std::unique_ptr<DeviceCode> code;
  std::vector<DeviceMemory> weights;
  MemoryMap map;
  StateLayout layout;
  std::unique_ptr<Batch> batch;       ///< after what it points to
  PromptBulk bulk;                    ///< of the module's plan
  std::unique_ptr<Batch> bulkBatch;   ///< null: prompts have no bulk
  std::unique_ptr<LoneSequence> lone; ///< null: not wanted, or not possible
  int64_t context = 0, chunkTokens = 0, most = 0;
  int64_t draftRows = 0; ///< tokens of a call with guesses at most
  uint64_t stateLimit = 0;
  SequenceId lastId = 0;
  std::vector<std::unique_ptr<Sequence>> sequences; ///< in order of their ids
  PromptPrefixes prefixes;                          ///< of those before
  uint64_t usedBytes = 0;
  PoolCounters total;
  DraftGovernor governor;
  std::optional<Drafting> drafting; ///< none: nothing is drafted
  SequenceId draftedFor = 0;        ///< whose text the drafter began
  std::vector<float> adjusted;
};
} // namespace

//===----------------------------------------------------------------------===//
// Making it
//===----------------------------------------------------------------------===//

Status Pool::create(std::shared_ptr<const Module> module, Device &device,
                    const PoolOptions &options,
                    std::unique_ptr<Pool> &result) try {
  auto pool =
      std::make_unique<PoolOfSequences>(std::move(module), device, options);
  GIST_TRY(pool->initialize());
  result = std::move(pool);
  return {};
}
GIST_CATCH_OUT_OF_MEMORY

Status PoolOfSequences::initialize() {
  const ModuleSpec &spec = source->spec();
  if (options.context < 0 || options.sequences < 1 || options.chunk < 0 ||
      options.prefixes < 0)
    return Status::error(Code::BadArgument,
                         "a pool has at least one sequence, and its sizes "
                         "cannot be negative");
  if (source->ranks().count > 1)
    return Status::error(Code::Unsupported,
                         "many sequences at once need a module for one rank; "
                         "this one is for %u",
                         source->ranks().count);
  GIST_TRY(chooseTarget(device, spec, target));
  const EntrySpec *entry = source->findEntry(kEntryScore, target);
  if (!entry || !source->findEntry(kEntryPrefill, target))
    return Status::error(Code::Unsupported,
                         "many sequences at once need a model that writes text "
                         "and the logits of every token; the module has no "
                         "entry '%s' (gist-compile --logits=all)",
                         entry ? kEntryPrefill : kEntryScore);
  GIST_TRY(StateLayout::create(*source, *entry, layout));
  GIST_TRY(chooseLimits(*entry));
  if (options.drafter && !layout.isByPosition())
    return Status::error(Code::BadArgument,
                         "drafts need a state of rows by position, and this "
                         "module has more; run it without drafts");
  GIST_TRY(loadModuleCode(*source, target, options.trust, device, code));
  GIST_TRY(loadWeights(*source, device, target, weights, map));
  GIST_TRY(makeBatches(*entry));
  if (options.fastAlone)
    GIST_TRY(LoneSequence::create(*source, target, device, *code, map, context,
                                  lone));
  GIST_TRY(chooseMemory());
  return measureDrafts();
}

/// Tokens of a sequence, of a chunk, and how many sequences there can be.
Status PoolOfSequences::chooseLimits(const EntrySpec &entry) {
  const ModuleSpec &spec = source->spec();
  uint32_t symbolC = source->findSymbol(kSymbolCapacity);
  uint32_t symbolT = source->findSymbol(kSymbolTokens);
  if (symbolC == kNone || symbolT == kNone)
    return Status::error(Code::Unsupported,
                         "many sequences at once need a model with a cache");
  const SymbolSpec &capacity = spec.symbols[symbolC];
  context = options.context == 0 ? capacity.initial : options.context;
  if (context < capacity.min || context > capacity.max)
    return Status::error(Code::BadArgument,
                         "a context of %" PRId64 " tokens is outside the range "
                         "%" PRId64 " to %" PRId64
                         " that the module was compiled for",
                         context, capacity.min, capacity.max);
  int64_t mostRows = spec.symbols[symbolT].max;
  if (entry.maxTokens != 0)
    mostRows = std::min(mostRows, entry.maxTokens);
  int64_t block = spec.model.prefillChunk;
  chunkTokens = options.chunk;
  if (chunkTokens == 0)
    chunkTokens = block != 0 ? block : device.numbersByAddress() ? 512 : 128;
  // A step has a row for every sequence and those of a chunk.
  most = std::clamp<int64_t>(options.sequences, 1,
                             std::max<int64_t>(mostRows - 1, 1));
  chunkTokens = std::clamp<int64_t>(chunkTokens, 1,
                                    std::max<int64_t>(mostRows - most, 1));
  if (options.drafter)
    draftRows =
        std::min(static_cast<int64_t>(DraftGovernor::kMostRows), mostRows);
  return {};
}

Status PoolOfSequences::makeBatches(const EntrySpec &entry) {
  BatchLimits limits;
  limits.pieces = std::max(most, draftRows);
  limits.rows = std::max(chunkTokens + most, draftRows);
  limits.rowsOfLong = chunkTokens;
  limits.wanted = limits.rows;
  limits.capacity = context;
  GIST_TRY(Batch::create(*source, entry,
                         source->findEntry(kEntryPrefill, target), target,
                         device, *code, map, limits, batch));
  batch->setProfile(options.profile);
  GIST_TRY(PromptBulk::create(source->spec().model, bulk));
  const EntrySpec *read = source->findEntry(kEntryRead, target);
  if (!bulk.first || !read)
    return {};
  limits.pieces = most;
  limits.rows = chunkTokens;
  limits.wanted = 0;
  GIST_TRY(Batch::create(*source, *read, nullptr, target, device, *code, map,
                         limits, bulkBatch));
  bulkBatch->setProfile(options.profile);
  return {};
}

Status PoolOfSequences::chooseMemory() {
  uint64_t each = 0;
  GIST_TRY(stateBytes(context, each));
  uint64_t limit = 0;
  if (mulOverflows(each, static_cast<uint64_t>(options.prefixes), limit))
    limit = UINT64_MAX;
  prefixes.set(layout, chunkTokens, limit);
  stateLimit = options.memory;
  if (stateLimit != 0)
    return {};
  if (mulOverflows(each, static_cast<uint64_t>(most), stateLimit))
    stateLimit = UINT64_MAX;
  DeviceInfo info = device.info();
  uint64_t available = device.numbersByAddress() ? info.memoryFree / 10 * 9
                                                 : info.memoryTotal / 2;
  if (available != 0)
    stateLimit = std::min(stateLimit, available);
  return {};
}

//===----------------------------------------------------------------------===//
// Joining and leaving
//===----------------------------------------------------------------------===//

int64_t PoolOfSequences::reservedTokens(int64_t tokens) const {
  int64_t steps = (tokens + kCapacityStep - 1) / kCapacityStep;
  return std::min(steps * kCapacityStep, context);
}

Status PoolOfSequences::stateBytes(int64_t tokens, uint64_t &bytes) const {
  return layout.bytes(reservedTokens(tokens), bytes);
}

Status PoolOfSequences::check(const PoolRequest &request) const {
  if (request.tokens.empty())
    return Status::error(Code::BadArgument, "no tokens were given");
  if (request.maxTokens < 0)
    return Status::error(Code::BadArgument,
                         "%" PRId64 " tokens cannot be written",
                         request.maxTokens);
  GIST_TRY(checkTokens(request.tokens, source->spec().model.vocabSize));
  auto prompt = static_cast<int64_t>(request.tokens.size());
  if (prompt > context || request.maxTokens > context - prompt)
    return Status::error(Code::BadArgument,
                         "a prompt of %" PRId64
                         " tokens and an answer of up to "
                         "%" PRId64 " do not fit a context of %" PRId64,
                         prompt, request.maxTokens, context);
  return {};
}

/// Takes memory for a sequence, from prefixes if need be.
Status PoolOfSequences::reserve(int64_t tokens,
                                std::unique_ptr<SequenceState> &state) {
  uint64_t bytes = 0;
  GIST_TRY(stateBytes(tokens, bytes));
  if (bytes > stateLimit)
    return Status::error(Code::BadArgument,
                         "a sequence of %" PRId64 " tokens needs %" PRIu64
                         " bytes of state, but there are %" PRIu64,
                         tokens, bytes, stateLimit);
  if (usedBytes > stateLimit - bytes)
    return Status::error(Code::OutOfMemory,
                         "there is no room now: %" PRIu64 " bytes of %" PRIu64
                         " are taken, and the sequence needs %" PRIu64,
                         usedBytes, stateLimit, bytes);
  prefixes.shrinkTo(stateLimit - usedBytes - bytes);
  while (true) {
    Status status =
        SequenceState::create(layout, device, reservedTokens(tokens), state);
    // Another process may have taken memory that was free.
    if (status.code != Code::OutOfMemory || !prefixes.forgetOne())
      return status;
  }
}

void PoolOfSequences::findBulk(Sequence &sequence) const {
  // Logits of a token need all layers.
  if (!bulkBatch || sequence.request.promptLogprobs >= 0)
    return;
  PromptBulk::Range range = bulk.find(sequence.tokens.size(), 0);
  sequence.bulk = {static_cast<int64_t>(range.begin),
                   static_cast<int64_t>(range.end)};
}

Status PoolOfSequences::add(PoolRequest request, SequenceId &id) {
  GIST_TRY(check(request));
  auto sequence = std::make_unique<Sequence>();
  GIST_TRY(Sampler::create(request.sampler, sequence->sampler));
  if (size() >= most)
    return Status::error(Code::OutOfMemory,
                         "there is no room now: %" PRId64
                         " sequences are running, and that is the most",
                         size());
  auto prompt = static_cast<int64_t>(request.tokens.size());
  GIST_TRY(reserve(prompt + request.maxTokens, sequence->state));
  usedBytes += sequence->state->bytes();
  sequence->sampler.see(request.tokens);
  sequence->tokens = std::move(request.tokens);
  sequence->request = std::move(request);
  findBulk(*sequence);
  prefixes.nameChunks(*sequence);
  sequence->id = ++lastId;
  id = lastId;
  ++total.added;
  sequences.push_back(std::move(sequence));
  return {};
}

void PoolOfSequences::keepPrefix(const Sequence &sequence, int64_t tokens) {
  prefixes.keep(sequence, tokens, stateLimit - usedBytes);
}

void PoolOfSequences::end(std::unique_ptr<Sequence> sequence) {
  usedBytes -= sequence->state->bytes();
  if (layout.isByPosition())
    keepPrefix(*sequence, sequence->read());
}

bool PoolOfSequences::remove(SequenceId id) {
  auto found = std::find_if(
      sequences.begin(), sequences.end(),
      [&](const std::unique_ptr<Sequence> &each) { return each->id == id; });
  if (found == sequences.end())
    return false;
  end(std::move(*found));
  sequences.erase(found);
  ++total.removed;
  return true;
}

PoolCounters PoolOfSequences::counters() const {
  PoolCounters result = total;
  for (const std::unique_ptr<Sequence> &sequence : sequences)
    ++(sequence->isReading() ? result.reading : result.writing);
  result.kept = static_cast<int64_t>(prefixes.size());
  result.stateBytes = usedBytes + prefixes.bytes();
  result.stateLimit = stateLimit;
  result.launches = batch->launches() + (bulkBatch ? bulkBatch->launches() : 0);
  return result;
}

//===----------------------------------------------------------------------===//
// Turns of a step
//===----------------------------------------------------------------------===//

/// How many tokens of its prompt a sequence reads next: up to a multiple of the
/// chunk, and of the module's block where it has one, and to where the bulk
/// begins or ends.
int64_t PoolOfSequences::pieceOf(const Sequence &sequence) const {
  int64_t past = sequence.past;
  int64_t piece =
      std::min(chunkTokens - past % chunkTokens, sequence.prompt() - past);
  for (int64_t end : {sequence.bulk.begin, sequence.bulk.end})
    if (past < end)
      piece = std::min(piece, end - past);
  int64_t block = source->spec().model.prefillChunk;
  return block == 0 ? piece : std::min(piece, block - past % block);
}

/// Takes over what is there of the prompt already.
Status PoolOfSequences::takeOver(Sequence &sequence) {
  // Rows that are taken over have no logits.
  if (sequence.request.promptLogprobs >= 0)
    return {};
  std::vector<const ReadPrompt *> others;
  for (const std::unique_ptr<Sequence> &other : sequences)
    if (other.get() != &sequence)
      others.push_back(other.get());
  int64_t before = sequence.past;
  GIST_TRY(prefixes.takeOver(sequence, others));
  total.prefixTokens += static_cast<uint64_t>(sequence.past - before);
  return {};
}

/// Pieces of prompts, of the longest waiting sequences first, up to a chunk in
/// all.
Status PoolOfSequences::chooseReaders(std::vector<Turn> &turns) {
  std::vector<Sequence *> waiting;
  for (const std::unique_ptr<Sequence> &sequence : sequences)
    if (sequence->isReading())
      waiting.push_back(sequence.get());
  std::sort(waiting.begin(), waiting.end(),
            [](const Sequence *a, const Sequence *b) {
              return std::pair(a->served, a->id) < std::pair(b->served, b->id);
            });
  int64_t room = chunkTokens;
  for (Sequence *sequence : waiting) {
    GIST_TRY(takeOver(*sequence));
    int64_t piece = pieceOf(*sequence);
    // A sequence must not overtake one that waits longer.
    if (piece > room)
      break;
    // A chunk that another sequence reads in this step can be copied in the
    // next.
    auto chunk = static_cast<size_t>(sequence->past / chunkTokens);
    bool comes = layout.isByPosition() &&
                 sequence->request.promptLogprobs < 0 && piece == chunkTokens &&
                 sequence->past + piece < sequence->prompt() &&
                 std::any_of(
                     turns.begin(), turns.end(),
                     [&](const Turn &turn) {
                       return turn.tokens == chunkTokens &&
                              turn.sequence->past == sequence->past &&
                              prefixes.share(*turn.sequence, *sequence, chunk);
                     });
    if (comes)
      continue;
    turns.push_back({.sequence = sequence, .tokens = piece});
    sequence->served = total.steps + 1;
    room -= piece;
  }
  // Those that end their prompt come last: their last rows are then near the
  // rows of those that write.
  auto key = [](const Turn &turn) {
    const Sequence &sequence = *turn.sequence;
    bool ends = sequence.past + turn.tokens == sequence.prompt();
    return std::pair(ends, sequence.id);
  };
  std::sort(turns.begin(), turns.end(),
            [&](const Turn &a, const Turn &b) { return key(a) < key(b); });
  return {};
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

/// The number of a row among those that are wanted.
static int64_t numberOf(int64_t row, const std::vector<RowRange> &wanted) {
  int64_t before = 0;
  for (const RowRange &range : wanted) {
    if (row < range.end)
      return before + row - range.begin;
    before += range.end - range.begin;
  }
  return -1; // Not reached: the row is one of them.
}

/// Appends what `turn` computes, whose first row it then knows.
void PoolOfSequences::addRows(Turn &turn, Rows &rows) {
  const Sequence &sequence = *turn.sequence;
  turn.row = static_cast<int64_t>(rows.tokens.size());
  BatchPiece piece{.sequence = sequence.id,
                   .tokens = turn.tokens,
                   .before = sequence.past,
                   .capacity = sequence.state->capacity(),
                   .state = &sequence.state->ranges()};
  // Guesses are computed as if each token came by itself: then they change no
  // bit.
  for (size_t i = 0; i < turn.draft.tokens.size(); ++i) {
    piece.sequence = 0;
    piece.tokens = 1;
    rows.pieces.push_back(piece);
    ++piece.before;
  }
  rows.pieces.push_back(piece);
  for (int64_t i = sequence.past; i < sequence.past + turn.tokens; ++i) {
    auto at = static_cast<size_t>(i);
    size_t prompt = sequence.tokens.size();
    size_t known = prompt + sequence.written.size();
    rows.tokens.push_back(at < prompt  ? sequence.tokens[at]
                          : at < known ? sequence.written[at - prompt]
                                       : turn.draft.tokens[at - known]);
  }
}

/// Runs the turns; `wanted` are then the rows that have logits.
Status PoolOfSequences::run(std::vector<Turn> &turns,
                            std::vector<RowRange> &wanted) {
  Rows rows, bulkRows;
  auto want = [&](int64_t begin, int64_t end) {
    if (!wanted.empty() && begin == wanted.back().end)
      wanted.back().end = end;
    else
      wanted.push_back({begin, end});
  };
  for (Turn &turn : turns) {
    const Sequence &sequence = *turn.sequence;
    addRows(turn, sequence.isInBulk() ? bulkRows : rows);
    int64_t end = turn.row + turn.tokens;
    bool isReading = sequence.isReading();
    turn.writes = sequence.past + turn.tokens >= sequence.prompt() &&
                  sequence.request.maxTokens > 0;
    if ((isReading && sequence.request.promptLogprobs >= 0) ||
        !turn.draft.tokens.empty())
      want(turn.row, end);
    else if (turn.writes)
      want(end - 1, end);
  }
  std::vector<BatchDraw> draws;
  bool onDevice = batch->canDraw();
  for (Turn &turn : turns) {
    const PoolRequest &request = turn.sequence->request;
    bool isDrafted = !turn.draft.tokens.empty();
    // The random number is drawn before it is known whether the host or the
    // device samples, so that a seed gives one text.
    if (turn.writes && !isDrafted)
      turn.settings = turn.sequence->sampler.next();
    onDevice &= !isDrafted && request.logprobs < 0 &&
                request.promptLogprobs < 0 && !request.adjust &&
                !turn.sequence->sampler.needsLogits();
  }
  if (lone && onDevice && turns.size() == 1 && turns[0].tokens == 1 &&
      !turns[0].sequence->isReading()) {
    Turn &turn = turns[0];
    return lone->next(rows.tokens[0], turn.sequence->past,
                      *turn.sequence->state, turn.settings,
                      turn.drawn.emplace());
  }
  for (Turn &turn : turns)
    if (onDevice && turn.writes) {
      turn.draw = draws.size();
      draws.push_back({.number = numberOf(turn.row + turn.tokens - 1, wanted),
                       .settings = turn.settings});
    }
  if (!bulkRows.pieces.empty())
    GIST_TRY(bulkBatch->run(bulkRows.pieces, bulkRows.tokens, {}));
  if (rows.pieces.empty())
    return {};
  return batch->run(rows.pieces, rows.tokens, wanted, draws);
}

/// Draws the next token of a sequence and says whether it was the last.
/// `number` counts those of the turn.
void PoolOfSequences::write(const Turn &turn, size_t number,
                            std::span<const float> logits, PoolEvent &event) {
  Sequence &sequence = *turn.sequence;
  const PoolRequest &request = sequence.request;
  std::span<const float> drawn = logits;
  if (request.adjust) {
    adjusted.assign(logits.begin(), logits.end());
    request.adjust(sequence.written, adjusted);
    drawn = adjusted;
  }
  int32_t token = -1;
  if (turn.draw || turn.drawn) {
    token = turn.drawn ? *turn.drawn : batch->drawn(*turn.draw);
    if (token < 0)
      event.status =
          noTokenError(static_cast<size_t>(source->spec().model.vocabSize));
  } else if (!turn.draft.tokens.empty()) {
    event.status =
        drawAfter(turn.draft, number, drawn, sequence.sampler, token);
  } else {
    event.status = sequence.sampler.draw(drawn, turn.settings, token);
  }
  if (!event.status.ok()) {
    event.finished = true;
    return;
  }
  event.token = token;
  if (request.logprobs >= 0)
    event.logprobs =
        getLogprobs(logits, token, static_cast<size_t>(request.logprobs));
  sequence.written.push_back(token);
  ++total.writtenTokens;
  if (std::find(request.stopTokens.begin(), request.stopTokens.end(), token) !=
      request.stopTokens.end()) {
    event.finished = true;
    event.reason = FinishReason::EndToken;
  } else if (static_cast<int64_t>(sequence.written.size()) ==
             request.maxTokens) {
    event.finished = true;
    event.reason = FinishReason::MaxTokens;
  }
}

/// Reports the result of a turn; its tokens are then in the sequence's state.
void PoolOfSequences::finishTurn(const Turn &turn,
                                 const std::vector<RowRange> &wanted,
                                 PoolEvent &event) {
  Sequence &sequence = *turn.sequence;
  const PoolRequest &request = sequence.request;
  auto logitsOf = [&](int64_t row) {
    return batch->logits(numberOf(row, wanted));
  };
  event.id = sequence.id;
  bool wasReading = sequence.isReading();
  if (wasReading) {
    total.promptTokens += static_cast<uint64_t>(turn.tokens);
    for (int64_t i = 0; request.promptLogprobs >= 0 && i < turn.tokens; ++i) {
      auto next = static_cast<size_t>(sequence.past + i + 1);
      if (next < sequence.tokens.size())
        event.prompt.push_back(
            getLogprobs(logitsOf(turn.row + i), sequence.tokens[next],
                        static_cast<size_t>(request.promptLogprobs)));
    }
  }
  sequence.past += turn.tokens;
  if (prefixes.isKeptHere(sequence))
    keepPrefix(sequence, sequence.past);
  if (sequence.isReading())
    return;
  if (request.maxTokens == 0)
    event.finished = true;
  else
    write(turn, 0,
          turn.draw || turn.drawn ? std::span<const float>()
                                  : logitsOf(turn.row + turn.tokens - 1),
          event);
}

//===----------------------------------------------------------------------===//
// A step with guesses
//===----------------------------------------------------------------------===//

/// What calls with guesses take, by the example of a sequence of zeros.
Status PoolOfSequences::measureDrafts() {
  if (!options.drafter)
    return {};
  drafting.emplace(options.drafter, governor, options.draftTokens);
  int64_t room = std::min(draftRows, context);
  std::unique_ptr<SequenceState> state;
  if (options.draftTokens == 0)
    GIST_TRY(SequenceState::create(layout, device, room, state));
  for (size_t rows : DraftGovernor::kTrials) {
    if (!state || static_cast<int64_t>(rows) > room)
      continue;
    std::vector<BatchPiece> pieces(
        rows, {.tokens = 1, .capacity = room, .state = &state->ranges()});
    for (size_t i = 0; i < rows; ++i)
      pieces[i].before = static_cast<int64_t>(i);
    RowRange all{0, static_cast<int64_t>(rows)};
    int64_t start = Profile::now();
    GIST_TRY(batch->run(pieces, std::vector<int32_t>(rows), {&all, 1}));
    governor.noteTrial(rows, Profile::now() - start);
  }
  return {};
}

/// Lets the one sequence that there is, and that writes, guess what follows.
Status PoolOfSequences::addDraft(Turn &turn) {
  Sequence &sequence = *turn.sequence;
  auto left =
      static_cast<size_t>(sequence.request.maxTokens) - sequence.written.size();
  size_t room = std::min(left, static_cast<size_t>(draftRows)) - 1;
  if (draftedFor != sequence.id)
    GIST_TRY(drafting->begin(sequence.request.sampler));
  draftedFor = sequence.id;
  std::vector<int32_t> text = sequence.tokens;
  text.insert(text.end(), sequence.written.begin(), sequence.written.end());
  GIST_TRY(drafting->propose(text, room, turn.draft));
  turn.tokens += static_cast<int64_t>(turn.draft.tokens.size());
  return {};
}

/// Draws after each row of a turn with guesses until a token is another one. An
/// event for each; the state keeps the rows of those that were right.
void PoolOfSequences::finishDraft(const Turn &turn,
                                  const std::vector<RowRange> &wanted,
                                  std::vector<PoolEvent> &events) {
  Sequence &sequence = *turn.sequence;
  const std::vector<int32_t> &draft = turn.draft.tokens;
  total.draftedTokens += draft.size();
  for (size_t i = 0; i <= draft.size(); ++i) {
    PoolEvent &event = events.emplace_back();
    event.id = sequence.id;
    ++sequence.past;
    int64_t row = turn.row + static_cast<int64_t>(i);
    write(turn, i, batch->logits(numberOf(row, wanted)), event);
    bool isRight = i < draft.size() && event.token == draft[i];
    total.acceptedTokens += isRight ? 1 : 0;
    if (event.finished || !isRight)
      return;
  }
}

Status PoolOfSequences::step(std::vector<PoolEvent> &events) {
  events.clear();
  if (sequences.empty())
    return {};
  std::vector<Turn> turns;
  GIST_TRY(chooseReaders(turns));
  for (const std::unique_ptr<Sequence> &sequence : sequences)
    if (!sequence->isReading())
      turns.push_back({.sequence = sequence.get(), .tokens = 1});
  // Only where a sequence is alone calls tell what its token takes.
  Sequence *alone = sequences.size() == 1 && !sequences[0]->isReading()
                        ? sequences[0].get()
                        : nullptr;
  bool mayDraft = alone && drafting;
  if (mayDraft)
    GIST_TRY(addDraft(turns[0]));
  std::vector<RowRange> wanted;
  GIST_TRY(run(turns, wanted));
  ++total.steps;
  Draft draft;
  if (mayDraft && !turns[0].draft.tokens.empty()) {
    finishDraft(turns[0], wanted, events);
    draft = std::move(turns[0].draft);
    turns.clear();
  }
  for (const Turn &turn : turns) {
    PoolEvent event;
    finishTurn(turn, wanted, event);
    if (event.token >= 0 || event.finished || !event.prompt.empty())
      events.push_back(std::move(event));
  }
  if (mayDraft)
    drafting->finish(draft, events.front().token, events.size() - 1);
  // Those of guesses are of one sequence, and in order.
  if (draft.tokens.empty())
    std::sort(
        events.begin(), events.end(),
        [](const PoolEvent &a, const PoolEvent &b) { return a.id < b.id; });
  for (const PoolEvent &event : events) {
    if (!event.finished)
      continue;
    auto found = std::find_if(sequences.begin(), sequences.end(),
                              [&](const std::unique_ptr<Sequence> &each) {
                                return each->id == event.id;
                              });
    end(std::move(*found));
    sequences.erase(found);
    ++total.finished;
  }
  return {};
}
