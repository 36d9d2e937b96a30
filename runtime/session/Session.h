//===- Session.h - One run of a model: its memory and its commands -*- C++
//-*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_RUNTIME_SESSION_SESSION_H
#define GIST_RUNTIME_SESSION_SESSION_H

#include "runtime/device/Device.h"
#include "runtime/module/Module.h"
#include "runtime/session/DraftGovernor.h"
#include "runtime/session/EntryCall.h"
#include "runtime/session/PrefillCalls.h"
#include "runtime/session/Profile.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gist {

class Batch;
class Communicator;
class RankedLists;
class Session;

struct SessionOptions {
  int64_t context = 0; ///< tokens the session can hold; 0: the module's default
  /// Tokens per prefill call; 0: the module's, or what the device has memory
  /// for.
  int64_t chunk = 0;
  /// Measures every command into this; null: runs without timing.
  Profile *profile = nullptr;
  /// Reads back the entry's statistics (r, turnover, gates) after every call.
  bool statistics = false;
  /// Runs the module's code whether or not the module is known here
  /// (runtime/module/Trust.h). Code can do whatever this process can.
  bool trust = false;
  /// The other ranks, for a module that several share. They follow() rank 0,
  /// which does everything else. Outlives the session.
  Communicator *ranks = nullptr;
  /// Told of every call that took tokens, after it ran: how many there were and
  /// how many before them. Session::statistics() are those of the call.
  std::function<void(const Session &session, int64_t before, int64_t tokens)>
      afterCall = {};
};

/// What an entry's StatisticSpec left after the last call.
struct StatisticValue {
  std::string name;
  int32_t layer = -1;
  std::vector<double> values;
};

/// Bytes on the device. Weights that are the mapped file count too.
struct MemoryUse {
  uint64_t weights = 0, state = 0, arena = 0, io = 0;
};

/// Runs a module on a device. Owns scratch memory and state (the KV cache);
/// weights stay where the module mapped them, or are uploaded once.
///
/// Not for several threads at once; several sessions may share a module and,
/// one at a time, a device.
class Session {
public:
  static Status create(std::shared_ptr<const Module> module, Device &device,
                       const SessionOptions &options,
                       std::unique_ptr<Session> &result);
  ~Session();

  /// Appends tokens, in chunks, and computes the logits after the last one.
  /// Tokens that do not fit the context are refused before anything runs.
  Status feed(std::span<const int32_t> tokens);

  /// Appends tokens and draws the one that follows them; on the device, where
  /// the module's code can, and then logits() is empty.
  Status next(std::span<const int32_t> tokens, Sampler &sampler,
              int32_t &token);

  /// The logits after the last fed token, one per vocabulary entry. Valid until
  /// the next call of any function.
  std::span<const float> logits() const { return lastLogits; }
  /// Whether logits() keep their address as long as the session lives, so that
  /// later calls change only the contents.
  bool keepsLogits() const;

  /// Appends tokens and hands out the logits after each of them, in order.
  /// `index` counts from 0; the logits are valid during the call.
  using LogitsSink =
      std::function<Status(size_t index, std::span<const float> logits)>;
  Status score(std::span<const int32_t> tokens, const LogitsSink &sink);
  /// The same, call by call: `rows` are the logits after token `first` and
  /// those that follow it, as many for each as the vocabulary has tokens.
  using RowsSink =
      std::function<Status(size_t first, std::span<const float> rows)>;
  Status scoreRows(std::span<const int32_t> tokens, const RowsSink &sink);

  /// What score() gives for tokens that come one by one, to the bit, in one
  /// call: what treats rows alike takes all of them together, and attention
  /// each by itself. For mostApart() tokens at most.
  Status scoreApart(std::span<const int32_t> tokens, const LogitsSink &sink);
  int64_t mostApart() const;
  /// What the first call of scoreApart() would do before it runs.
  Status prepareApart();
  /// Tries once what calls of scoreApart() take, for the governor; changes
  /// nothing that the session has seen.
  Status measureApart();
  DraftGovernor &draftGovernor() { return governor; }
  /// Fails where scoreApart() or rewind() do, with the sentence that says why.
  Status checkApart() const;

  /// Appends tokens and hands out, call by call, how surprised the model is by
  /// what follows each: minus the logarithm of the probability of `targets[i]`
  /// after `tokens[i]`. `first` is the number of the first of `losses`, which
  /// are valid during the call.
  using LossSink =
      std::function<Status(size_t first, std::span<const float> losses)>;
  Status nll(std::span<const int32_t> tokens, std::span<const int32_t> targets,
             const LossSink &sink);

  /// The embedding of a text, for modules with an "embed" entry.
  Status embed(std::span<const int32_t> tokens, std::vector<float> &result);

  /// Runs any entry on named inputs and returns its named outputs as bytes:
  /// all of them, or those that are wanted, since fetching takes time.
  Status
  call(std::string_view entry, const std::map<std::string, int64_t> &symbols,
       const std::map<std::string, Bytes> &inputs,
       std::map<std::string, std::vector<uint8_t>> &outputs,
       const std::function<bool(const std::string &name)> &isWanted = {});

  /// Times an entry that call() has run, on the same inputs and symbols: how
  /// many microseconds it takes each time of `samples`. One sample is `batch`
  /// runs one after the other without the host between them.
  Status measure(std::string_view entry, unsigned samples, unsigned batch,
                 std::vector<double> &microseconds);

  /// Gives a weight other content of the same size, in this session alone:
  /// for tables that steer kernels. The module stays as it is.
  Status setWeight(std::string_view name, Bytes content);
  /// Whether prompts walk through all layers from now on, though the plan of
  /// the module lets their bulk walk through fewer.
  void readWhole(bool isWhole) { readsWhole = isWhole; }

  /// Computes tokens with an adapter of the module from now on, or with none
  /// (the empty name). The session forgets every token.
  Status setAdapter(std::string_view name);

  /// Forgets every token.
  Status reset();
  /// Forgets the tokens from `position` on. Modules whose state is more than
  /// rows by position (selections) can only be reset, or go back within a block
  /// (tokensInBlock) that was begun and is not over: what such state says of
  /// earlier tokens changes between blocks.
  Status rewind(int64_t position);
  /// Fails where rewind() does not go back to any token, with the sentence that
  /// says why.
  Status checkRewinds() const;
  /// The first token, but for 0, that rewind() can go back to.
  int64_t leastRewind() const;

  /// Takes over what a session of the same module and capacity, perhaps on
  /// another device, has seen.
  Status takeState(Session &other);

  /// Writes what the session has seen to a file. `tokens` are those, as the
  /// caller knows them.
  Status saveState(const std::string &path, std::span<const int32_t> tokens);
  /// The way back, into a session of the same module with room for the tokens,
  /// which the file has too. On error the session has seen nothing. A state
  /// that is more than rows by position steers kernels: it is refused where
  /// SessionOptions::trust is not set.
  Status loadState(const std::string &path, std::vector<int32_t> &tokens);

  /// Does what the session of rank 0 does, until that one is closed. For every
  /// rank but 0.
  Status follow();

  int64_t position() const { return past; }
  int64_t capacity() const { return context; }
  bool hasEntry(std::string_view name) const;
  /// How many tokens a call after `before` others may take: where the module
  /// says a chunk, no call crosses a multiple of it.
  int64_t tokensInBlock(int64_t before) const;
  /// Largest T that one call of this entry takes.
  int64_t maxTokens(std::string_view entry) const;
  const Module &module() const { return *source; }
  const TargetSpec &target() const { return source->spec().targets[targetId]; }
  MemoryUse memoryUse() const;
  /// Of the last call, when SessionOptions::statistics is set.
  const std::vector<StatisticValue> &statistics() const { return lastValues; }

private:
  Session(std::shared_ptr<const Module> module, Device &device,
          const SessionOptions &options);
  Status initialize();
  Status allocateBuffers();
  /// Where the first `rows` tokens of the state are.
  Status findState(int64_t rows, std::vector<MemoryMap::Range> &pieces) const;
  Status findEntry(std::string_view name, EntryBinding *&result);
  Status setTokens(const EntrySpec &entry, int64_t tokens, int64_t before);
  Status choosePrefill();
  /// Bytes of scratch memory, inputs and outputs for a call of `tokens`.
  Status bytesOfCall(const EntrySpec &entry, int64_t tokens, uint64_t &bytes);
  Status execute(EntryBinding &binding);
  Status addProfile(EntryBinding &binding,
                    const std::vector<CommandTime> &times);
  /// Fails where a module is for another number of ranks.
  Status checkRanks() const;
  /// Tells the other ranks, if there are any, what rank 0 does now.
  Status announceReset() const;
  Status announceRun(std::string_view entry, std::span<const int32_t> tokens,
                     std::span<const int32_t> targets, int64_t before) const;
  Status refuseRanks(const char *what) const;
  bool leads() const;
  /// Does one message; `isClosed` is set by the last.
  Status followOne(Bytes message, bool &isClosed);
  Status bytesOfRows(EntryBinding &binding, const CommandSpec &command,
                     int64_t &bytes);
  Status readStatistics(EntryBinding &binding);
  /// `targets` is empty for entries that take none.
  Status runTokens(std::string_view entry, std::span<const int32_t> tokens,
                   std::span<const int32_t> targets, int64_t before);
  /// Feeds tokens; `entry` is what took the last of them.
  Status advance(std::span<const int32_t> tokens, std::string_view &entry);
  /// What kernels get for tokens.
  Status numbersOf(std::span<const int32_t> tokens,
                   std::vector<int32_t> &numbers) const;
  Status uploadTokens(const EntrySpec &entry, uint32_t buffer,
                      std::span<const int32_t> tokens);
  Status readOutput(std::string_view entry, std::string_view name,
                    ElementType type, Bytes &content);
  Status readFloats(std::string_view entry, std::string_view name,
                    std::span<const float> &values);
  Status contentSize(uint32_t buffer, uint64_t &bytes);
  Status checkRoom(size_t count) const;
  int64_t vocabSize() const;
  int64_t chunkTokens() const;
  /// The same for an entry that makes a row of logits for every token.
  int64_t chunkRows(std::string_view entry) const;
  /// Tokens of the next call of `count`, at most `chunk` and what
  /// tokensInBlock() says.
  size_t callTokens(size_t count, size_t chunk) const;

  std::shared_ptr<const Module> source;
  Device &device;
  SessionOptions options;
  uint32_t targetId = kNone;
  std::unique_ptr<DeviceCode> code;
  SymbolValues symbols;
  CallSymbols callSymbols;
  // In tokens: what the session can hold, and what it holds.
  int64_t context = 0, past = 0;
  int32_t adapter = 0; ///< its number; 0: none
  /// Tokens of a call, if neither the user nor the module gives them; 0: one of
  /// them does.
  int64_t prefillTokens = 0;
  PromptBulk bulk; ///< what `read` takes of a prompt
  bool readsWhole = false;

  MemoryMap map;
  CallMemory callMemory;
  std::vector<DeviceMemory> weights; ///< per weight
  std::vector<bool> ownWeights;      ///< those that setWeight replaced
  std::vector<DeviceMemory> state;   ///< per buffer, of those that are state
  // After the memory: recordings, which have its addresses, go first.
  std::vector<EntryBinding> entries;
  std::unique_ptr<Batch> apart; ///< of scoreApart(); null: not asked for yet
  DraftGovernor governor;
  std::unique_ptr<RankedLists> rankedLists; ///< null: one rank
  /// What an output was downloaded to, on devices without host pointers.
  std::vector<uint8_t> downloaded;
  SampleSettings sampling; ///< of entries that draw tokens
  std::span<const float> lastLogits;
  std::vector<StatisticValue> lastValues;
};

} // namespace gist

#endif // GIST_RUNTIME_SESSION_SESSION_H
