//===- Plot.h - Pictures as SVG ---------------------------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pictures for the pages that gist-plan writes. Colours are classes and custom
// properties of the page, so one picture serves light and dark screens.
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_REPORT_PLOT_H
#define GIST_TOOLS_REPORT_PLOT_H

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gist::plan {

/// Text as it may stand in HTML and SVG.
std::string escape(const std::string &text);

/// A number as people write it: few digits, no trailing zeros, and commas in
/// one of more than six digits.
std::string shortNumber(double value, int digits = 3);

/// Bytes as people say them: "28.6 MiB".
std::string byteSize(double bytes);

struct Axis {
  std::string label;
  bool isLogarithmic = false;
  /// Names for the places 0, 1, 2 ... in place of numbers.
  std::vector<std::string> names = {};
  /// Where its marks are; if empty, at round numbers.
  std::vector<double> marks = {};
  /// Where it begins and ends; by default from the data.
  std::optional<double> lowest = {}, highest = {};
};

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
  /// Shown where the pointer rests, one for each point; may be empty.
  std::vector<std::string> notes = {};
  /// Written beside the points, one for each; may be empty.
  std::vector<std::string> labels = {};
  bool isJoined = true;  ///< a line through the points
  bool isDashed = false; ///< what others are compared with
};

/// A limit that is drawn across a plot.
struct Limit {
  std::string name;
  double value;
};

/// Lines and points on two axes. Points that are not finite numbers (or not
/// positive on a logarithmic axis) are left out.
struct Plot {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
  std::vector<Limit> limits = {};
  std::string hint = {}; ///< a sentence below the picture

  std::string draw() const;
};

/// A table of coloured cells, for example layers by heads.
struct HeatMap {
  struct Cell {
    std::string text;  ///< in the cell
    std::string more;  ///< below it, smaller
    std::string note;  ///< shown where the pointer rests
    double shade = 0;  ///< 0 to 1
    std::string style; ///< a class of the page's, or empty
  };
  /// What a colour means.
  struct Key {
    std::string style, meaning;
  };
  std::string title, rowLabel, columnLabel;
  std::vector<std::vector<Cell>> rows;
  std::vector<Key> legend;
  std::string shadeMeaning; ///< what more of a colour says, or empty

  std::string draw() const;
};

} // namespace gist::plan

#endif // GIST_TOOLS_REPORT_PLOT_H
