//===- GistTileAttrs.cpp - Choices that passes obey -----------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/GistTileAttrs.h"
#include "dialect/AttrParsing.h"
#include "dialect/GistCpuTileAttrs.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gist;

// Not called: the dialect has read the name already.
[[maybe_unused]] static OptionalParseResult
generatedAttributeParser(AsmParser &parser, StringRef *mnemonic, Type type,
                         Attribute &value);

#include "dialect/GistTileEnums.cpp.inc"

#include "dialect/GistTileInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/GistTileAttrs.cpp.inc"

void GistDialect::addTileAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/GistTileAttrs.cpp.inc"
      >();
}

OptionalParseResult gist::parseTileAttribute(AsmParser &parser, StringRef name,
                                             Type type, Attribute &value) {
  return parseOneOf<
#define GET_ATTRDEF_LIST
#include "dialect/GistTileAttrs.cpp.inc"
      >(parser, name, type, value);
}

LogicalResult gist::printTileAttribute(Attribute attribute,
                                       AsmPrinter &printer) {
  return generatedAttributePrinter(attribute, printer);
}
