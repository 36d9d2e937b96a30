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

#include "runtime/session/Adapters.h"
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
#include <map>
#include <numeric>
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
  /// How likely the next guess is right, where several sequences have some.
  double hope = DraftGovernor::firstHope();
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
  Draft draft = {};                  ///< what its last tokens are
  std::optional<int32_t> guess = {}; ///< of the next token, where none is used
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
  Status openPrefixes();
  Status makeBatches(const EntrySpec &entry);
  Status chooseMemory();
  Status check(const PoolRequest &request) const;
  int64_t reservedTokens(int64_t tokens) const;
  uint64_t usedBytes() const;
  uint64_t freeBytes() const;
  Status reserve(Sequence &sequence);
  void findBulk(Sequence &sequence) const;
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
  bool mayDraft(const std::vector<Turn> &turns) const;
  static std::vector<int32_t> textOf(const Sequence &sequence);
  size_t roomForGuesses(const Turn &turn) const;
  Status addDraft(Turn &turn);
  Status addDrafts(std::vector<Turn> &turns);
  void finishDraft(const Turn &turn, const std::vector<RowRange> &wanted,
                   std::vector<PoolEvent> &events);
  void finishTurns(std::vector<Turn> &turns,
                   const std::vector<RowRange> &wanted,
                   std::vector<PoolEvent> &events);
  void noteGuesses(const Turn &turn, std::span<const PoolEvent> events);

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
  int64_t mostTokens = 0; ///< that a sequence has room for
  int64_t draftRows = 0;  ///< tokens of a call with guesses at most
  uint64_t stateLimit = 0;
  SequenceId lastId = 0;
  PromptPrefixes prefixes; ///< of those before, and what sequences share
  std::vector<std::unique_ptr<Sequence>> sequences; ///< in order of their ids
  PoolCounters total;
  DraftGovernor governor;
  std::map<size_t, DraftGovernor> governors; ///< of several texts, by how many
  std::optional<Drafting> drafting;          ///< none: nothing is drafted
  SequenceId draftedFor = 0;                 ///< whose text the drafter began
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
  GIST_TRY(openPrefixes());
  if (options.drafter && !layout.isByPosition())
    return Status::error(Code::BadArgument,
                         "drafts need a state of rows by position, and this "
                         "module has more; run it without drafts");
  GIST_TRY(loadModuleCode(*source, target, options.trust, device, code));
  GIST_TRY(loadWeights(*source, device, target, weights, map));
  GIST_TRY(makeBatches(*entry));
  if (options.fastAlone)
    GIST_TRY(LoneSequence::create(*source, target, device, *code, map,
                                  mostTokens, lone));
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

Status PoolOfSequences::openPrefixes() {
  uint64_t each = 0, limit = 0;
  GIST_TRY(layout.bytes(context, each));
  if (mulOverflows(each, static_cast<uint64_t>(options.prefixes), limit))
    limit = UINT64_MAX;
  int64_t most =
      source->spec().symbols[source->findSymbol(kSymbolCapacity)].max;
  GIST_TRY(prefixes.open(layout, device, chunkTokens, most, limit));
  // Room for a sequence of the whole context is whole pages where it can be.
  int64_t step = prefixes.capacityStep();
  mostTokens = std::min((context + step - 1) / step * step, most);
  return {};
}

Status PoolOfSequences::makeBatches(const EntrySpec &entry) {
  BatchLimits limits;
  limits.pieces = std::max(most, draftRows);
  limits.rows = std::max(chunkTokens + most, draftRows);
  limits.rowsOfLong = chunkTokens;
  limits.wanted = limits.rows;
  limits.capacity = mostTokens;
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
  int64_t each = std::lcm(kCapacityStep, prefixes.capacityStep());
  return std::min((tokens + each - 1) / each * each, mostTokens);
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
  GIST_TRY(checkAdapter(source->spec().model, request.adapter));
  auto prompt = static_cast<int64_t>(request.tokens.size());
  if (prompt > context || request.maxTokens > context - prompt)
    return Status::error(Code::BadArgument,
                         "a prompt of %" PRId64
                         " tokens and an answer of up to "
                         "%" PRId64 " do not fit a context of %" PRId64,
                         prompt, request.maxTokens, context);
  return {};
}

/// What sequences have, that which several show counted once.
uint64_t PoolOfSequences::usedBytes() const {
  uint64_t bytes = prefixes.shownBytes();
  for (const std::unique_ptr<Sequence> &sequence : sequences)
    bytes += sequence ? sequence->state->bytes() : 0;
  return bytes;
}

uint64_t PoolOfSequences::freeBytes() const {
  return stateLimit - std::min(usedBytes(), stateLimit);
}

/// Takes memory for a sequence, from prefixes if need be.
Status PoolOfSequences::reserve(Sequence &sequence) {
  int64_t tokens = sequence.prompt() + sequence.request.maxTokens;
  uint64_t bytes = 0;
  GIST_TRY(stateBytes(tokens, bytes));
  if (bytes > stateLimit)
    return Status::error(Code::BadArgument,
                         "a sequence of %" PRId64 " tokens needs %" PRIu64
                         " bytes of state, but there are %" PRIu64,
                         tokens, bytes, stateLimit);
  // What it will show needs no memory of its own, and must not go before.
  std::vector<std::shared_ptr<KeptState>> known;
  if (prefixes.canShow(reservedTokens(tokens)) &&
      sequence.request.promptLogprobs < 0)
    known = prefixes.known(sequence);
  for (const std::shared_ptr<KeptState> &state : known)
    bytes -= state->bytes();
  uint64_t free = freeBytes();
  if (bytes > free)
    return Status::error(Code::OutOfMemory,
                         "there is no room now: %" PRIu64 " bytes of %" PRIu64
                         " are taken, and the sequence needs %" PRIu64,
                         stateLimit - free, stateLimit, bytes);
  prefixes.shrinkTo(free - bytes);
  while (true) {
    Status status = SequenceState::create(
        layout, device, reservedTokens(tokens), sequence.state);
    // Another process may have taken memory that was free.
    if (status.code != Code::OutOfMemory || !prefixes.forgetOne())
      return known.empty() || !status.ok() ? status : takeOver(sequence);
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
  sequence->sampler.see(request.tokens);
  sequence->tokens = std::move(request.tokens);
  sequence->adapter = request.adapter;
  sequence->request = std::move(request);
  findBulk(*sequence);
  prefixes.nameChunks(*sequence);
  GIST_TRY(reserve(*sequence));
  sequence->id = ++lastId;
  id = lastId;
  ++total.added;
  sequences.push_back(std::move(sequence));
  return {};
}

/// `sequence` is not one of those that run any more.
void PoolOfSequences::end(std::unique_ptr<Sequence> sequence) {
  if (layout.isByPosition())
    prefixes.keep(*sequence, sequence->read(), freeBytes());
  sequence.reset();
  // What no sequence shows any more has its limit.
  prefixes.shrinkTo(freeBytes());
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
  result.stateBytes = usedBytes() - prefixes.shownBytes() + prefixes.bytes();
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
    int32_t token = at < prompt  ? sequence.tokens[at]
                    : at < known ? sequence.written[at - prompt]
                                 : turn.draft.tokens[at - known];
    rows.tokens.push_back(withAdapter(token, sequence.adapter));
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
    prefixes.keep(sequence, sequence.past, freeBytes());
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

/// Only while all write: a call with a piece of a prompt is full, and where a
/// sequence is alone its calls tell what a token takes.
bool PoolOfSequences::mayDraft(const std::vector<Turn> &turns) const {
  return drafting && turns.size() == sequences.size() &&
         static_cast<int64_t>(turns.size()) < draftRows &&
         (turns.size() == 1 || options.drafter->isFree()) &&
         std::none_of(
             turns.begin(), turns.end(),
             [](const Turn &turn) { return turn.sequence->isReading(); });
}

std::vector<int32_t> PoolOfSequences::textOf(const Sequence &sequence) {
  std::vector<int32_t> text = sequence.tokens;
  text.insert(text.end(), sequence.written.begin(), sequence.written.end());
  return text;
}

size_t PoolOfSequences::roomForGuesses(const Turn &turn) const {
  const Sequence &sequence = *turn.sequence;
  auto left =
      static_cast<size_t>(sequence.request.maxTokens) - sequence.written.size();
  return std::min(left, static_cast<size_t>(draftRows)) - 1;
}

/// Lets the one sequence that there is guess what follows.
Status PoolOfSequences::addDraft(Turn &turn) {
  Sequence &sequence = *turn.sequence;
  if (draftedFor != sequence.id)
    GIST_TRY(drafting->begin(sequence.request.sampler));
  draftedFor = sequence.id;
  GIST_TRY(
      drafting->propose(textOf(sequence), roomForGuesses(turn), turn.draft));
  turn.tokens += static_cast<int64_t>(turn.draft.tokens.size());
  return {};
}

/// Lets each sequence guess, and uses the guesses that are likeliest right, as
/// many as are worth it: a guess counts on those before it.
Status PoolOfSequences::addDrafts(std::vector<Turn> &turns) {
  std::vector<std::pair<double, size_t>> guesses; // chance, turn
  size_t room = static_cast<size_t>(draftRows) - turns.size();
  for (size_t i = 0; i < turns.size(); ++i) {
    Turn &turn = turns[i];
    GIST_TRY(options.drafter->draft(textOf(*turn.sequence),
                                    std::min(room, roomForGuesses(turn)),
                                    turn.draft));
    double chance = 1;
    for (size_t k = 0; k < turn.draft.tokens.size(); ++k)
      guesses.emplace_back(chance *= turn.sequence->hope, i);
  }
  // A guess is no likelier than the one before it, so those of a sequence are
  // taken in order.
  std::sort(guesses.begin(), guesses.end(),
            [](const auto &a, const auto &b) { return a.first > b.first; });
  std::vector<double> chances;
  for (size_t i = 0; i < std::min(room, guesses.size()); ++i)
    chances.push_back(guesses[i].first);
  DraftGovernor &chosen =
      governors.try_emplace(turns.size(), governor.ofTexts(turns.size()))
          .first->second;
  size_t count = options.draftTokens == 0
                     ? chosen.choose(chances)
                     : std::min(options.draftTokens, chances.size());
  std::vector<size_t> used(turns.size());
  for (size_t i = 0; i < count; ++i)
    ++used[guesses[i].second];
  for (size_t i = 0; i < turns.size(); ++i) {
    std::vector<int32_t> &tokens = turns[i].draft.tokens;
    if (used[i] == 0 && !tokens.empty())
      turns[i].guess = tokens[0];
    tokens.resize(used[i]);
    turns[i].tokens += static_cast<int64_t>(used[i]);
  }
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
      break;
  }
}

/// Learns from what became of the guesses of a turn.
void PoolOfSequences::noteGuesses(const Turn &turn,
                                  std::span<const PoolEvent> events) {
  const std::vector<int32_t> &draft = turn.draft.tokens;
  double &hope = turn.sequence->hope;
  for (size_t i = 0; i < std::min(draft.size(), events.size()); ++i)
    hope = DraftGovernor::learn(hope, events[i].token == draft[i]);
  if (turn.guess && !events.empty())
    hope = DraftGovernor::learn(hope, events[0].token == *turn.guess);
}

/// Reports the results of all turns, sequence by sequence in the order they
/// were added.
void PoolOfSequences::finishTurns(std::vector<Turn> &turns,
                                  const std::vector<RowRange> &wanted,
                                  std::vector<PoolEvent> &events) {
  std::sort(turns.begin(), turns.end(), [](const Turn &a, const Turn &b) {
    return a.sequence->id < b.sequence->id;
  });
  for (const Turn &turn : turns) {
    size_t first = events.size();
    if (!turn.draft.tokens.empty()) {
      finishDraft(turn, wanted, events);
    } else {
      PoolEvent event;
      finishTurn(turn, wanted, event);
      if (event.token >= 0 || event.finished || !event.prompt.empty())
        events.push_back(std::move(event));
    }
    noteGuesses(turn, std::span(events).subspan(first));
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
  bool drafts = mayDraft(turns), isAlone = turns.size() == 1;
  int64_t start = Profile::now();
  if (drafts)
    GIST_TRY(isAlone ? addDraft(turns[0]) : addDrafts(turns));
  int64_t proposed = Profile::now();
  std::vector<RowRange> wanted;
  GIST_TRY(run(turns, wanted));
  ++total.steps;
  int64_t ended = Profile::now();
  finishTurns(turns, wanted, events);
  if (drafts && isAlone) {
    drafting->finish(turns[0].draft, events.front().token, events.size() - 1);
  } else if (drafts) {
    size_t drafted = 0;
    for (const Turn &turn : turns)
      drafted += turn.draft.tokens.size();
    DraftGovernor &chosen = governors.at(turns.size());
    if (drafted == 0)
      chosen.notePlain(ended - proposed);
    else
      chosen.noteDrafts(drafted, events.size(), proposed - start,
                        ended - proposed);
  }
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
