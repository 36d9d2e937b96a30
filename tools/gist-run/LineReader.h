//===- LineReader.h - Lines from a person or a pipe -------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_GIST_RUN_LINEREADER_H
#define GIST_TOOLS_GIST_RUN_LINEREADER_H

#include <memory>
#include <string>

namespace gist::run {

/// Reads standard input line by line. On a terminal it writes a prompt to
/// standard error, and where gist-run was built with libedit, lines can be
/// edited and earlier ones brought back with the arrow keys.
class LineReader {
public:
  LineReader();
  ~LineReader();

  /// Whether a person types the lines.
  bool isInteractive() const { return interactive; }

  /// The next line without its end; false at the end of the input.
  bool read(std::string &line);

private:
  struct Editor;
  bool interactive;
  std::unique_ptr<Editor> editor; ///< null: lines are read as they come
};

} // namespace gist::run

#endif // GIST_TOOLS_GIST_RUN_LINEREADER_H
