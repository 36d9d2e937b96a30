//===- ReportCode.cpp - What kernels take, on standard output -------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Driver/ReportCode.h"

#include "passes/Driver/Output.h"
#include "passes/Target/GpuReport.h"

#include "llvm/Support/raw_ostream.h"

using namespace gist;
using namespace gist::compile;

/// For --report=resources: kernels are read back from the code object, so the
/// report is about what runs, not about what was intended.
Status compile::reportCode(Report report, llvm::StringRef code) {
  if (report == Report::None || report == Report::Remarks)
    return {};
  auto kernels = inspectCodeObject(code);
  if (!kernels)
    return Status::error(Code::BadFile,
                         "the file is not a code object for gfx942: %s",
                         llvm::toString(kernels.takeError()).c_str());
  if (report == Report::Resources)
    return writeText(printReport(*kernels), "-");
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", toJson(*kernels));
  return writeText(text, "-");
}
