//===- Words.cpp - Ops and attributes of IREE's dialects ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Iree/Words.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gist;

LogicalResult iree::verifyOpsAllowed(Operation *op) {
  if (op->getContext()->allowsUnregisteredDialects())
    return success();
  return op->emitError(
      "ops of IREE are not registered: allow unregistered dialects");
}

Operation *iree::create(ImplicitLocOpBuilder &b, StringRef name,
                        ValueRange operands, TypeRange results,
                        ArrayRef<NamedAttribute> attributes,
                        unsigned numRegions) {
  OperationState state(b.getLoc(), name, operands, results, attributes);
  for (unsigned i = 0; i < numRegions; ++i)
    state.addRegion();
  return b.create(state);
}

Attribute iree::attribute(MLIRContext *context, StringRef dialect,
                          const llvm::Twine &text, Type type) {
  return OpaqueAttr::get(StringAttr::get(context, dialect), text.str(),
                         type ? type : NoneType::get(context));
}

Type iree::type(MLIRContext *context, StringRef dialect, StringRef text) {
  return OpaqueType::get(StringAttr::get(context, dialect), text);
}

std::string iree::quote(StringRef text) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  stream << '"';
  llvm::printEscapedString(text, stream);
  stream << '"';
  return result;
}
