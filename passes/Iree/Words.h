//===- Words.h - Ops and attributes of IREE's dialects ----------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// IREE's dialects are not linked into this compiler, and text is what is
// exchanged. Their ops are created as unregistered ops, which print in the
// generic form; their types and attributes are opaque.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_PASSES_IREE_WORDS_H
#define GIST_PASSES_IREE_WORDS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace gist::iree {

/// Fails, at `op`, if the context does not allow unregistered dialects.
mlir::LogicalResult verifyOpsAllowed(mlir::Operation *op);

/// The op `name` of one of IREE's dialects.
mlir::Operation *create(mlir::ImplicitLocOpBuilder &b, llvm::StringRef name,
                        mlir::ValueRange operands = {},
                        mlir::TypeRange results = {},
                        llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                        unsigned numRegions = 0);

/// `#dialect.text`, with a type where there is one.
mlir::Attribute attribute(mlir::MLIRContext *context, llvm::StringRef dialect,
                          const llvm::Twine &text, mlir::Type type = {});

/// `!dialect.text`.
mlir::Type type(mlir::MLIRContext *context, llvm::StringRef dialect,
                llvm::StringRef text);

/// `text` as a string of the language, with quotes.
std::string quote(llvm::StringRef text);

} // namespace gist::iree

#endif // GIST_PASSES_IREE_WORDS_H
