//===- ReportPage.h - Pages and tables as HTML ------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_REPORT_REPORTPAGE_H
#define GIST_TOOLS_REPORT_REPORTPAGE_H

#include <string>
#include <vector>

namespace gist::plan {

/// Rows of text; columns of which nothing is known are left out.
class Table {
public:
  explicit Table(std::vector<std::string> titles) : titles(std::move(titles)) {}

  void addRow(std::vector<std::string> cells) {
    rows.push_back(std::move(cells));
  }
  /// Nothing for a table without rows.
  std::string write() const;

private:
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

/// A page that needs no other file.
class Page {
public:
  explicit Page(std::string title) : title(std::move(title)) {}

  void addText(const std::string &text);
  /// Left out where there is nothing in it.
  void addSection(const std::string &heading, const std::string &html);
  /// True until a section was added.
  bool isEmpty() const { return sections == 0; }
  std::string write() const;

private:
  std::string title, body;
  size_t sections = 0;
};

} // namespace gist::plan

#endif // GIST_TOOLS_REPORT_REPORTPAGE_H
