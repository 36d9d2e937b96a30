//===- AttrParsing.h - Attributes of one file, by their names ---*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes are declared in several .td files. The dialect reads the name of
// an attribute once and tries the parsers of the files in turn.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_DIALECT_ATTRPARSING_H
#define GIST_DIALECT_ATTRPARSING_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/OpImplementation.h"

namespace gist {

/// Reads the attribute called `name` if it is one of `Attrs`; nothing
/// otherwise.
/// An attribute that is one of them but cannot be read is a failure, so no
/// other file is tried.
template <typename... Attrs>
mlir::OptionalParseResult parseOneOf(mlir::AsmParser &parser,
                                     llvm::StringRef name, mlir::Type type,
                                     mlir::Attribute &value) {
  mlir::OptionalParseResult result;
  auto tryParse = [&](llvm::StringRef mnemonic, auto parse) {
    if (result.has_value() || name != mnemonic)
      return;
    value = parse();
    result = mlir::ParseResult(mlir::success(bool(value)));
  };
  (tryParse(Attrs::getMnemonic(), [&] { return Attrs::parse(parser, type); }),
   ...);
  return result;
}

// GistKernelAttrs.td
mlir::OptionalParseResult parseKernelAttribute(mlir::AsmParser &parser,
                                               llvm::StringRef name,
                                               mlir::Type type,
                                               mlir::Attribute &value);
mlir::LogicalResult printKernelAttribute(mlir::Attribute attribute,
                                         mlir::AsmPrinter &printer);

// GistTargetAttrs.td
mlir::OptionalParseResult parseTargetAttribute(mlir::AsmParser &parser,
                                               llvm::StringRef name,
                                               mlir::Type type,
                                               mlir::Attribute &value);
mlir::LogicalResult printTargetAttribute(mlir::Attribute attribute,
                                         mlir::AsmPrinter &printer);

// GistTileAttrs.td
mlir::OptionalParseResult parseTileAttribute(mlir::AsmParser &parser,
                                             llvm::StringRef name,
                                             mlir::Type type,
                                             mlir::Attribute &value);
mlir::LogicalResult printTileAttribute(mlir::Attribute attribute,
                                       mlir::AsmPrinter &printer);

} // namespace gist

#endif // GIST_DIALECT_ATTRPARSING_H
