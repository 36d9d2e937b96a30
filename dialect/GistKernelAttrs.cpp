//===- GistKernelAttrs.cpp - What a kernel function is --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistKernelAttrs.h"
#include "dialect/AttrParsing.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gist;

// Generated but not called: it would read the name itself, which the dialect
// has already done.
[[maybe_unused]] static OptionalParseResult
generatedAttributeParser(AsmParser &parser, StringRef *mnemonic, Type type,
                         Attribute &value);

#include "dialect/GistKernelEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/GistKernelAttrs.cpp.inc"

void GistDialect::addKernelAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/GistKernelAttrs.cpp.inc"
      >();
}

OptionalParseResult gist::parseKernelAttribute(AsmParser &parser,
                                               StringRef name, Type type,
                                               Attribute &value) {
  return parseOneOf<
#define GET_ATTRDEF_LIST
#include "dialect/GistKernelAttrs.cpp.inc"
      >(parser, name, type, value);
}

LogicalResult gist::printKernelAttribute(Attribute attribute,
                                         AsmPrinter &printer) {
  return generatedAttributePrinter(attribute, printer);
}

/// Scratch memory is among the outputs: the last ones.
LogicalResult KernelAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 KernelKind, int64_t outputs, int64_t scratch) {
  if (outputs < 0)
    return emitError() << "expects outputs of at least 0, got " << outputs;
  if (scratch < 0 || scratch > outputs)
    return emitError() << "expects scratch of 0 to " << outputs
                       << ", the number of outputs, got " << scratch;
  return success();
}

/// A kernel has one attribute through all stages, while its signature changes:
/// on tensors, on buffers, and with slots. What must hold depends on which it
/// is.
LogicalResult gist::verifyKernelAttr(Operation *op, Attribute attribute) {
  auto kernel = dyn_cast<KernelAttr>(attribute);
  if (!kernel)
    return op->emitOpError("expects ")
           << kKernelAttr << " to be #gist.kernel<…>, got " << attribute;
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return op->emitOpError("has ")
           << kKernelAttr << ", which is an attribute of functions";

  ArrayRef<Type> arguments = function.getArgumentTypes();
  ArrayRef<Type> results = function.getResultTypes();
  // For the runtime, slots of any number of arguments are one argument.
  if (llvm::none_of(arguments, llvm::IsaPred<ShapedType>) && results.empty())
    return success();
  auto outputs = static_cast<size_t>(kernel.getOutputs());
  if (outputs > arguments.size())
    return op->emitOpError("says that ")
           << outputs << " arguments are outputs, but has " << arguments.size()
           << " arguments";
  // What is in a buffer need not be returned: on buffers alone a kernel returns
  // nothing, and memory to work in may be a buffer before the rest.
  bool isOnTensors = llvm::any_of(arguments, llvm::IsaPred<TensorType>) &&
                     llvm::none_of(arguments, llvm::IsaPred<BaseMemRefType>);
  ArrayRef<Type> destinations = arguments.take_back(outputs);
  if (!isOnTensors && results.size() < outputs)
    destinations = destinations.take_front(results.size());
  if (results != destinations)
    return op->emitOpError("expects its results to have the types of its last ")
           << outputs << " arguments, as " << kKernelAttr << " says";
  // A kernel writes to words of control, so its calls must give them back.
  // No underflow: scratch is at most `outputs`, and those are arguments.
  size_t inputs = arguments.size() - static_cast<size_t>(kernel.getScratch());
  for (size_t i = 0; i < inputs; ++i)
    if (function.getArgAttr(i, kControlArgAttr))
      return op->emitOpError("has ")
             << kControlArgAttr << " on argument " << i
             << "; expects it on memory to work in, which is the last "
             << kernel.getScratch() << " arguments, as " << kKernelAttr
             << " says";
  return success();
}
