//===- Pool.h - Many sequences of one model at once -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sequences join and leave between steps. A step runs one token of every
// sequence that writes and a bounded piece of the prompts of others, in one
// call: what the model computes row by row is computed once for the rows of
// all, what belongs to one sequence (its cache, its positions) for each.
//
// The results of a sequence do not depend on the others: not on their texts,
// not on when they arrive, not on whether the state of a shared prefix existed
// already.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_POOL_H
#define GIST_RUNTIME_SESSION_POOL_H

#include "runtime/device/Device.h"
#include "runtime/module/Module.h"
#include "runtime/session/Generator.h"
#include "runtime/session/Logprobs.h"
#include "runtime/session/Sampler.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace gist {

class Profile;

struct PoolOptions {
  /// Tokens that one sequence may hold at most, prompt and answer; 0: the
  /// module's default.
  int64_t context = 0;
  /// Sequences that run at once at most.
  int64_t sequences = 64;
  /// Bytes that the state of all sequences may take, kept prefixes included;
  /// 0: what `sequences` of `context` tokens take, or, where that is less, nine
  /// tenths of what a card has free, or half of the machine's memory.
  uint64_t memory = 0;
  /// Prompt tokens in a step at most, of all sequences together; 0: the
  /// module's block where it has one (plans), else 128 on CPUs and 512 on GPUs.
  /// It bounds how long the others wait for their next token.
  int64_t chunk = 0;
  /// What prompts begin with is kept for later ones, while the memory is not
  /// needed otherwise: at most what so many sequences of `context` tokens take.
  int64_t prefixes = 8;
  /// A sequence that is alone is run by the kernels of a session, where a card
  /// draws its tokens: faster, but they round differently from kernels of many
  /// rows, so that its text may depend on which other sequences ran meanwhile.
  bool fastAlone = false;
  /// Notes when commands ran, but for those of a sequence that is alone with
  /// `fastAlone`; null: does not.
  Profile *profile = nullptr;
  /// As in SessionOptions: runs code of a module that is not known here.
  bool trust = false;
  /// Guesses tokens, so that texts, which are the same, come faster; null:
  /// nothing does. Where guesses take no time, each sequence has its own, as
  /// many as calls have room for; another drafter serves a sequence that is
  /// alone.
  std::shared_ptr<Drafter> drafter = {};
  /// Tokens that it guesses each time; 0: as many as are worth it.
  size_t draftTokens = 0;
};

/// What the caller wants written.
struct PoolRequest {
  std::vector<int32_t> tokens; ///< the prompt; at least one
  /// Tokens to write at most; 0 only reads the prompt, for its logprobs. The
  /// prompt and this must fit PoolOptions::context: room for both is reserved
  /// when the sequence is added, so that it never runs out of memory.
  int64_t maxTokens = 1;
  SamplerOptions sampler = {};
  int32_t adapter = 0; ///< of the module, by its number; 0: none
  /// The sequence ends after any of these; the token itself is given too. The
  /// model's own end tokens are not implied (module.spec().model.stopTokens).
  std::vector<int32_t> stopTokens = {};
  /// How many of the most likely tokens are given with every token, with their
  /// logarithmic probabilities (temperature 1, before `adjust` and any filter);
  /// -1: none and no probabilities at all; 0: only that of the token itself.
  int32_t logprobs = -1;
  /// The same for the tokens of the prompt (from the second on), which then
  /// walks through all layers, whatever the module's plan.
  int32_t promptLogprobs = -1;
  /// Changes the logits before a token is drawn (a bias, a grammar: -inf
  /// forbids a token). `written` are the tokens of the answer so far. May be
  /// empty. Runs on the thread that calls step().
  std::function<void(std::span<const int32_t> written, std::span<float> logits)>
      adjust = {};
};

/// Unique within a pool. 0: no sequence.
using SequenceId = uint64_t;

/// What a step did for one sequence: a token, or several in several events
/// where tokens were guessed.
struct PoolEvent {
  SequenceId id = 0;
  int32_t token = -1; ///< the token that was drawn; -1: none in this event
  TokenLogprobs logprobs = {}; ///< when PoolRequest::logprobs >= 0
  /// Of prompt tokens, when PoolRequest::promptLogprobs >= 0: those that this
  /// step got to know, in order. The first token of a prompt has none; so over
  /// all events there are tokens.size() - 1.
  std::vector<TokenLogprobs> prompt = {};
  /// The sequence is over, its id is gone; the reason is EndToken (a stop
  /// token), MaxTokens, or with `status` an error of this sequence alone.
  bool finished = false;
  FinishReason reason = FinishReason::MaxTokens;
  /// Not ok: the sequence ended because of this (no logit can be chosen).
  Status status = {};
};

/// What has happened since the pool was made, and what is there now.
struct PoolCounters {
  // Since the pool was made.
  uint64_t steps = 0, added = 0, finished = 0, removed = 0;
  uint64_t promptTokens = 0; ///< computed
  uint64_t prefixTokens = 0; ///< taken over from another sequence instead
  uint64_t writtenTokens = 0;
  uint64_t draftedTokens = 0, acceptedTokens = 0;
  uint64_t launches = 0; ///< of steps, but for those of one by itself
  // Now.
  int64_t reading = 0, writing = 0; ///< sequences in their prompt, and after it
  int64_t kept = 0;                 ///< chunks that are kept as beginnings
  uint64_t stateBytes = 0; ///< reserved by sequences that run and are kept
  uint64_t stateLimit = 0; ///< PoolOptions::memory, or its default
};

/// Not for several threads at once: one thread owns a pool, and its device
/// while step() runs.
class Pool {
public:
  /// Fails for modules whose state or commands do not allow it (encoders), with
  /// a sentence that says what is missing.
  static Status create(std::shared_ptr<const Module> module, Device &device,
                       const PoolOptions &options,
                       std::unique_ptr<Pool> &result);
  virtual ~Pool() = default;
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  /// Adds a sequence, or nothing. OutOfMemory: no room until other sequences
  /// finish (try again after a step that had a `finished` event). BadArgument:
  /// the request can never fit; the sentence says what is out of range.
  virtual Status add(PoolRequest request, SequenceId &id) = 0;

  /// Ends a sequence without an event. False if there is no sequence of this
  /// id; this is not an error, because it may just have finished.
  virtual bool remove(SequenceId id) = 0;

  /// Runs one step and gives what it did, sequence by sequence in the order
  /// they were added. An error is one of the device: all sequences are lost
  /// then. Without sequences it does nothing.
  virtual Status step(std::vector<PoolEvent> &events) = 0;

  /// Bytes of state that a sequence of so many tokens reserves.
  virtual Status stateBytes(int64_t tokens, uint64_t &bytes) const = 0;

  /// Sequences that run.
  virtual int64_t size() const = 0;
  bool empty() const { return size() == 0; }
  virtual PoolCounters counters() const = 0;
  virtual int64_t capacity() const = 0; ///< tokens of a sequence at most
  virtual int64_t chunk() const = 0;    ///< prompt tokens of a step at most
  virtual const Module &module() const = 0;

protected:
  Pool() = default;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_POOL_H
