//===- Diagnostics.cpp - MLIR's diagnostics as sentences ------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns MLIR's diagnostics into sentences. The first error of a stage becomes
// the Status; the others are often consequences of it.
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Remarks.h"

#include <cstdio>

using namespace mlir;
using namespace gist;
using namespace gist::compile;

/// "file:line:column: " for a place in a file, "name: " for a named part of a
/// model, else nothing.
/// Locations are nested: a fused or called one has the place inside.
static std::string placeOf(Location location) {
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    return file.getFilename().str() + ":" + std::to_string(file.getLine()) +
           ":" + std::to_string(file.getColumn()) + ": ";
  if (auto name = location->findInstanceOf<NameLoc>())
    return name.getName().str() + ": ";
  return "";
}

/// Where it is, then what was found.
static std::string sentenceOf(const Diagnostic &diagnostic) {
  return placeOf(diagnostic.getLocation()) + diagnostic.str();
}

Diagnostics::Diagnostics(MLIRContext &context, Progress &progress)
    : progress(progress), handler(&context, [this](Diagnostic &diagnostic) {
        handle(diagnostic);
        return success();
      }) {
  // The op would be printed behind each message, which is noise to users who
  // compile a model.
  context.printOpOnDiagnostic(false);
}

void Diagnostics::handle(Diagnostic &diagnostic) {
  // Passes run on several threads.
  std::lock_guard<std::mutex> lock(mutex);
  switch (diagnostic.getSeverity()) {
  // Kept until takeError, because the stage returns only success or failure.
  case DiagnosticSeverity::Error:
    if (firstError.empty())
      firstError = sentenceOf(diagnostic);
    return;
  case DiagnosticSeverity::Warning:
    warn(sentenceOf(diagnostic));
    return;
  case DiagnosticSeverity::Remark:
    // Passes emit remarks only after showRemarks.
    progress.clear();
    std::fprintf(stderr, "gist-compile: remark: %s\n",
                 sentenceOf(diagnostic).c_str());
    return;
  // Notes explain errors in terms of the IR.
  case DiagnosticSeverity::Note:
    return;
  }
}

void Diagnostics::showRemarks(MLIRContext &context) {
  remark::RemarkCategories all;
  all.all = ".*";
  // Without a stream of their own, remarks are diagnostics.
  // A failure would leave the compilation as it is, without remarks.
  (void)remark::enableOptimizationRemarks(
      context, /*streamer=*/nullptr,
      std::make_unique<remark::RemarkEmittingPolicyAll>(), all,
      /*printAsEmitRemarks=*/true);
}

void Diagnostics::warn(const std::string &sentence) { progress.warn(sentence); }

/// A failure without a diagnostic is a bug in Gist; the stage's name helps to
/// find it. The error is taken: a later stage must not report it again.
Status Diagnostics::takeError(const std::string &stage) {
  std::string text;
  std::swap(text, firstError);
  if (text.empty())
    text = "the stage '" + stage + "' failed and gave no reason";
  return Status::error(Code::Unsupported, "%s", text.c_str());
}
