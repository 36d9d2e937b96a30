//===- Executable.cpp - Calls of our kernels in IREE's programs -----------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// IREE binds buffers to a dispatch in the order of its tensors, results that
// are new memory last, and passes numbers apart. Our kernels take slots: all
// operands in order, then dynamic sizes. On a CPU a function between the two
// puts them in order. On a GPU there is none, so there every slot is a buffer,
// in order, numbers too, and no result is new.
//
//===----------------------------------------------------------------------===//

#include "passes/Iree/Executable.h"
#include "dialect/GistTargetAttrs.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "passes/Iree/Words.h"
#include "passes/Kernel/Kernels.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace gist;

static constexpr llvm::StringLiteral kExecutable = "gist_kernels";

/// The numbers of a call in the order of their slots.
static SmallVector<Value> getNumbers(ImplicitLocOpBuilder &b, DispatchOp call) {
  SmallVector<Value> numbers;
  for (Value operand : call->getOperands())
    if (operand.getType().isIndex())
      numbers.push_back(operand);
  for (Value operand : call->getOperands())
    if (!operand.getType().isIndex())
      llvm::append_range(
          numbers, tensor::createDynamicDimValues(b, b.getLoc(), operand));
  return numbers;
}

/// The maps of the sizes of a grid.
static SmallVector<AffineMap> getGrid(func::FuncOp kernel) {
  return llvm::to_vector(kernel->getAttrOfType<ArrayAttr>(kGridAttr)
                             .getAsValueRange<AffineMapAttr>());
}

/// The numbers that the grid of `kernel` depends on.
static SmallVector<unsigned> getWorkload(func::FuncOp kernel) {
  SmallVector<unsigned> used;
  SmallVector<AffineMap> grid = getGrid(kernel);
  unsigned symbols = 0;
  for (AffineMap map : grid)
    symbols = std::max(symbols, map.getNumSymbols());
  for (unsigned i = 0; i < symbols; ++i)
    if (llvm::any_of(grid,
                     [&](AffineMap map) { return map.isFunctionOfSymbol(i); }))
      used.push_back(i);
  return used;
}

/// Ends a region that gives the three sizes of the grid. `workload` are the
/// numbers of getWorkload.
static void returnGrid(ImplicitLocOpBuilder &b, func::FuncOp kernel,
                       ValueRange workload, StringRef returnOp) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  SmallVector<Value> sizes;
  for (AffineMap map : getGrid(kernel)) {
    SmallVector<Value> symbols(map.getNumSymbols(), zero);
    for (auto [number, value] : llvm::zip_equal(getWorkload(kernel), workload))
      if (number < symbols.size())
        symbols[number] = value;
    sizes.push_back(affine::AffineApplyOp::create(b, map, symbols));
  }
  sizes.resize(3, one);
  iree::create(b, returnOp, sizes);
}

/// `#hal.executable.target` and the file, as an entry of a table of objects.
static std::string getObject(StringRef backend, StringRef format,
                             StringRef object) {
  return ("#hal.executable.target<" + iree::quote(backend) + ", " +
          iree::quote(format) +
          "> = [#hal.executable.object<{path = " + iree::quote(object) + "}>]");
}

static DenseI32ArrayAttr segments(Builder &b, ArrayRef<size_t> sizes) {
  return b.getDenseI32ArrayAttr(llvm::map_to_vector(
      sizes, [](size_t size) { return static_cast<int32_t>(size); }));
}

LogicalResult KernelCalls::replace(DispatchOp call) {
  auto kernel = symbols.lookup<func::FuncOp>(call.getKernel());
  if (object.empty() || !kernel->hasAttr(kGridAttr))
    return call.emitOpError("calls a kernel without a file of code; name one "
                            "with the option 'object'");
  if (auto gpu = module->getAttrOfType<GpuTargetAttr>(kTargetAttr))
    replaceOnGpu(call, kernel, gpu.getName());
  else
    replaceOnCpu(call, kernel);
  return success();
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

void KernelCalls::replaceOnCpu(DispatchOp call, func::FuncOp kernel) {
  ImplicitLocOpBuilder b(call.getLoc(), call);
  SmallVector<Value> numbers = getNumbers(b, call);
  SmallVector<Value> workload, arguments, argumentSizes, resultSizes;
  for (unsigned number : getWorkload(kernel))
    workload.push_back(numbers[number]);
  auto addTensor = [&](Value tensor) {
    arguments.push_back(tensor);
    llvm::append_range(argumentSizes,
                       tensor::createDynamicDimValues(b, b.getLoc(), tensor));
  };
  for (Value input : call.getInputs())
    if (!input.getType().isIndex())
      addTensor(input);
  // Memory without content is left to IREE, which then need not copy it.
  SmallVector<bool> isNew;
  SmallVector<Attribute> tied;
  for (Value output : call.getOutputs()) {
    isNew.push_back(output.getDefiningOp<tensor::EmptyOp>() != nullptr);
    tied.push_back(b.getIndexAttr(
        isNew.back() ? -1 : static_cast<int64_t>(arguments.size())));
    llvm::append_range(resultSizes,
                       tensor::createDynamicDimValues(b, b.getLoc(), output));
    if (!isNew.back())
      addTensor(output);
  }
  llvm::append_range(arguments, numbers);

  SmallVector<Value> operands;
  for (ArrayRef<Value> part : {ArrayRef(workload), ArrayRef(arguments),
                               ArrayRef(argumentSizes), ArrayRef(resultSizes)})
    llvm::append_range(operands, part);
  MLIRContext *context = b.getContext();
  auto target = SymbolRefAttr::get(
      StringAttr::get(context, kExecutable),
      FlatSymbolRefAttr::get(context, getExport(kernel, isNew)));
  Operation *dispatch = iree::create(
      b, "flow.dispatch", operands, call.getResultTypes(),
      {b.getNamedAttr("entry_points", b.getArrayAttr(target)),
       b.getNamedAttr("operandSegmentSizes",
                      segments(b, {workload.size(), arguments.size(),
                                   argumentSizes.size(), resultSizes.size()})),
       b.getNamedAttr("tied_operands", b.getArrayAttr(tied))});
  call.replaceAllUsesWith(dispatch->getResults());
  call.erase();
}

std::string KernelCalls::getExport(func::FuncOp kernel, ArrayRef<bool> isNew) {
  std::string key = kernel.getName().str();
  for (bool output : isNew)
    key += output ? " new" : " given";
  auto [found, isFirst] = exports.try_emplace(key);
  if (isFirst) {
    // Kernels called in two ways have two exports.
    found->second =
        kernel.getName().str() + "_" + std::to_string(exports.size() - 1);
    addExport(kernel, found->second, isNew);
  }
  return found->second;
}

void KernelCalls::openExecutable() {
  if (executable)
    return;
  // Behind the globals, which are in front, and before the functions.
  Operation *first = &*llvm::find_if(
      *module.getBody(), [](Operation &op) { return isa<func::FuncOp>(op); });
  ImplicitLocOpBuilder b(module.getLoc(), first);
  auto target = module->getAttrOfType<CpuTargetAttr>(kTargetAttr);
  bool isX86 = target && llvm::Triple(target.getTriple()).isX86();
  Attribute objects = iree::attribute(
      b.getContext(), "hal",
      "executable.objects<{" +
          getObject("llvm-cpu",
                    isX86 ? "embedded-elf-x86_64" : "embedded-elf-arm_64",
                    object) +
          "}>");
  executable = iree::create(
      b, "stream.executable", {}, {},
      {b.getNamedAttr("sym_name", b.getStringAttr(kExecutable)),
       b.getNamedAttr("sym_visibility", b.getStringAttr("private")),
       b.getNamedAttr("hal.executable.objects", objects)},
      /*numRegions=*/1);
  b.createBlock(&executable->getRegion(0));
  code = ModuleOp::create(b);
  iree::create(b, "stream.executable.end");
}

/// IREE calls @name once for each workgroup; it calls the kernel.
void KernelCalls::addExport(func::FuncOp kernel, StringRef name,
                            ArrayRef<bool> isNew) {
  openExecutable();
  MLIRContext *context = module.getContext();
  ImplicitLocOpBuilder b(kernel.getLoc(), code);
  Operation *entry = iree::create(
      b, "stream.executable.export", {}, {},
      {b.getNamedAttr("sym_name", b.getStringAttr(name)),
       b.getNamedAttr("sym_visibility", b.getStringAttr("public")),
       b.getNamedAttr("function_ref", FlatSymbolRefAttr::get(context, name))},
      /*numRegions=*/1);
  size_t workload = getWorkload(kernel).size();
  Block *grid = b.createBlock(&entry->getRegion(0), {},
                              SmallVector<Type>(workload, b.getIndexType()),
                              SmallVector<Location>(workload, b.getLoc()));
  returnGrid(b, kernel, grid->getArguments(), "stream.return");

  // The slots of the kernel.
  Type binding = iree::type(context, "stream", "binding");
  auto buffer = MemRefType::get({}, b.getI8Type());
  unsigned inputs = kernel.getNumArguments() - isNew.size();
  unsigned numBindings = 0, numNumbers = 0, numSizes = 0;
  SmallVector<Type> slots;
  for (Type type : kernel.getArgumentTypes()) {
    bool isNumber = type.isIndex();
    slots.push_back(isNumber ? Type(b.getI64Type()) : buffer);
    ++(isNumber ? numNumbers : numBindings);
    if (!isNumber)
      numSizes += cast<RankedTensorType>(type).getNumDynamicDims();
  }
  slots.append(numSizes + 3, b.getI64Type());
  std::string symbol = kernel.getName().str();
  b.setInsertionPointToEnd(code.getBody());
  if (!code.lookupSymbol(symbol)) {
    auto import = func::FuncOp::create(b, symbol, b.getFunctionType(slots, {}));
    import.setPrivate();
    import->setAttr("hal.import.static", b.getUnitAttr());
    import->setAttr("llvm.bareptr", b.getBoolAttr(true));
  }

  SmallVector<Type> types(numBindings, binding);
  types.append(numNumbers + numSizes, b.getIndexType());
  auto shim = func::FuncOp::create(b, name, b.getFunctionType(types, {}));
  b.setInsertionPointToStart(shim.addEntryBlock());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  // New outputs are bound after all others.
  unsigned given = 0, made = numBindings - llvm::count(isNew, true);
  unsigned number = numBindings;
  auto toI64 = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, b.getI64Type(), value);
  };
  SmallVector<Value> operands;
  for (auto [position, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    if (type.isIndex()) {
      operands.push_back(toI64(shim.getArgument(number++)));
      continue;
    }
    bool isMade = position >= inputs && isNew[position - inputs];
    Value bound = shim.getArgument(isMade ? made++ : given++);
    operands.push_back(
        iree::create(b, "stream.binding.subspan", {bound, zero}, Type(buffer))
            ->getResult(0));
  }
  for (; number < shim.getNumArguments(); ++number)
    operands.push_back(toI64(shim.getArgument(number)));
  for (int64_t dim = 0; dim < 3; ++dim)
    operands.push_back(toI64(
        iree::create(b, "stream.dispatch.workgroup.id", {}, b.getIndexType(),
                     b.getNamedAttr("dimension", b.getIndexAttr(dim)))
            ->getResult(0)));
  func::CallOp::create(b, symbol, TypeRange(), operands);
  func::ReturnOp::create(b);
}

//===----------------------------------------------------------------------===//
// GPU
//===----------------------------------------------------------------------===//

void KernelCalls::replaceOnGpu(DispatchOp call, func::FuncOp kernel,
                               StringRef gpu) {
  ImplicitLocOpBuilder b(call.getLoc(), call);
  MLIRContext *context = b.getContext();
  SmallVector<Value> numbers = getNumbers(b, call);
  SmallVector<Value> workload, arguments, argumentSizes, resultSizes;
  for (unsigned number : getWorkload(kernel))
    workload.push_back(numbers[number]);
  // A kernel reads numbers from memory. It reads 32 bits of them, and IREE
  // fills memory with no more without a kernel of its own.
  auto addNumber = [&](Value number) {
    Value word = arith::IndexCastOp::create(b, b.getI32Type(), number);
    arguments.push_back(
        iree::create(b, "flow.tensor.splat", word,
                     Type(RankedTensorType::get({1}, b.getI32Type())))
            ->getResult(0));
  };
  auto addTensor = [&](Value tensor) {
    arguments.push_back(tensor);
    llvm::append_range(argumentSizes,
                       tensor::createDynamicDimValues(b, b.getLoc(), tensor));
  };
  for (Value input : call.getInputs())
    input.getType().isIndex() ? addNumber(input) : addTensor(input);
  SmallVector<Attribute> tied;
  for (Value output : call.getOutputs()) {
    SmallVector<Value> sizes =
        tensor::createDynamicDimValues(b, b.getLoc(), output);
    tied.push_back(b.getIndexAttr(static_cast<int64_t>(arguments.size())));
    llvm::append_range(resultSizes, sizes);
    // Memory of its own: two calls may share one tensor.empty here.
    if (output.getDefiningOp<tensor::EmptyOp>())
      output = iree::create(b, "flow.tensor.alloca", sizes, output.getType())
                   ->getResult(0);
    arguments.push_back(output);
    llvm::append_range(argumentSizes, sizes);
  }
  size_t indices = llvm::count_if(
      call.getInputs(), [](Value input) { return input.getType().isIndex(); });
  for (Value size : ArrayRef(numbers).drop_front(indices))
    addNumber(size);

  std::string bindings;
  for (size_t i = 0; i < arguments.size(); ++i) {
    bool isWritten =
        llvm::is_contained(tied, b.getIndexAttr(static_cast<int64_t>(i)));
    bindings += std::string(i == 0 ? "" : ", ") +
                "#hal.pipeline.binding<storage_buffer" +
                (isWritten ? ">" : ", ReadOnly>");
  }
  auto threads = kernel->getAttrOfType<DenseI64ArrayAttr>(kWorkgroupAttr);
  bool isAmd = gpu.starts_with("gfx");
  SmallVector<NamedAttribute> attributes = {
      b.getNamedAttr("export_name", b.getStringAttr(kernel.getName())),
      b.getNamedAttr("layout", iree::attribute(context, "hal",
                                               "pipeline.layout<bindings = [" +
                                                   bindings + "]>")),
      b.getNamedAttr(
          "targets",
          b.getArrayAttr(iree::attribute(
              context, "hal",
              "executable.target<" + iree::quote(isAmd ? "rocm" : "cuda") +
                  ", " +
                  iree::quote(isAmd ? "rocm-hsaco-fb" : "cuda-nvptx-fb") +
                  ">"))),
      b.getNamedAttr("target_ordinals", b.getArrayAttr(b.getIndexAttr(0))),
      b.getNamedAttr(
          "target_objects",
          b.getArrayAttr(b.getArrayAttr(iree::attribute(
              context, "hal",
              "executable.object<{path = " + iree::quote(object) + "}>")))),
      b.getNamedAttr("tied_operands", b.getArrayAttr(tied)),
      b.getNamedAttr("operandSegmentSizes",
                     segments(b, {workload.size(), arguments.size(),
                                  argumentSizes.size(), resultSizes.size()})),
      b.getNamedAttr("workgroup_size",
                     b.getIndexArrayAttr({threads ? threads[0] : 1, 1, 1}))};
  if (auto bytes = kernel->getAttrOfType<IntegerAttr>(kSharedMemoryAttr))
    attributes.push_back(b.getNamedAttr("workgroup_local_memory",
                                        b.getIndexAttr(bytes.getInt())));
  SmallVector<Value> operands;
  for (ArrayRef<Value> part : {ArrayRef(workload), ArrayRef(arguments),
                               ArrayRef(argumentSizes), ArrayRef(resultSizes)})
    llvm::append_range(operands, part);
  Operation *dispatch =
      iree::create(b, "hal.dispatch.extern", operands, call.getResultTypes(),
                   attributes, /*numRegions=*/2);
  SmallVector<Type> types = {iree::type(context, "hal", "device")};
  types.append(workload.size(), b.getIndexType());
  Block *grid = b.createBlock(&dispatch->getRegion(0), {}, types,
                              SmallVector<Location>(types.size(), b.getLoc()));
  returnGrid(b, kernel, grid->getArguments().drop_front(), "hal.return");
  call.replaceAllUsesWith(dispatch->getResults());
  call.erase();
}
