//===- AttentionDecode.h - Attention of one query on GPUs -------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One query is bound by reading keys and values, which is done once for all
// query heads that share them. A key is read by a team of lanes, 16 bytes each;
// teams have running maxima, sums and outputs of their own, so that they meet
// only once, when all keys have been read: by shuffles in a wave, then in
// workgroup memory. On sm_90 several workgroups share the keys, and write into
// one's workgroup memory in the end; where keys are few, one has them all.
// Where these workgroups are too few to fill the GPU and keys are many, several
// such clusters take a part of the keys each: the one that finishes last adds
// up what the others have left in global memory. gfx942 has no such clusters:
// there each part is a workgroup.
//
// Where heads see different numbers of keys, those that see more have more
// clusters: a launch takes as long as its slowest workgroup.
//
// Callers say where the keys are stored.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONDECODE_H
#define GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONDECODE_H

#include "passes/Cost/DecodeSplit.h"
#include "passes/Tile/Gpu/Attention/AttentionDecodeMma.h"
#include "passes/Tile/Gpu/Attention/AttentionDecodeOutput.h"
#include "passes/Tile/Gpu/Attention/AttentionDecodeProduct.h"
#include "passes/Tile/Gpu/Elements/GpuKernel.h"

namespace gist {

/// The keys that a query sees, in a row.
class DecodeKeys {
public:
  using Value = mlir::Value;

  virtual ~DecodeKeys() = default;

  virtual Value getCount() = 0;
  /// Where key `number` lies.
  virtual Value getRow(Value number) = 0;
  /// `count` neighbours from `column` on, in any float type.
  virtual Value readKey(Value row, Value column, int64_t count) = 0;
  virtual Value readValue(Value row, Value column, int64_t count) = 0;
  /// The type of both where matrix instructions may take them, or null.
  virtual mlir::Type getMultiplied() { return {}; }
  /// Whether the keys follow from scalar arguments of the launch, so that they
  /// are known while the kernels before this one run.
  virtual bool areKnownEarly() const { return false; }
  /// Asks for a key or a value, all columns of its cache line from `column` on:
  /// the line has that many, none where it cannot be asked for.
  virtual void prefetch(bool isKey, Value number, Value column) {}
  virtual int64_t getColumnsOfLine(bool isKey) { return 0; }
  /// What the bias of key `number`, which lies in `row`, is computed from; null
  /// where nothing is added to scores. Only loads here, without a branch, if a
  /// lane has the registers: a step then issues all of its loads before it
  /// computes.
  virtual Value readBias(Value number, Value row) { return {}; }
  /// What is added to the score of key `number`, in powers of two.
  virtual Value getBias(Value number, Value stored) { return stored; }
  /// Whether the query's own token is not among them, but in tensors that
  /// readOwn() reads.
  virtual bool hasOwn() const { return false; }
  virtual Value readOwn(bool isKey, Value column, int64_t count) { return {}; }
  /// Whether the kernel computes these, and the query, and writes them where
  /// the next query finds them: columns of them by writeOwn(), which one
  /// workgroup of a KV head calls.
  virtual bool makesOwn() const { return false; }
  virtual void writeOwn(bool isKey, Value column, Value numbers) {}
  /// The number of the kernel's result that attention gives: behind what is
  /// written besides.
  virtual unsigned getResult() const { return 0; }
};

/// The memory in which clusters of workgroups leave their parts.
struct DecodeParts {
  int64_t count = 1;   ///< clusters that share the keys of a head
  mlir::Value scratch; ///< flat, of f32: kNumbersOfPair for a pair of columns
  mlir::Value control; ///< a word for each workgroup of a part
};

/// Numbers of a pair of columns: two outputs, the largest score and the sum.
inline constexpr int64_t kNumbersOfPair = 4;
/// Neighbours that a thread finishes.
inline constexpr int64_t kDecodeWidth = 2;

/// The heads of a kernel that attends for one query.
struct DecodeHeads {
  int64_t numHeads, kvHeads, valueSize;
};
/// What a kernel asks for that leaves parts on `gpu`; nothing where keys are
/// not in parts. With `multiplied`, where it multiplies its heads, every
/// workgroup of a cluster leaves all of them.
KernelScratch makeDecodeScratch(const DecodeHeads &heads, const GpuInfo &gpu,
                                mlir::MLIRContext *context,
                                bool multiplied = false);
/// The memory that -gist-add-scratch has given the kernel: its last two
/// destinations. A kernel without it has all keys in one part.
mlir::FailureOr<DecodeParts> findDecodeParts(GpuKernel &kernel,
                                             mlir::Operation *op,
                                             const DecodeHeads &heads,
                                             bool multiplied = false);

/// Where the columns of all queries, keys and values begin in a product.
struct DecodeColumns {
  int64_t query, key, value;
};

/// The code of one workgroup, which has some of the query heads that share a KV
/// head.
class DecodeAttention {
public:
  using Value = mlir::Value;
  using Values = GpuBuilder::Values;

  /// `query` is 1 x heads x size, `output` 1 x heads x `valueSize`.
  DecodeAttention(ElementEmitter &emitter, Value query, Value output,
                  int64_t kvHeads, int64_t valueSize, double scale,
                  DecodeParts parts = {});

  int64_t getWorkgroups() const {
    return numHeads / heads * split * parts.count;
  }
  /// Gives KV heads clusters by the keys that they see: `counts`, about how
  /// many for each. Without it all have equally many.
  void shareByKeys(mlir::ValueRange counts);
  /// The KV head of this workgroup.
  Value getKvHead() const { return kvHead; }
  /// Lets the clusters compute the product that the query, the key and the
  /// value are columns of: `first` columns of each.
  void takeProduct(mlir::linalg::LinalgOp op, const DecodeColumns &first);
  /// Lets the clusters multiply their heads; the parts of this product are
  /// result `result` of the kernel.
  void takeOutput(const HeadOutput &output, unsigned result);
  void emit(DecodeKeys &keys);

private:
  /// Numbers of a head that a lane has.
  static constexpr int64_t kChunk = 8;

  /// Whether workgroups of a cluster write into one another's memory.
  bool hasClusters() const { return b.getGpu().kind == GpuKind::Nvidia; }
  /// Sets what follows from the heads of this workgroup.
  void setHeads(Value number);
  void emitPart();
  /// Sets the queries, and the own key and value where there is one.
  void readRows();
  /// Computes them, some columns by each thread, for all to read, and returns
  /// where they are.
  Value makeRows();
  /// Sets them from there.
  void takeRows(Value rows);
  /// Whether matrix instructions multiply keys and values.
  bool usesMma();
  /// Whether keys are read a step ahead, and the first ones asked for before
  /// the kernels before this one are over.
  bool readsAhead() const;
  /// Asks for the keys and values of the first steps.
  void prefetchKeys();
  /// The first key of this workgroup, and how far steps are apart.
  Value getFirstKey();
  Value getStride();
  /// This lane's part of a row, as it is stored, any numbers past the head.
  Value fetchChunk(int64_t size,
                   llvm::function_ref<Value(Value column, int64_t)> read);
  /// The same with zeros there, in f32.
  Value finishChunk(int64_t size, Value fetched);
  /// This lane's part of a row, zeros past the head, in f32.
  Value readChunk(int64_t size,
                  llvm::function_ref<Value(Value column, int64_t)> read);
  /// What a team has before the first key.
  Values start();
  /// Key number `i` of a team's step that begins with key `first`.
  Value getNumber(Value first, int64_t i);
  /// What a step reads: keys, then values, then what is added to scores.
  Values fetch(Value first);
  /// Adds the keys of a step, of which `fetched` were read.
  Values step(Value first, Values state, mlir::ValueRange fetched);
  /// The score of a key in powers of two, -infinity past the last key.
  Value getScore(int64_t head, Value key, Value bias, Value isThere);
  Value getPower(Value x);
  /// 2^(top - highest), 0 for a top of -infinity.
  Value getFactor(Value top, Value highest);
  /// Adds what the team that differs by `mask` has.
  void merge(Values &state, int64_t head, int64_t mask);
  /// Brings the waves together.
  void emitResult(const Values &state);
  /// Writes what a wave has, whose teams have come together.
  void storeWave(const Values &state, Value outputs, Value tops, Value sums);
  /// What the waves of this workgroup have together of a pair of columns.
  using GetPair = llvm::function_ref<Values(Value head, Value at)>;
  /// Brings the workgroups of a cluster together, each of which then has all
  /// of its heads, and multiplies these.
  void emitOutput(GetPair combineWaves);
  /// Whether the first workgroup of a cluster has had all keys.
  Value isFirstAlone();
  /// What the workgroups of a cluster have together of a pair of columns: each
  /// has left its outputs in `part`, its largest and its sum in `numbers`.
  Values combineCluster(Value part, Value numbers, Value head, Value at);
  /// Visits the pairs of columns of all heads, from `first` on.
  void forEachPair(Value first, int64_t step,
                   llvm::function_ref<void(Value head, Value at)> body);
  /// Output numbers, of which `sum` is the sum of weights.
  Value divide(Value out, Value sum);
  /// What is left of `tops`, `sums` and `outs` of neighbouring columns, parts
  /// of one head's: the largest, the sum, the output before it is divided.
  Values combine(mlir::ValueRange tops, mlir::ValueRange sums,
                 mlir::ValueRange outs);
  /// What this workgroup has of a pair of columns, for the others.
  void leavePart(Value head, Value at, mlir::ValueRange all);
  /// Whether this workgroup is the last of those that share its columns.
  Value isLastPart();
  /// The parts of a pair of columns together.
  Values gatherParts(Value head, Value at);
  /// Where `cluster` leaves what it has of a pair of columns.
  Value getPlaceOfPart(Value cluster, Value head, Value at);
  /// Keys that a workgroup reads in one step.
  int64_t keysAtOnce() const;

  ElementEmitter &emitter;
  GpuBuilder &b;
  Value query, output;
  int64_t numHeads, headSize, valueSize, group;
  int64_t heads; ///< of this workgroup
  int64_t split; ///< workgroups that share the keys
  int64_t keysOfPart;
  int64_t team; ///< lanes that read one key
  int64_t waves;
  double scale;
  mlir::VectorType chunk;
  Value rank; ///< of this workgroup among those
  DecodeParts parts;
  Value cluster;      ///< of this workgroup, among all of the launch
  Value firstCluster; ///< of those that share the keys of its heads
  Value part;         ///< of the keys: the cluster among those
  Value active;       ///< parts that have keys; null for one part
  Value number;       ///< of the heads of this workgroup
  Value kvHead, firstHead, lane, column;
  Values queries;
  Value ownKey, ownValue; ///< this lane's columns; null where there are none

  std::optional<DecodeProduct> product;   ///< that makes query, key and value
  std::optional<DecodeMma> matrices;      ///< where these multiply keys
  std::optional<DecodeOutput> multiplied; ///< heads

  // Set while emit() runs.
  DecodeKeys *keys = nullptr;
  Value count;
};

} // namespace gist

#endif // GIST_PASSES_TILE_GPU_ATTENTION_ATTENTIONDECODE_H
