//===- GistTargetAttrs.cpp - What a module is compiled for ----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistTargetAttrs.h"
#include "dialect/AttrParsing.h"
#include "dialect/GpuInfo.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace gist;

// Not called: the dialect has read the name already.
[[maybe_unused]] static OptionalParseResult
generatedAttributeParser(AsmParser &parser, StringRef *mnemonic, Type type,
                         Attribute &value);

#include "dialect/GistTargetEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/GistTargetAttrs.cpp.inc"

void GistDialect::addTargetAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/GistTargetAttrs.cpp.inc"
      >();
}

OptionalParseResult gist::parseTargetAttribute(AsmParser &parser,
                                               StringRef name, Type type,
                                               Attribute &value) {
  return parseOneOf<
#define GET_ATTRDEF_LIST
#include "dialect/GistTargetAttrs.cpp.inc"
      >(parser, name, type, value);
}

LogicalResult gist::printTargetAttribute(Attribute attribute,
                                         AsmPrinter &printer) {
  return generatedAttributePrinter(attribute, printer);
}

/// The attribute names a machine completely, so that a file compiles the same
/// everywhere.
LogicalResult
CpuTargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      StringRef triple, StringRef cpu, StringRef features) {
  llvm::Triple named(triple);
  if (!named.isAArch64() && named.getArch() != llvm::Triple::x86_64) // (C1)
    return emitError() << "there is no CPU target '" << triple
                       << "'; expected aarch64 or x86_64";
  if (cpu.empty() || cpu == "native") // (C2)
    return emitError() << "expects the name of a CPU, got '" << cpu
                       << "'; -gist-set-target finds that of this machine";
  for (StringRef feature : llvm::split(features, ','))
    if (!feature.empty() && feature[0] != '+' && feature[0] != '-') // (C3)
      return emitError() << "expects features that begin with + or -, got '"
                         << feature << "'";
  return success();
}

LogicalResult
GpuTargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      StringRef name, Gram gram) {
  const GpuInfo *gpu = getGpuInfo(name);
  if (!gpu) { // (C1)
    InFlightDiagnostic error = emitError();
    error << "unknown GPU: " << name << "; known are ";
    llvm::interleaveComma(getGpuTable(), error,
                          [&](const GpuInfo &row) { error << row.name; });
    return error;
  }
  if (gram == Gram::Fp8 && !gpu->multipliesF8) // (C2)
    return emitError() << "gram=fp8 is for GPUs that multiply f8E4M3FNUZ; "
                       << name << " does not";
  return success();
}
