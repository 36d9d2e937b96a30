//===- LowerToGpu.cpp - The pass -gist-lower-to-gpu -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves kernels on buffers into a gpu.module and gives them the signature in
// which the runtime launches them: one pointer to global memory for each slot.
// Kernels whose launches are shared by sequences also get a second form, with
// one slot that points to a table of slots.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistLaunchNames.h"
#include "mlir/Conversion/ArithToAMDGPU/ArithToAMDGPU.h"
#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Kernel/KernelKinds.h"
#include "passes/Kernel/Kernels.h"
#include "passes/Kernel/Limits.h"
#include "passes/Passes.h"
#include "passes/Target/GpuMath.h"
#include "passes/Target/Info/ModuleTarget.h"
#include "passes/Target/KernelSlots.h"
#include "passes/Tile/Gpu/Core/Registers.h"
#include "llvm/Support/MathExtras.h"

namespace gist {
#define GEN_PASS_DEF_LOWERTOGPUPASS
#include "passes/Passes.h.inc"
} // namespace gist

using namespace mlir;
using namespace gist;

/// Pieces of workgroup memory start at multiples of this: the widest access,
/// and for sm_90 what bulk copies ask for.
static constexpr int64_t kAmdAlignment = 16;
static constexpr int64_t kNvidiaAlignment = 128;

/// The widest access that one instruction makes.
static constexpr int64_t kMaxAccess = 16;

static gpu::AddressSpaceAttr getSpace(MLIRContext *context,
                                      gpu::AddressSpace space) {
  return gpu::AddressSpaceAttr::get(context, space);
}

static MemRefType inSpace(MemRefType type, Attribute space) {
  return MemRefType::Builder(type).setMemorySpace(space);
}

/// Types of buffers as the conversions to ROCDL and NVVM will have them: in
/// both, global memory is space 1 and workgroup memory space 3.
static void addMemorySpaces(LLVMTypeConverter &types) {
  populateGpuMemorySpaceAttributeConversions(
      types, [](gpu::AddressSpace space) -> unsigned {
        return space == gpu::AddressSpace::Global ? 1 : 3;
      });
}

namespace {
/// Turns one kernel into a function of a gpu.module.
class KernelLowering {
public:
  KernelLowering(func::FuncOp kernel, const GpuInfo &gpu, OpBuilder builder,
                 bool byTable)
      : kernel(kernel), gpu(gpu), builder(builder), loc(kernel.getLoc()),
        context(kernel.getContext()), byTable(byTable) {}

  LogicalResult run() {
    if (failed(check()) || failed(createFunction()))
      return failure();
    // Arguments come before the body is moved, since the moved ops must not use
    // those of the old function.
    replaceArguments();
    moveBody();
    if (failed(placeWorkgroupMemory()))
      return failure();
    assignSpaces();
    assignAlignments();
    boundBlocks();
    return success();
  }

private:
  /// Kernels may be written by hand and given to gist-opt, so everything that
  /// the lowering relies on is checked.
  LogicalResult check() {
    if (kernel.getNumResults() != 0)
      return kernel.emitError("has a result that is not in its destination");
    if (!kernel.getBody().hasOneBlock())
      return kernel.emitError("has branches; expected structured control flow");
    for (Type type : kernel.getArgumentTypes()) {
      auto buffer = dyn_cast<MemRefType>(type);
      if (!type.isIndex() && !(buffer && buffer.getLayout().isIdentity() &&
                               !buffer.getMemorySpace()))
        return kernel.emitError("has an argument that no slot can hold: ")
               << type;
    }
    auto threads = kernel->getAttrOfType<DenseI64ArrayAttr>(kWorkgroupAttr);
    if (!threads || threads.size() != 1 || threads[0] < 1 || threads[0] > 1024)
      return kernel.emitError("needs the attribute ")
             << kWorkgroupAttr << " with 1 to 1024 threads";
    return success();
  }

  LogicalResult createFunction() {
    for (Type type : kernel.getArgumentTypes()) {
      ++numSlots;
      if (auto buffer = dyn_cast<MemRefType>(type))
        numSlots += buffer.getNumDynamicDims();
    }
    Type pointer = LLVM::LLVMPointerType::get(context, /*addressSpace=*/1);
    SmallVector<Type> slots(byTable ? 1 : numSlots, pointer);
    std::string name = kernel.getName().str();
    if (byTable)
      name += kByTableSuffix;
    function = gpu::GPUFuncOp::create(builder, loc, name,
                                      builder.getFunctionType(slots, {}));
    function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                      builder.getUnitAttr());
    // The emitter finds grid and memory in these attributes.
    for (NamedAttribute attribute : kernel->getDiscardableAttrs())
      function->setAttr(attribute.getName(), attribute.getValue());
    auto threads = kernel->getAttrOfType<DenseI64ArrayAttr>(kWorkgroupAttr);
    // With a known size no code reads it from the launch.
    function.setKnownBlockSize(
        ArrayRef<int32_t>{static_cast<int32_t>(threads[0]), 1, 1});
    builder.setInsertionPointToStart(&function.getBody().front());
    return success();
  }

  /// The number in the word that a slot points to. It is a size or position
  /// below 2^31: arithmetic with it fits 32 bits where the rest does.
  Value loadNumber(Value slot) {
    auto load = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), slot,
                                     /*alignment=*/8);
    load.setInvariant(true);
    auto number =
        LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), load);
    number.setNonNeg(true);
    return number;
  }

  /// What the kernel calls its argument, from its slots, which `getSlot` gives.
  /// Numbers are behind pointers too: a slot is always an address.
  Value createArgument(BlockArgument argument,
                       function_ref<Value(unsigned)> getSlot) {
    LLVMTypeConverter types(context);
    addMemorySpaces(types);
    Value slot = getSlot(argument.getArgNumber());
    auto buffer = dyn_cast<MemRefType>(argument.getType());
    if (!buffer)
      return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        loadNumber(slot));
    // Those of sizes are behind those of arguments.
    unsigned next = kernel.getNumArguments();
    for (Type type :
         kernel.getArgumentTypes().take_front(argument.getArgNumber()))
      if (auto before = dyn_cast<MemRefType>(type))
        next += before.getNumDynamicDims();
    SmallVector<Value> sizes;
    for (size_t i = 0; i < buffer.getNumDynamicDims(); ++i)
      sizes.push_back(loadNumber(getSlot(next++)));
    MemRefType global =
        inSpace(buffer, getSpace(context, gpu::AddressSpace::Global));
    return createMemRef(builder, loc, types, global, slot, sizes);
  }

  /// Slot `i` of the row of `table` that belongs to this workgroup. Nothing
  /// writes the table while kernels run.
  Value loadFromTable(Value table, unsigned i) {
    Type pointer = LLVM::LLVMPointerType::get(context, /*addressSpace=*/1);
    Type word = builder.getI64Type();
    Value row =
        gpu::BlockIdOp::create(builder, loc, gpu::Dimension::z).getResult();
    row = arith::IndexCastOp::create(builder, loc, word, row);
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(builder, loc, word, value);
    };
    Value place = arith::AddIOp::create(
        builder, loc,
        arith::MulIOp::create(builder, loc, row, constant(numSlots)),
        constant(i));
    Value address = LLVM::GEPOp::create(builder, loc, table.getType(), pointer,
                                        table, LLVM::GEPArg(place));
    auto slot = LLVM::LoadOp::create(builder, loc, pointer, address,
                                     /*alignment=*/8);
    slot.setInvariant(true);
    return slot;
  }

  /// On AMD, parts of a kernel may ask to load their arguments anew.
  void replaceArguments() {
    if (gpu.kind == GpuKind::Amd)
      kernel.walk([&](Operation *op) {
        if (op->hasAttr(kLoadArgumentsAttr))
          loadArguments(op->getRegion(0));
      });
    for (BlockArgument argument : kernel.getArguments())
      argument.replaceAllUsesWith(
          createArgument(argument, [&](unsigned i) -> Value {
            return byTable ? loadFromTable(function.getArgument(0), i)
                           : function.getArgument(i);
          }));
  }

  /// Loads the arguments that `region` uses at its beginning, through a pointer
  /// that the compiler cannot prove equal to the others. Otherwise it would
  /// merge the loads and keep all arguments in registers for the whole kernel.
  void loadArguments(Region &region) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&region.front());
    Type constant = LLVM::LLVMPointerType::get(context, /*addressSpace=*/4);
    Value begin = LLVM::CallIntrinsicOp::create(
                      builder, loc, constant,
                      builder.getStringAttr("llvm.amdgcn.kernarg.segment.ptr"),
                      ValueRange())
                      .getResult(0);
    Value hidden = hide(builder, loc, begin, "=s,0", /*isFixed=*/true);
    auto loadOwn = [&](unsigned i) -> Value {
      Type pointer = function.getArgument(i).getType();
      Value place = LLVM::GEPOp::create(builder, loc, constant, pointer, hidden,
                                        LLVM::GEPArg(i));
      auto slot = LLVM::LoadOp::create(builder, loc, pointer, place,
                                       /*alignment=*/8);
      slot.setInvariant(true);
      return slot;
    };
    auto loadSlot = [&](unsigned i) {
      return byTable ? loadFromTable(loadOwn(0), i) : loadOwn(i);
    };
    for (BlockArgument argument : kernel.getArguments()) {
      auto isInside = [&](OpOperand &use) {
        return region.isAncestor(use.getOwner()->getParentRegion());
      };
      if (llvm::any_of(argument.getUses(), isInside))
        argument.replaceUsesWithIf(createArgument(argument, loadSlot),
                                   isInside);
    }
  }

  void moveBody() {
    Block &from = kernel.getBody().front();
    Operation *terminator = from.getTerminator();
    // The body is moved, not cloned; its arguments have been replaced above.
    builder.getInsertionBlock()->getOperations().splice(
        builder.getInsertionPoint(), from.getOperations());
    builder.setInsertionPoint(terminator);
    gpu::ReturnOp::create(builder, terminator->getLoc());
    terminator->erase();
    builder.setInsertionPointToStart(&function.getBody().front());
  }

  LogicalResult placeWorkgroupMemory() {
    SmallVector<memref::AllocaOp> pieces;
    Attribute workgroup = getSpace(context, gpu::AddressSpace::Workgroup);
    function.walk([&](memref::AllocaOp piece) {
      if (piece.getType().getMemorySpace() == workgroup)
        pieces.push_back(piece);
    });
    // On NVIDIA's GPUs a kernel gets more than 48 KiB only as dynamic memory,
    // whose size the launch says. There all pieces are views of one buffer.
    bool isAmd = gpu.kind == GpuKind::Amd;
    int64_t unit = isAmd ? kAmdAlignment : kNvidiaAlignment;
    int64_t used = 0;
    Value dynamic;
    for (memref::AllocaOp piece : pieces) {
      MemRefType type = piece.getType();
      if (!type.hasStaticShape() || !type.getLayout().isIdentity() ||
          piece->getParentOp() != function)
        return piece.emitError("expects workgroup memory of a constant size, "
                               "allocated at the top level of a kernel");
      builder.setInsertionPoint(piece);
      int64_t alignment =
          std::max<int64_t>(unit, piece.getAlignment().value_or(1));
      int64_t offset = llvm::alignTo(used, alignment);
      used = offset + type.getNumElements() *
                          llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      if (isAmd) {
        unsigned number = function.getNumWorkgroupAttributions();
        BlockArgument place = function.addWorkgroupAttribution(type, loc);
        function.setWorkgroupAttributionAttr(
            number, LLVM::LLVMDialect::getAlignAttrName(),
            builder.getI64IntegerAttr(alignment));
        piece.replaceAllUsesWith(place);
      } else {
        if (!dynamic)
          dynamic = gpu::DynamicSharedMemoryOp::create(
              builder, loc,
              MemRefType::get({ShapedType::kDynamic}, builder.getI8Type(),
                              MemRefLayoutAttrInterface(), workgroup));
        Value start = arith::ConstantIndexOp::create(builder, loc, offset);
        piece.replaceAllUsesWith(memref::ViewOp::create(builder, loc, type,
                                                        dynamic, start,
                                                        ValueRange())
                                     .getResult());
      }
      piece.erase();
    }
    if (used > gpu.workgroupMemory)
      return function.emitError("takes ")
             << used << " bytes of workgroup memory; " << gpu.name << " has "
             << gpu.workgroupMemory;
    if (!isAmd && used != 0)
      function->setAttr(kSharedMemoryAttr, builder.getI64IntegerAttr(used));
    return success();
  }

  /// Buffers without a space are global, except those on the thread's stack, so
  /// that no access needs the slower instructions that find out where it goes.
  void assignSpaces() {
    Attribute global = getSpace(context, gpu::AddressSpace::Global);
    Attribute local = getSpace(context, gpu::AddressSpace::Private);
    auto assign = [&](Value value, Attribute space) {
      if (auto type = dyn_cast<MemRefType>(value.getType());
          type && !type.getMemorySpace())
        value.setType(inSpace(type, space));
    };
    // In this order a source has its space before a view asks for it.
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      Attribute space = global;
      if (isa<memref::AllocaOp>(op))
        space = local;
      else if (auto view = dyn_cast<ViewLikeOpInterface>(op))
        if (auto source = dyn_cast<MemRefType>(view.getViewSource().getType()))
          space = source.getMemorySpace();
      for (Value result : op->getResults())
        assign(result, space);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            assign(argument, space);
    });
  }

  /// A vector that is loaded or stored at once, rather than transferred, is
  /// aligned to its size, unless the op says otherwise.
  /// Transfers check bounds and may begin anywhere.
  void assignAlignments() {
    function.walk([&](Operation *op) {
      VectorType type;
      if (auto load = dyn_cast<vector::LoadOp>(op))
        type = load.getVectorType();
      else if (auto store = dyn_cast<vector::StoreOp>(op))
        type = store.getVectorType();
      StringRef name = "alignment";
      if (!type || op->getAttr(name))
        return;
      uint64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
      // The largest power of two that divides the size.
      uint64_t alignment = llvm::bit_floor(bits & -bits) / 8;
      op->setAttr(name, builder.getI64IntegerAttr(
                            std::clamp<int64_t>(alignment, 1, kMaxAccess)));
    });
  }

  /// Grids have fewer than 2^31 workgroups.
  void boundBlocks() {
    function.walk([&](gpu::BlockIdOp block) {
      if (!block.getUpperBound())
        block.setUpperBoundAttr(builder.getIndexAttr(INT32_MAX));
    });
  }

  func::FuncOp kernel;
  const GpuInfo &gpu;
  OpBuilder builder;
  Location loc;
  MLIRContext *context;
  bool byTable; ///< slots are in a table
  unsigned numSlots = 0;
  gpu::GPUFuncOp function;
};

/// Whether the kernel is to be there by table too; the third dimension of its
/// grid must be free for that.
static bool takeByTable(func::FuncOp kernel) {
  auto grid = kernel->getAttrOfType<ArrayAttr>(kGridAttr);
  if (kernel->hasAttr(kByTableAttr) && grid && grid.size() <= 2)
    return true;
  kernel->removeAttr(kByTableAttr);
  return false;
}

struct LowerToGPUPass final : gist::impl::LowerToGPUPassBase<LowerToGPUPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    LowerToGPUPassBase::getDependentDialects(registry);
    createArithToAMDGPUConversionPass()->getDependentDialects(registry);
  }

  /// Numbers of 8 bits become instructions of AMD's GPUs, which have them.
  /// A pass of its own is only run where there is something to convert.
  LogicalResult convertNumbers(const GpuInfo &gpu) {
    auto isSmall = [](Value value) {
      return getElementTypeOrSelf(value).getIntOrFloatBitWidth() == 8;
    };
    WalkResult found = getOperation().walk([&](Operation *op) {
      bool isHere = isa<arith::ExtFOp, arith::TruncFOp>(op) &&
                    (isSmall(op->getOperand(0)) || isSmall(op->getResult(0)));
      return isHere ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (gpu.kind != GpuKind::Amd || !found.wasInterrupted())
      return success();
    ArithToAMDGPUConversionPassOptions options;
    options.chipset = gpu.name;
    OpPassManager pm(ModuleOp::getOperationName());
    pm.addPass(createArithToAMDGPUConversionPass(options));
    return runPipeline(pm, getOperation());
  }

  LogicalResult lower() {
    ModuleOp module = getOperation();
    const GpuInfo *gpu = getGpuTarget(module);
    if (!gpu || failed(convertNumbers(*gpu)))
      return failure();
    SmallVector<func::FuncOp> kernels;
    for (auto function : module.getOps<func::FuncOp>())
      if (isKernel(function)) {
        if (failed(verifyHasBody(function)) || failed(verifyVectors(function)))
          return failure();
        kernels.push_back(function);
      }
    if (kernels.empty())
      return success();
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto device = gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
    for (func::FuncOp kernel : kernels) {
      func::FuncOp twin = takeByTable(kernel) ? kernel.clone() : func::FuncOp();
      for (func::FuncOp each : {kernel, twin}) {
        if (!each)
          continue;
        builder.setInsertionPointToEnd(device.getBody());
        LogicalResult status =
            KernelLowering(each, *gpu, builder, each == twin).run();
        each.erase();
        if (failed(status))
          return failure();
      }
    }
    // After the move: patterns that know the target work inside of the
    // gpu.module.
    RewritePatternSet patterns(&getContext());
    vector::populateVectorTransferLoweringPatterns(patterns,
                                                   /*maxTransferRank=*/1);
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    populateGpuMathPatterns(patterns, *gpu);
    return applyPatternsGreedily(device, std::move(patterns));
  }

  void runOnOperation() override {
    if (failed(lower()))
      signalPassFailure();
  }
};
} // namespace
