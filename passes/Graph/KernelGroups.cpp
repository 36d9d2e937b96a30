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
//===----------------------------------------------------------------------===//

#include "passes/Graph/KernelGroups.h"
#include "dialect/GistOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace gist;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// True for ops that rename elements: readers look through them.
static bool isView(Operation *op) {
  return isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ExtractSliceOp>(op);
}

/// What `value` is a view of, or itself.
static Value getSource(Value value) {
  for (Operation *op = value.getDefiningOp(); op && isView(op);
       op = value.getDefiningOp())
    value = op->getOperand(0);
  return value;
}

/// True for index arithmetic on sizes and arguments, which needs no kernel.
static bool isSizeArithmetic(Operation *op) {
  return llvm::all_of(op->getResultTypes(), llvm::IsaPred<IndexType>) &&
         (isa<tensor::DimOp>(op) ||
          llvm::all_of(op->getOperandTypes(), llvm::IsaPred<IndexType>));
}

KernelRole gist::getKernelRole(Operation *op) {
  if (isa<WeightOp>(op))
    return KernelRole::Given;
  if (isa<DispatchOp>(op) || op->getNumResults() == 0 || isSizeArithmetic(op))
    return KernelRole::Host;
  // Scalars that are computed on the device cannot be passed as arguments of a
  // call.
  if (llvm::none_of(op->getResultTypes(),
                    llvm::IsaPred<ShapedType, SelectionType>))
    return KernelRole::Free; // A number that depends on what tensors hold.
  if (isView(op) ||
      isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp, PackSelectionOp>(
          op))
    return KernelRole::Free;
  // The rows of a weight are dequantised where they are read.
  if (auto dequantize = dyn_cast<DequantizeOp>(op))
    return getSource(dequantize.getBlocks()).getDefiningOp<WeightOp>()
               ? KernelRole::Free
               : KernelRole::Rows;
  if (isa<QuantizeRowsOp>(op))
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
  for (Operation *op : ops)
    if (std::optional<KernelKind> kind = getRootKind(op))
      return *kind;
  return KernelKind::Rows;
}

std::string KernelGroup::getName() const {
  if (isRoot) {
    // A gist op names the kernel better than the linalg op it grew from.
    StringRef name = ops.front()->getName().stripDialect();
    for (Operation *op : ops)
      if (!isa<linalg::LinalgOp>(op))
        name = op->getName().stripDialect();
    return name == "generic" ? "product" : name.str();
  }
  if (isa<tensor::InsertSliceOp>(getTail()) &&
      getUpdatedArgument(getTail()->getResult(0)))
    return "cache";
  return "rows";
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

/// A use of a value by a compute op, through any number of views.
struct Reader {
  OpOperand *operand;   ///< of the op that computes, or returns
  bool sameRows = true; ///< every view on the way keeps rows as they are
};

/// True if row i of the view's result is made of row i of its source alone.
static bool keepsRows(Operation *view) {
  if (isa<tensor::CastOp>(view))
    return true;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view))
    return expand.getReassociationIndices().front().size() == 1;
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(view))
    return collapse.getReassociationIndices().front().size() == 1;
  auto slice = cast<tensor::ExtractSliceOp>(view);
  if (slice.getDroppedDims().test(0) ||
      !isConstantIntValue(slice.getMixedOffsets()[0], 0) ||
      !isConstantIntValue(slice.getMixedStrides()[0], 1))
    return false;
  FailureOr<bool> isWhole = ValueBoundsConstraintSet::areEqual(
      ValueBoundsConstraintSet::Variable(slice.getSource(), 0),
      ValueBoundsConstraintSet::Variable(slice.getMixedSizes()[0]));
  return succeeded(isWhole) && *isWhole;
}

/// Views do not compute, so the ops behind them are the readers.
static void collectReaders(Value value, bool sameRows,
                           SmallVectorImpl<Reader> &readers) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tensor::DimOp>(user))
      continue; // Sizes are known on the host.
    if (isView(user) && use.getOperandNumber() == 0)
      collectReaders(user->getResult(0), sameRows && keepsRows(user), readers);
    else
      readers.push_back({&use, sameRows});
  }
}

/// The op of the function's block that `operand`'s owner is, or is inside of.
static Operation *getOwner(const OpOperand &operand, Block *block) {
  return block->findAncestorOpInBlock(*operand.getOwner());
}

/// True if row i of the result of `operand`'s owner takes row i of `operand`
/// and no other.
static bool readsOwnRow(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<DequantizeOp, QuantizeRowsOp>(op))
    return true;
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    // A piece of the cache is its rows, whatever they are called there.
    if (getUpdatedArgument(insert.getDest()))
      return &operand == &insert.getSourceMutable();
    FailureOr<bool> isWhole = ValueBoundsConstraintSet::areEqual(
        ValueBoundsConstraintSet::Variable(insert.getDest(), 0),
        ValueBoundsConstraintSet::Variable(insert.getMixedSizes()[0]));
    return insert.getSourceType().getRank() == insert.getDestType().getRank() &&
           isConstantIntValue(insert.getMixedOffsets()[0], 0) &&
           isConstantIntValue(insert.getMixedStrides()[0], 1) &&
           succeeded(isWhole) && *isWhole;
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return concat.getDim() != 0;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || op->getNumResults() != 1)
    return false;
  AffineMap result =
      structured.getMatchingIndexingMap(structured.getDpsInitOperand(0));
  AffineMap read = structured.getMatchingIndexingMap(&operand);
  if (result.getNumResults() == 0 || read.getNumResults() == 0)
    return false;
  // The row of the result is one loop, and the operand is read at that loop in
  // its first dimension and nowhere else.
  auto row = dyn_cast<AffineDimExpr>(result.getResult(0));
  if (!row || read.getResult(0) != row)
    return false;
  for (AffineExpr other : read.getResults().drop_front())
    if (other.isFunctionOfDim(row.getPosition()))
      return false;
  return true;
}

/// True if the owner computes each of its elements from the element of
/// `operand` at the same place.
static bool readsOwnElement(OpOperand &operand) {
  auto structured = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  return structured && structured->getNumResults() == 1 &&
         structured.getNumLoops() == structured.getNumParallelLoops() &&
         structured.isDpsInput(&operand) &&
         structured.getMatchingIndexingMap(&operand).isIdentity() &&
         structured.getMatchingIndexingMap(structured.getDpsInitOperand(0))
             .isIdentity();
}

/// True for an elementwise change of element type.
static bool isConversion(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 ||
      !readsOwnElement(generic->getOpOperand(0)))
    return false;
  return llvm::all_of(generic.getBody()->without_terminator(),
                      llvm::IsaPred<arith::ExtFOp, arith::TruncFOp>);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {
class GroupBuilder {
public:
  explicit GroupBuilder(func::FuncOp function)
      : block(&function.getBody().front()) {}

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

    // Ops stand in the order of the function, so that a group can be cloned as
    // it is; groups in the order of their last op, so that calls come after
    // what they read.
    for (KernelGroup &group : groups)
      llvm::sort(group.ops, [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      });
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
    while (Operation *next = findEpilogue(tail)) {
      join(next, number);
      tail = next;
    }
  }

  /// Takes the conversion that makes `value` if it reads what is stored; one of
  /// a value just computed belongs to the kernel that computes it.
  void takeConversion(Value value, size_t number) {
    Operation *op = getSource(value).getDefiningOp();
    if (!op || !isConversion(op) || groupOf.contains(op) ||
        !getUpdatedArgument(getSource(op->getOperand(0))))
      return;
    SmallVector<Reader> readers;
    collectReaders(op->getResult(0), true, readers);
    if (llvm::all_of(readers, [&](const Reader &reader) {
          return groupOf.lookup_or(getOwner(*reader.operand, block), ~0u) ==
                 number;
        }))
      join(op, number);
  }

  /// The elementwise op that can be computed along with `tail`, or null.
  Operation *findEpilogue(Operation *tail) {
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
    join(op, joined);
  }

  /// Sets `number` to the group that all readers of `op` are in, or says why
  /// there is none that `op` could join.
  /// The reason goes into a remark (--report=remarks).
  std::optional<StringRef> findRowGroup(Operation *op, size_t &number) {
    SmallVector<Reader> readers;
    for (Value result : op->getResults())
      collectReaders(result, true, readers);
    if (readers.empty())
      return StringRef("nothing reads it");
    for (const Reader &reader : readers) {
      Operation *owner = getOwner(*reader.operand, block);
      auto found = groupOf.find(owner);
      if (found == groupOf.end())
        return StringRef("it is a result of the model");
      if (number != ~size_t(0) && number != found->second)
        return StringRef("several kernels read it");
      number = found->second;
      if (groups[number].isRoot)
        return StringRef("its reader is not computed row by row");
      if (owner != reader.operand->getOwner() || !reader.sameRows ||
          !readsOwnRow(*reader.operand))
        return StringRef("its reader needs more than one row of it");
    }
    return std::nullopt;
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
  SmallVector<KernelGroup> groups;
  DenseMap<Operation *, size_t> groupOf;
};
} // namespace

SmallVector<KernelGroup> gist::formKernelGroups(func::FuncOp function) {
  return GroupBuilder(function).run();
}
