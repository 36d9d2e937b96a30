//===- KernelGroups.cpp - Which ops become one kernel ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two rules. A root takes the elementwise ops that follow it, as long as each
// is the only reader of what is before it. Then, backwards through what is
// left, an op joins its readers when they all are in one group that works row
// by row and they read its rows one by one: norms, rotary embeddings and
// quantisation of rows become one pass over the tokens.
//
// Where launches count there are four more. A product whose halves meet (gate
// and up) takes what is elementwise after both. A product of few rows takes the
// norm before it, which every workgroup computes for itself. Groups on the rows
// of one product become one group with several results: queries are rotated
// while keys and values go to the cache. Attention of one query takes that
// group too: it attends to the token's own key and value as they are made, and
// writes them; where weights are few it takes the product before that as well,
// and the one behind it, in parts.
// Attention on a cache of clusters puts its call's rows there.
//
//===----------------------------------------------------------------------===//

#include "passes/Graph/KernelGroups.h"
#include "dialect/GistClusterOps.h"
#include "dialect/GistIntegerOps.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "passes/Cost/DecodeSplit.h"
#include "passes/Graph/Readers.h"
#include "passes/Kernel/ColumnHalves.h"
#include "passes/Kernel/HeadColumns.h"
#include "passes/Kernel/HeadOutput.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/ScaledRows.h"

using namespace mlir;
using namespace gist;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// True for index arithmetic on sizes and arguments, which needs no kernel.
/// The module's commands compute it from the sizes of a call (passes/Emit).
static bool isSizeArithmetic(Operation *op) {
  return llvm::all_of(op->getResultTypes(), llvm::IsaPred<IndexType>) &&
         (isa<tensor::DimOp>(op) ||
          llvm::all_of(op->getOperandTypes(), llvm::IsaPred<IndexType>));
}

/// Whether `op` makes floats of weights in 8 bits, element by element.
static bool isScaledWeight(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumDpsInputs() == 2 &&
         isSmallNumber(getElementTypeOrSelf(generic.getDpsInputs()[0])) &&
         generic.getNumReductionLoops() == 0 &&
         llvm::all_of(generic.getDpsInputs(), [](Value input) {
           return input.getDefiningOp<WeightOp>() != nullptr;
         });
}

KernelRole gist::getKernelRole(Operation *op) {
  if (isa<WeightOp>(op))
    return KernelRole::Given;
  if (isa<DispatchOp>(op) || op->getNumResults() == 0 || isSizeArithmetic(op))
    return KernelRole::Host;
  // Scalars that are computed on the device cannot be passed as arguments of a
  // call.
  // They are computed again in every kernel that needs them.
  if (llvm::none_of(op->getResultTypes(),
                    llvm::IsaPred<ShapedType, SelectionType>))
    return KernelRole::Free; // A number that depends on what tensors hold.
  if (isView(op) ||
      isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp, PackSelectionOp>(
          op))
    return KernelRole::Free;
  // Integers of a weight are scaled where they are read.
  if (isScaledWeight(op))
    return KernelRole::Free;
  // The rows of a weight are dequantised where they are read.
  if (auto dequantize = dyn_cast<DequantizeOp>(op))
    return getSource(dequantize.getBlocks()).getDefiningOp<WeightOp>()
               ? KernelRole::Free
               : KernelRole::Rows;
  if (isa<QuantizeRowsOp, QuantizeBlocksOp>(op))
    return KernelRole::Rows;
  // Ops of the dialect have kernels of their own.
  if (isa<GistDialect>(op->getDialect()))
    return KernelRole::Root;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && linalg::isaContractionOpInterface(structured)
             ? KernelRole::Root
             : KernelRole::Rows;
}

KernelKind KernelGroup::getKind() const {
  KernelKind kind = KernelKind::Rows;
  for (Operation *op : ops) {
    std::optional<KernelKind> found = getRootKind(op);
    if (!found)
      continue;
    kind = *found;
    // A product that attention has taken stands before it.
    if (kind != KernelKind::Matmul)
      break;
  }
  return kind;
}

std::string KernelGroup::getName() const {
  // Names appear in IR and profiles only. No pass reads them: the kind is an
  // attribute.
  if (isRoot) {
    // A gist op names the kernel better than the linalg op it grew from.
    StringRef name = ops.front()->getName().stripDialect();
    for (Operation *op : ops) {
      // Attention that also stores rows is still attention.
      std::optional<KernelKind> kind = getRootKind(op);
      if (kind && kind != getKind())
        continue;
      if (!isa<linalg::LinalgOp>(op) || isa<linalg::MatmulOp>(op))
        name = op->getName().stripDialect();
    }
    return name == "generic" ? "product" : name.str();
  }
  bool isUpdate = llvm::any_of(getTails(), [](Operation *tail) {
    return isa<tensor::InsertSliceOp>(tail) &&
           getUpdatedArgument(tail->getResult(0));
  });
  return isUpdate ? "cache" : "rows";
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// True if rows of what `op` gives fit in the scratch of a kernel that takes
/// some at a time. Kernels are cut where the number of rows is dynamic; of a
/// fixed number all are there at once.
static bool hasSmallRows(Operation *op) {
  constexpr int64_t kMostElements = 8192, kLongestRow = 32768;
  return llvm::all_of(op->getResultTypes(), [](Type result) {
    auto type = dyn_cast<RankedTensorType>(result);
    if (!type || type.getRank() == 0)
      return true;
    if (llvm::any_of(type.getShape().drop_front(), ShapedType::isDynamic))
      return false;
    // Logits of a large vocabulary are too long, a few rows at a time too.
    if (type.isDynamicDim(0))
      return ShapedType::getNumElements(type.getShape().drop_front()) <=
             kLongestRow;
    return type.getDimSize(0) == 1 || type.getNumElements() <= kMostElements;
  });
}

namespace {
class GroupBuilder {
public:
  GroupBuilder(func::FuncOp function, const GpuInfo *gpu)
      : block(&function.getBody().front()), gpu(gpu), fewLaunches(gpu) {}

  /// Roots first: they must not lose their epilogues to groups of rows. Then
  /// backwards, because an op joins its readers, which have to be placed
  /// before.
  SmallVector<KernelGroup> run() {
    for (Operation &op : *block)
      if (getKernelRole(&op) == KernelRole::Root)
        growRoot(&op);
    for (Operation &op : llvm::reverse(*block))
      if (getKernelRole(&op) == KernelRole::Rows && !groupOf.contains(&op))
        placeRows(&op);
    if (fewLaunches) {
      joinReadersOfProducts();
      joinCacheUpdates();
    }

    // Ops stand in the order of the function, so that a group can be cloned as
    // it is; groups in the order of their last op, so that calls come after
    // what they read.
    for (KernelGroup &group : groups)
      llvm::sort(group.ops, [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      });
    // Groups that have joined others.
    llvm::erase_if(groups,
                   [](const KernelGroup &group) { return group.ops.empty(); });
    llvm::sort(groups, [](const KernelGroup &a, const KernelGroup &b) {
      return a.getTail()->isBeforeInBlock(b.getTail());
    });
    return std::move(groups);
  }

private:
  void growRoot(Operation *root) {
    size_t number = start(root, /*isRoot=*/true);
    // Keys and values that are stored in another type are converted as read.
    if (!isa<linalg::LinalgOp>(root))
      for (OpOperand &operand : root->getOpOperands())
        takeConversion(operand.get(), number);
    Operation *tail = root;
    // The gate first: a product that is read by halves has no single reader
    // and so would not find an epilogue.
    for (Operation *op : findGate(root)) {
      join(op, number);
      tail = op;
    }
    // A product that is not cut into tiles would keep all of its result.
    auto product = dyn_cast<linalg::LinalgOp>(root);
    bool isCut = !product || fewLaunches || isTransposedMatmul(product) ||
                 hasSmallRows(root);
    while (Operation *next = isCut ? findEpilogue(tail) : nullptr) {
      join(next, number);
      tail = next;
    }
  }

  /// The ops that make one tensor of the two halves of a product.
  SmallVector<Operation *> findGate(Operation *root) {
    if (!fewLaunches || !isa<linalg::MatmulOp, ScaledMatmulOp>(root))
      return {};
    // Sums of blocks beside totals leave no registers for a gate.
    if (auto product = dyn_cast<ScaledMatmulOp>(root);
        product && product.hasBlocks())
      return {};
    auto halves = getColumnHalves(root->getResult(0));
    if (!halves || !llvm::all_of(*halves, [](Value half) {
          return keepsRows(half.getDefiningOp());
        }))
      return {};
    SmallVector<Operation *> ops = findMeeting((*halves)[0], (*halves)[1]);
    // All or none: with one of them in another kernel, the product would have
    // to be written to memory after all.
    bool isFree = llvm::all_of(ops, [&](Operation *op) {
      return op->getBlock() == block && !groupOf.contains(op);
    });
    return isFree ? ops : SmallVector<Operation *>();
  }

  /// True if all that reads `value` is in group `number`.
  bool isReadIn(Value value, size_t number) {
    SmallVector<Reader> readers;
    collectReaders(value, true, readers);
    return llvm::all_of(readers, [&](const Reader &reader) {
      return groupOf.lookup_or(getOwner(*reader.operand, block), ~0u) == number;
    });
  }

  /// Takes the conversion that makes `value` if it reads what is stored; one of
  /// a value just computed belongs to the kernel that computes it.
  void takeConversion(Value value, size_t number) {
    Operation *op = getSource(value).getDefiningOp();
    if (!op || (!isConversion(op) && !getScaledRows(op)) ||
        groupOf.contains(op) ||
        !getUpdatedArgument(getSource(op->getOperand(0))))
      return;
    if (isReadIn(op->getResult(0), number))
      join(op, number);
  }

  /// The elementwise op that can be computed along with `tail`, or null.
  Operation *findEpilogue(Operation *tail) {
    // Remarks explain why a fusion did not happen.
    auto missed = [&](StringRef why) -> Operation * {
      remark::missed(
          tail->getLoc(),
          remark::RemarkOpts::name("NoEpilogue").category("gist-form-kernels"))
          << (tail->getName().getStringRef() + ": " + why).str();
      return nullptr;
    };
    if (tail->getNumResults() != 1 || !tail->hasOneUse())
      return missed("its result is read more than once");
    OpOperand &use = *tail->getUses().begin();
    if (use.getOwner()->getBlock() != block || !readsOwnElement(use))
      return missed("the reader is not elementwise");
    if (groupOf.contains(use.getOwner()))
      return missed("the reader is computed along with another root");
    return use.getOwner();
  }

  void placeRows(Operation *op) {
    size_t joined = ~size_t(0);
    if (std::optional<StringRef> why = findRowGroup(op, joined)) {
      remark::missed(
          op->getLoc(),
          remark::RemarkOpts::name("NotFused").category("gist-form-kernels"))
          << (op->getName().getStringRef() + ": " + *why).str();
      start(op, /*isRoot=*/false);
      return;
    }
    // What is before this op may follow it into the product.
    if (groups[joined].isRoot)
      prologue.insert(op);
    join(op, joined);
  }

  /// True if `operand` is the x of a product of few rows or leads to it, and
  /// `op` can be computed by each workgroup of that product.
  bool isBeforeProduct(Operation *op, OpOperand &operand) const {
    return fewLaunches && isRowPrologue(op) &&
           (prologue.contains(operand.getOwner()) ||
            (isFewRows(operand) && !isLongNorm(operand.get())));
  }

  /// True if `rows` are long and take two sums of a row, one after the other:
  /// a mean and a variance. With 4096 numbers every workgroup of a product
  /// then takes so much longer that a launch costs less: 52 us instead of 35 in
  /// OPT 6.7B on an H200.
  bool isLongNorm(Value rows) const {
    constexpr int64_t kLongRow = 2048, kSums = 2;
    if (cast<RankedTensorType>(rows.getType()).getShape().back() < kLongRow)
      return false;
    int64_t sums = 0;
    SetVector<Operation *> ops;
    auto follow = [&](Value value) {
      Operation *op = getSource(value).getDefiningOp();
      // What is computed along with a root is read from memory.
      if (op && getKernelRole(op) == KernelRole::Rows && !groupOf.contains(op))
        ops.insert(op);
    };
    follow(rows);
    for (size_t i = 0; i < ops.size(); ++i) {
      auto structured = dyn_cast<linalg::LinalgOp>(ops[i]);
      if (structured && structured.getNumReductionLoops() != 0)
        ++sums;
      for (Value operand : ops[i]->getOperands())
        follow(operand);
    }
    return sums >= kSums;
  }

  /// Sets `number` to the group that all readers of `op` are in, or returns why
  /// `op` cannot join one. The reason goes into a remark (--report=remarks).
  std::optional<StringRef> findRowGroup(Operation *op, size_t &number) {
    SmallVector<Reader> readers;
    for (Value result : op->getResults())
      collectReaders(result, true, readers);
    if (readers.empty())
      return StringRef("nothing reads it");
    // What is inserted into is the memory of the last insertion.
    auto isInsertedInto = [](const Reader &reader) {
      auto insert = dyn_cast<tensor::InsertSliceOp>(reader.operand->getOwner());
      return insert && reader.operand == &insert.getDestMutable();
    };
    bool isPart =
        isa<tensor::InsertSliceOp>(op) && llvm::all_of(readers, isInsertedInto);
    if (!fewLaunches && !isPart && !hasSmallRows(op))
      return StringRef("its rows do not fit in the memory of a kernel");
    for (const Reader &reader : readers) {
      Operation *owner = getOwner(*reader.operand, block);
      auto found = groupOf.find(owner);
      if (found == groupOf.end())
        return StringRef("it is a result of the model");
      std::optional<size_t> joined = found->second;
      if (number != ~size_t(0) && number != *joined)
        joined = joinUpdates(number, *joined);
      if (!joined)
        return StringRef("several kernels read it");
      number = *joined;
      if (groups[number].isRoot && !isBeforeProduct(op, *reader.operand))
        return StringRef("its reader is not computed row by row");
      if (owner != reader.operand->getOwner() || !reader.sameRows ||
          !readsOwnRow(*reader.operand))
        return StringRef("its reader needs more than one row of it");
    }
    return std::nullopt;
  }

  /// Makes one group of two that put the same rows into caches, so that what
  /// both are made of is computed once: integers, and what scales them. Returns
  /// its number.
  std::optional<size_t> joinUpdates(size_t a, size_t b) {
    auto getUpdate = [&](size_t number) {
      const KernelGroup &group = groups[number];
      auto insert = dyn_cast<tensor::InsertSliceOp>(getLast(group));
      bool isAlone = !group.isRoot && group.earlierTails.empty();
      return isAlone && insert && getUpdatedArgument(insert.getDest())
                 ? insert
                 : tensor::InsertSliceOp();
    };
    if (getUpdate(b) && getUpdate(a) &&
        getUpdate(b)->isBeforeInBlock(getUpdate(a)))
      std::swap(a, b);
    tensor::InsertSliceOp first = getUpdate(a), last = getUpdate(b);
    auto isOfIntegers = [](tensor::InsertSliceOp update) {
      return update.getSourceType().getElementType().isInteger(8);
    };
    auto countRows = [](tensor::InsertSliceOp update) {
      int dim = update.getDroppedDims().find_first_unset();
      return update.getMixedSizes()[std::max(dim, 0)];
    };
    if (!first || !last || isOfIntegers(first) == isOfIntegers(last) ||
        !isEqualConstantIntOrValue(countRows(first), countRows(last)) ||
        !isReadAfter(groups[a], last))
      return std::nullopt;
    groups[b].earlierTails.push_back(first);
    merge(a, b);
    return b;
  }

  /// The product whose rows, each by itself, the group is computed from; null
  /// where there is no such product, or where an op of the group reads other
  /// rows than its own: the joined kernel is cut by rows of the product.
  Operation *findProduct(const KernelGroup &group, size_t number) {
    if (group.isRoot || !llvm::all_of(group.ops, isPointwise))
      return nullptr;
    Operation *product = nullptr;
    for (Operation *op : group.ops)
      for (Value value : op->getOperands()) {
        Operation *producer = getSource(value).getDefiningOp();
        auto found = groupOf.find(producer);
        if (found == groupOf.end() ||
            groups[found->second].getKind() != KernelKind::Matmul)
          continue;
        if (product && product != producer)
          return nullptr;
        product = producer;
      }
    if (!product || product->getNumResults() != 1)
      return nullptr;
    SmallVector<Reader> readers;
    collectReaders(product->getResult(0), true, readers);
    for (const Reader &reader : readers) {
      Operation *owner = getOwner(*reader.operand, block);
      if (groupOf.lookup_or(owner, ~size_t(0)) == number &&
          (owner != reader.operand->getOwner() || !reader.sameRows ||
           !readsOwnRow(*reader.operand)))
        return nullptr;
    }
    return product;
  }

  /// True if everything that reads what `group` gives comes after `last`.
  /// Otherwise a reader would stand before the call of the joined group.
  bool isReadAfter(const KernelGroup &group, Operation *last) {
    SmallVector<Reader> readers;
    for (Value result : getLast(group)->getResults())
      collectReaders(result, true, readers);
    return llvm::all_of(readers, [&](const Reader &reader) {
      return last->isBeforeInBlock(getOwner(*reader.operand, block));
    });
  }

  /// KernelGroup::getTail needs sorted ops, which they are only after run().
  static Operation *getLast(const KernelGroup &group) {
    return *llvm::max_element(group.ops, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
  }

  /// Makes one group of those that are computed from rows of one product.
  void joinReadersOfProducts() {
    llvm::MapVector<Operation *, SmallVector<size_t>> readersOf;
    for (auto [number, group] : llvm::enumerate(groups))
      if (Operation *product = findProduct(group, number))
        readersOf[product].push_back(number);
    for (auto &[product, numbers] : readersOf) {
      llvm::sort(numbers, [&](size_t a, size_t b) {
        return getLast(groups[a])->isBeforeInBlock(getLast(groups[b]));
      });
      KernelGroup &joined = groups[numbers.back()];
      Operation *last = getLast(joined);
      for (size_t number : ArrayRef(numbers).drop_back()) {
        if (!isReadAfter(groups[number], last))
          continue;
        // `numbers` is in program order, so the tails are too.
        joined.earlierTails.push_back(getLast(groups[number]));
        llvm::append_range(joined.ops, groups[number].ops);
        // Emptied and not erased yet: numbers in `readersOf` are positions.
        groups[number].ops.clear();
      }
    }
    llvm::erase_if(groups,
                   [](const KernelGroup &group) { return group.ops.empty(); });
  }

  /// The cache update whose result `rows` of attention are sliced from: all
  /// rows up to the new one.
  static tensor::InsertSliceOp findUpdate(Value rows) {
    auto slice = rows.getDefiningOp<tensor::ExtractSliceOp>();
    auto update = slice
                      ? slice.getSource().getDefiningOp<tensor::InsertSliceOp>()
                      : tensor::InsertSliceOp();
    return update && getUpdatedArgument(update.getDest())
               ? update
               : tensor::InsertSliceOp();
  }

  /// True if attention of one token can read its key and value before they are
  /// in the cache. Heads of other sizes have no kernel of their own on GPUs.
  static bool isOneToken(AttentionOp attention) {
    constexpr int64_t kChunk = 8;
    auto isWhole = [](TypedValue<RankedTensorType> rows) {
      return rows.getType().getDimSize(2) % kChunk == 0 &&
             !rows.getType().isDynamicDim(1) && !rows.getType().isDynamicDim(2);
    };
    return attention.getQuery().getType().getDimSize(0) == 1 &&
           attention.getCausal() && !attention.getWindow() &&
           !attention.getMask() && !attention.getOffsets() &&
           isWhole(attention.getKey()) && isWhole(attention.getValue());
  }

  /// Lets attention of one token write its key and value.
  void joinCacheUpdates() {
    // Joining has moved ops between groups.
    for (auto [number, group] : llvm::enumerate(groups))
      for (Operation *op : group.ops)
        groupOf[op] = number;
    for (size_t number = 0; number < groups.size(); ++number)
      for (Operation *op : ArrayRef(groups[number].ops)) {
        if (auto attention = dyn_cast<AttentionOp>(op)) {
          joinOutput(attention, number);
          joinInserts(attention, number);
        } else if (auto attention = dyn_cast<ClusterAttentionOp>(op))
          joinAppend(attention, number);
        else
          continue;
        break; // A group has one root, and merging has changed its ops.
      }
    llvm::erase_if(groups,
                   [](const KernelGroup &group) { return group.ops.empty(); });
  }

  /// Moves the ops of group `other` into group `number`.
  void merge(size_t other, size_t number) {
    llvm::append_range(groups[number].ops, groups[other].ops);
    for (Operation *op : groups[other].ops)
      groupOf[op] = number;
    // Emptied and not erased yet: numbers are positions.
    groups[other].ops.clear();
  }

  /// The product of its heads, in parts (SplitOutputs.h).
  void joinOutput(AttentionOp attention, size_t number) {
    std::optional<HeadOutput> output = findHeadOutput(attention);
    size_t other = output ? groupOf.lookup_or(output->product, number) : number;
    if (other != number && groups[other].ops.size() == 1)
      merge(other, number);
  }

  /// Of a dense cache.
  void joinInserts(AttentionOp attention, size_t number) {
    KernelGroup &group = groups[number];
    tensor::InsertSliceOp key = findUpdate(attention.getKey());
    tensor::InsertSliceOp value = findUpdate(attention.getValue());
    // A single query of a longer call does not qualify: its keys have many
    // rows.
    auto isOneRow = [](tensor::InsertSliceOp update) {
      return update && update.getSourceType().getDimSize(0) == 1;
    };
    if (!isOneRow(key) || !isOneRow(value) || !isOneToken(attention))
      return;
    size_t other = groupOf.lookup_or(key, number);
    if (other == number || groupOf.lookup_or(value, number) != other ||
        groups[other].isRoot ||
        !isReadBy(groups[other], {key, value}, group, {attention}))
      return;
    group.earlierTails = {key, value};
    llvm::sort(group.earlierTails, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    merge(other, number);
    joinProduct(attention, key, value, number);
  }

  /// The product that makes the query, the key and the value of one token, with
  /// the norm before it.
  void joinProduct(AttentionOp attention, tensor::InsertSliceOp key,
                   tensor::InsertSliceOp value, size_t number) {
    std::optional<HeadColumns> columns = findHeadColumns(attention.getQuery());
    if (!columns)
      return;
    linalg::MatmulOp product = columns->product;
    for (tensor::InsertSliceOp update : {key, value}) {
      std::optional<HeadColumns> own = findHeadColumns(update.getSource());
      if (!own || own->product != product)
        return;
    }
    OpOperand &row = product->getOpOperand(0);
    Value weight = product.getInputs()[1];
    RankedTensorType queries = attention.getQuery().getType(),
                     values = attention.getValue().getType();
    size_t other = groupOf.lookup_or(product, number);
    if (other == number || getLast(groups[other]) != product ||
        !isFewRows(row) || !weight.getDefiningOp<WeightOp>() ||
        !takesProduct(queries.getDimSize(1), values.getDimSize(1),
                      queries.getDimSize(2), values.getDimSize(2),
                      cast<RankedTensorType>(weight.getType()).getDimSize(1),
                      getElementTypeOrSelf(weight).getIntOrFloatBitWidth(),
                      *gpu))
      return;
    if (isReadIn(product->getResult(0), number))
      merge(other, number);
  }

  /// The update that puts the rows which attention reads beside a cache of
  /// clusters into it, and does nothing else.
  static ClusterUpdateOp findAppend(ClusterAttentionOp attention) {
    if (attention.getOwn().size() != 2)
      return {};
    for (Operation *user : attention.getOwn()[0].getUsers()) {
      auto update = dyn_cast<ClusterUpdateOp>(user);
      if (update && update.getAbsorbed() &&
          update.getKey() == attention.getOwn()[0] &&
          update.getValue() == attention.getOwn()[1] &&
          update.getHeads() == attention.getHeads() &&
          update.getPast() == attention.getPast() &&
          update.getLayer() == attention.getLayer() &&
          update.getKeys() == attention.getKeys() &&
          update.getValues() == attention.getValues() &&
          update.getWeights() == attention.getWeights() &&
          update.getCounts() == attention.getCounts())
        return update;
    }
    return {};
  }

  /// Of a cache of clusters.
  void joinAppend(ClusterAttentionOp attention, size_t number) {
    KernelGroup &group = groups[number];
    ClusterUpdateOp update = findAppend(attention);
    Operation *last = getLast(group);
    if (!update || groups[groupOf.lookup(update)].ops.size() != 1 ||
        !attention->isBeforeInBlock(update))
      return;
    // The kernel is called where the later one of the two stands.
    Operation *later = last->isBeforeInBlock(update) ? update : last;
    if (!isReadAfter(group, later) ||
        !isReadAfter(groups[groupOf.lookup(update)], later))
      return;
    group.earlierTails = {later == last ? update : last};
    merge(groupOf.lookup(update), number);
    // What makes queries, keys and values, unless others read these. Of many
    // queries several workgroups read a key, and none should make it again.
    if (attention.getQuery().getType().getDimSize(0) != 1)
      return;
    Operation *key = getSource(attention.getOwn()[0]).getDefiningOp();
    size_t other = key ? groupOf.lookup_or(key, number) : number;
    if (other != number && !groups[other].isRoot &&
        isReadBy(groups[other], {}, group, {attention, update}))
      merge(other, number);
  }

  /// True if each result of `made` either is one of `caches` and has its other
  /// readers after `group`, or is read by `readers` alone.
  bool isReadBy(const KernelGroup &made, ArrayRef<Operation *> caches,
                const KernelGroup &group, ArrayRef<Operation *> readers) {
    Operation *last = getLast(group);
    SmallVector<Operation *> tails = made.earlierTails;
    tails.push_back(getLast(made));
    return llvm::all_of(tails, [&](Operation *tail) {
      SmallVector<Reader> all;
      for (Value result : tail->getResults())
        collectReaders(result, true, all);
      return llvm::all_of(all, [&](const Reader &reader) {
        Operation *owner = getOwner(*reader.operand, block);
        return llvm::is_contained(readers, owner) ||
               (llvm::is_contained(caches, tail) &&
                last->isBeforeInBlock(owner));
      });
    });
  }

  size_t start(Operation *op, bool isRoot) {
    groups.push_back({{op}, isRoot});
    groupOf[op] = groups.size() - 1;
    return groups.size() - 1;
  }

  void join(Operation *op, size_t number) {
    groups[number].ops.push_back(op);
    groupOf[op] = number;
  }

  Block *block;
  const GpuInfo *gpu; ///< null on CPUs
  bool fewLaunches;
  SmallVector<KernelGroup> groups;
  DenseMap<Operation *, size_t> groupOf;
  DenseSet<Operation *> prologue; ///< ops before the product of their group
};
} // namespace

SmallVector<KernelGroup> gist::formKernelGroups(func::FuncOp function,
                                                const GpuInfo *gpu) {
  return GroupBuilder(function, gpu).run();
}
