//===- GistDialect.cpp - Dialect, types and attributes --------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers what the dialect consists of. Ops and attributes are spread over
// several .td files, so that a change of one recompiles only what uses it.
//
//===----------------------------------------------------------------------===//

#include "dialect/GistDialect.h"
#include "dialect/AttrParsing.h"
#include "dialect/GistClusterOps.h"
#include "dialect/GistExpertOps.h"
#include "dialect/GistIntegerOps.h"
#include "dialect/GistKernelAttrs.h"
#include "dialect/GistOps.h"
#include "dialect/GistPlanOps.h"
#include "dialect/GistRankOps.h"
#include "dialect/GistSamplingOps.h"
#include "dialect/GistTileOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialect/GistDialect.cpp.inc"
#include "dialect/GistEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/GistAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/GistTypes.cpp.inc"

using namespace mlir;
using namespace gist;

void GistDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/GistAttrs.cpp.inc"
      >();
  // Attributes of other files are registered there, where their storage is
  // defined.
  addKernelAttributes();
  addTargetAttributes();
  addTileAttributes();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/GistTypes.cpp.inc"
      >();
  // One list for each .td file of ops.
  addOperations<
#define GET_OP_LIST
#include "dialect/GistOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/GistClusterOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/GistExpertOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/GistIntegerOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/GistSamplingOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/GistTileOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/GistPlanOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/GistRankOps.cpp.inc"
      >();
}

Attribute GistDialect::parseAttribute(DialectAsmParser &parser,
                                      Type type) const {
  SMLoc location = parser.getCurrentLocation();
  StringRef name;
  Attribute value;
  // Each group of attributes is asked in turn whether it knows the name.
  // The first one reads the name and leaves it in `name` if it is not its own.
  OptionalParseResult result =
      generatedAttributeParser(parser, &name, type, value);
  if (!result.has_value())
    result = parseKernelAttribute(parser, name, type, value);
  if (!result.has_value())
    result = parseTargetAttribute(parser, name, type, value);
  if (!result.has_value())
    result = parseTileAttribute(parser, name, type, value);
  if (!result.has_value()) {
    parser.emitError(location, "unknown attribute `")
        << name << "` in dialect `" << getNamespace() << "`";
    return {};
  }
  return succeeded(*result) ? value : Attribute();
}

void GistDialect::printAttribute(Attribute attribute,
                                 DialectAsmPrinter &printer) const {
  if (failed(generatedAttributePrinter(attribute, printer)) &&
      failed(printKernelAttribute(attribute, printer)) &&
      failed(printTargetAttribute(attribute, printer)))
    // One of the four knows it: all attributes of the dialect are theirs.
    (void)printTileAttribute(attribute, printer);
}

//===----------------------------------------------------------------------===//
// !gist.selection
//===----------------------------------------------------------------------===//

/// !gist.selection<512>, or <heads x tokens>.
Type SelectionType::parse(AsmParser &parser) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<int64_t, 2> shape;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/true,
                                /*withTrailingX=*/false) ||
      parser.parseGreater())
    return {};
  if (shape.empty() || shape.size() > 2) {
    parser.emitError(location, "expects <tokens> or <heads x tokens>, got ")
        << shape.size() << " dimensions";
    return {};
  }
  std::optional<int64_t> heads;
  if (shape.size() == 2)
    heads = shape.front();
  return SelectionType::getChecked([&] { return parser.emitError(location); },
                                   parser.getContext(), heads, shape.back());
}

void SelectionType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getPartShape());
  printer << '>';
}

LogicalResult
SelectionType::verify(function_ref<InFlightDiagnostic()> emitError,
                      std::optional<int64_t> heads, int64_t tokens) {
  // Kernels have a fixed number of heads, but any number of tokens.
  if (heads && *heads < 1)
    return emitError() << "expects a static, positive number of heads";
  if (tokens < 0 && !ShapedType::isDynamic(tokens))
    return emitError() << "expects a number of tokens that is not negative";
  return success();
}

/// The shape of ids, nearest and weight.
SmallVector<int64_t, 2> SelectionType::getPartShape() const {
  if (std::optional<int64_t> heads = getHeads())
    return {*heads, getTokens()};
  return {getTokens()};
}

/// The shape of the count: one number, or one for each head.
SmallVector<int64_t, 1> SelectionType::getCountShape() const {
  if (std::optional<int64_t> heads = getHeads())
    return {*heads};
  return {};
}

/// Rows are tokens x features, or tokens x heads x features.
SelectionType SelectionType::forTokens(RankedTensorType tokens) {
  std::optional<int64_t> heads;
  if (tokens.getRank() == 3)
    heads = tokens.getDimSize(1);
  return SelectionType::get(tokens.getContext(), heads, tokens.getDimSize(0));
}
