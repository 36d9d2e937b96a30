//===- Plot.cpp - Pictures as SVG -----------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plots as SVG and maps as HTML tables. The page has no scripts and fetches
// nothing, so that it can be mailed and read without a network.
//
//===----------------------------------------------------------------------===//

#include "tools/report/Plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>

using namespace gist::plan;

/// Series take these colours of the page in turn.
static constexpr size_t kNumColors = 8;

/// Names and notes come from files, so they are never put into the page as they
/// are.
std::string gist::plan::escape(const std::string &text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  return result;
}

/// Commas between groups of three digits, in front of a point.
static std::string groupDigits(std::string text) {
  size_t end = std::min(text.find('.'), text.size());
  size_t begin = text.front() == '-' ? 1 : 0;
  for (size_t place = end; place > begin + 3;) {
    place -= 3;
    text.insert(place, ",");
  }
  return text;
}

/// At most `digits` digits after the point, without zeros at the end.
std::string gist::plan::shortNumber(double value, int digits) {
  if (!std::isfinite(value))
    return "-";
  char buffer[64];
  if (value != 0 && (std::fabs(value) >= 1e15 || std::fabs(value) < 1e-4))
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
  else
    std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  std::string text = buffer;
  if (text.find('e') != std::string::npos)
    return text;
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
      text.pop_back();
  }
  if (std::fabs(value) >= 1e6)
    text = groupDigits(text);
  return text == "-0" ? "0" : text;
}

std::string gist::plan::byteSize(double bytes) {
  if (!std::isfinite(bytes))
    return "-";
  static constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; std::fabs(bytes) >= 1024 && unit + 1 < std::size(kUnits); ++unit)
    bytes /= 1024;
  return shortNumber(bytes, unit == 0 ? 0 : 1) + " " + kUnits[unit];
}

/// A number at an axis, where there is little room.
static std::string tickNumber(double value) {
  struct Unit {
    double size;
    const char *name;
  };
  for (auto [size, name] : {Unit{1e12, " T"}, Unit{1e9, " G"}, Unit{1e6, " M"}})
    if (std::fabs(value) >= size && std::fabs(value) < 1e15)
      return shortNumber(value / size, 3) + name;
  return shortNumber(value, 4);
}

/// `x` with two digits, for coordinates.
static std::string at(double x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.2f", x);
  return buffer;
}

namespace {
/// Where numbers of an axis lie on the picture.
class Scale {
public:
  Scale(const Axis &axis, const std::vector<double> &values, double from,
        double to)
      : axis(axis), from(from), to(to) {
    // Only numbers that have a place on the axis decide its range.
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (double value : values)
      if (isShown(value)) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
    // Nothing to show: any range will do.
    if (!(low <= high))
      low = high = 1;
    // Names lie at 0, 1, 2, ... with half a place of room on both sides.
    if (!axis.names.empty()) {
      low = -0.5;
      high = static_cast<double>(axis.names.size()) - 0.5;
    } else if (axis.isLogarithmic) {
      // Room is a part of the range; on a logarithmic axis that is a factor.
      double room =
          high > low ? std::exp(0.08 * (std::log(high) - std::log(low))) : 1.05;
      low /= room;
      high *= room;
    } else {
      double room = high > low ? (high - low) * 0.06 : std::fabs(high) * 0.1;
      room = room == 0 ? 1 : room;
      low -= room;
      high += room;
    }
    first = map(axis.lowest.value_or(low));
    last = map(axis.highest.value_or(high));
    // Numbers at the end of what a double can say leave no room beside them.
    constexpr double kMost = std::numeric_limits<double>::max() / 4;
    double most = axis.isLogarithmic ? std::log10(kMost) : kMost;
    first = std::clamp(first, -most, most);
    last = std::clamp(last, -most, most);
    // A range without width would divide by zero.
    if (!(first < last))
      last = first + 1;
  }

  /// False for what has no place on the axis.
  bool isShown(double value) const {
    return std::isfinite(value) && (!axis.isLogarithmic || value > 0);
  }
  double place(double value) const {
    return from + (map(value) - first) / (last - first) * (to - from);
  }
  /// The tolerance keeps points that lie on the edge.
  bool isInside(double value) const {
    return isShown(value) && map(value) >= first - 1e-9 &&
           map(value) <= last + 1e-9;
  }

  /// Round numbers along the axis.
  std::vector<double> ticks() const {
    std::vector<double> result;
    if (!axis.names.empty()) {
      size_t step = std::max<size_t>(1, axis.names.size() / 16);
      for (size_t i = 0; i < axis.names.size(); i += step)
        result.push_back(static_cast<double>(i));
      return result;
    }
    if (!axis.marks.empty()) {
      std::copy_if(axis.marks.begin(), axis.marks.end(),
                   std::back_inserter(result),
                   [&](double mark) { return isInside(mark); });
      return result;
    }
    if (axis.isLogarithmic) {
      for (int power = static_cast<int>(std::floor(first));
           power <= static_cast<int>(std::ceil(last)); ++power)
        for (double digit : {1.0, 2.0, 5.0})
          if (isInside(digit * std::pow(10, power)))
            result.push_back(digit * std::pow(10, power));
      // Less than a decade may have no such number; then ticks are as on a
      // plain axis.
      if (result.size() >= 2)
        return result;
      result.clear();
    }
    // About five ticks, at the next 1, 2, 5 or 10 times a power of ten.
    double low = unmap(first), high = unmap(last);
    double raw = (high - low) / 5;
    double power = std::pow(10, std::floor(std::log10(raw)));
    double step = power;
    for (double digit : {2.0, 5.0, 10.0})
      if (step < raw)
        step = digit * power;
    for (double tick = std::ceil(low / step) * step;
         tick <= high && result.size() < 20; tick += step)
      // A sum that should be zero may be a tiny number.
      result.push_back(std::fabs(tick) < step * 1e-9 ? 0 : tick);
    return result;
  }
  std::string name(double tick) const {
    if (!axis.names.empty())
      return axis.names[static_cast<size_t>(tick)];
    return tickNumber(tick);
  }

private:
  double map(double value) const {
    return axis.isLogarithmic ? std::log10(value) : value;
  }
  double unmap(double place) const {
    return axis.isLogarithmic ? std::pow(10, place) : place;
  }

  const Axis &axis;
  double from, to, first = 0, last = 1;
};

/// Units of the viewBox, not pixels: the picture scales with the page.
constexpr double kWidth = 640, kHeight = 360;
constexpr double kLeft = 84, kRight = 16, kTop = 34, kBottom = 48;
} // namespace

static std::string textAt(double x, double y, const char *anchor,
                          const std::string &text,
                          const std::string &more = "") {
  return "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\" text-anchor=\"" +
         anchor + "\"" + more + ">" + escape(text) + "</text>\n";
}

static std::string lineAt(double x1, double y1, double x2, double y2,
                          const char *style) {
  return "<line x1=\"" + at(x1) + "\" y1=\"" + at(y1) + "\" x2=\"" + at(x2) +
         "\" y2=\"" + at(y2) + "\" class=\"" + style + "\"/>\n";
}

static std::string drawAxes(const Plot &plot, const Scale &x, const Scale &y) {
  double bottom = kHeight - kBottom, right = kWidth - kRight;
  std::string svg;
  for (double tick : x.ticks()) {
    svg += lineAt(x.place(tick), kTop, x.place(tick), bottom, "grid");
    svg += textAt(x.place(tick), bottom + 16, "middle", x.name(tick));
  }
  for (double tick : y.ticks()) {
    svg += lineAt(kLeft, y.place(tick), right, y.place(tick), "grid");
    svg += textAt(kLeft - 6, y.place(tick) + 4, "end", y.name(tick));
  }
  svg += textAt((kLeft + right) / 2, kHeight - 10, "middle", plot.x.label);
  double middle = (kTop + bottom) / 2;
  svg += textAt(20, middle, "middle", plot.y.label,
                " transform=\"rotate(-90 20 " + at(middle) + ")\"");
  return svg;
}

namespace {
/// Places of labels, so that none is written over another.
class Labels {
public:
  /// Nothing else is written from here to the left: `text` is.
  void take(double right, double bottom, const std::string &text) {
    boxes.push_back({right - kDigit * static_cast<double>(text.size()),
                     bottom - kLine, right, bottom});
  }

  /// A label beside the point (x, y), where there is room for it.
  std::string add(double x, double y, const std::string &text) {
    double width = kDigit * static_cast<double>(text.size());
    struct Try {
      double x, y;
      bool isLeft;
    };
    Try last{};
    for (auto [dx, dy, isLeft] :
         {Try{7, -6, false}, Try{-7, -6, true}, Try{7, 14, false},
          Try{-7, 14, true}, Try{7, -20, false}, Try{7, 28, false}}) {
      double left = isLeft ? x + dx - width : x + dx;
      Box box{left, y + dy - kLine, left + width, y + dy};
      last = {x + dx, y + dy, isLeft};
      bool isFree = box.left > kLeft && box.right < kWidth - kRight &&
                    std::none_of(
                        boxes.begin(), boxes.end(),
                        [&](const Box &o) { return o.meets(box); });
      if (!isFree)
        continue;
      boxes.push_back(box);
      break;
    }
    return textAt(last.x, last.y, last.isLeft ? "end" : "start", text,
                  " class=\"point\"");
  }

private:
  // Digits are about this wide; screens that are small have larger ones.
  static constexpr double kDigit = 9, kLine = 14;

  struct Box {
    double left, top, right, bottom;
    bool meets(const Box &o) const {
      return left < o.right && o.left < right && top < o.bottom &&
             o.top < bottom;
    }
  };
  std::vector<Box> boxes;
};
} // namespace

static std::string drawSeries(const Series &series, const Scale &x,
                              const Scale &y, const std::string &color,
                              Labels &labels) {
  std::string path, marks;
  for (size_t i = 0; i < series.points.size(); ++i) {
    auto [a, b] = series.points[i];
    if (!x.isInside(a) || !y.isInside(b))
      continue;
    path += (path.empty() ? "M" : "L") + at(x.place(a)) + " " + at(y.place(b));
    // Shown when the pointer rests on a mark: SVG's <title>, without a script.
    std::string note =
        series.name + ": " + shortNumber(a, 4) + ", " + shortNumber(b, 4);
    if (i < series.notes.size())
      note = series.name + ": " + series.notes[i];
    marks += "<circle cx=\"" + at(x.place(a)) + "\" cy=\"" + at(y.place(b)) +
             "\" r=\"4\" class=\"mark " + color + "\"><title>" + escape(note) +
             "</title></circle>\n";
    if (i < series.labels.size())
      marks += labels.add(x.place(a), y.place(b), series.labels[i]);
  }
  if (path.empty())
    return {};
  std::string svg;
  if (series.isJoined)
    svg += "<path d=\"" + path + "\" class=\"curve " + color +
           (series.isDashed ? " dashed" : "") + "\"/>\n";
  return svg + marks;
}

/// Lines across the plot, with their names above them at the right. Names of
/// lines that are close move up.
static std::string drawLimits(std::vector<Limit> limits, const Scale &v,
                              Labels &labels) {
  std::sort(limits.begin(), limits.end(),
            [](const Limit &a, const Limit &b) { return a.value < b.value; });
  constexpr double kLine = 18; // pixels of a name on a small screen
  std::string svg;
  double above = kHeight;
  for (const Limit &limit : limits) {
    if (!v.isInside(limit.value))
      continue;
    double place = v.place(limit.value);
    svg += lineAt(kLeft, place, kWidth - kRight, place, "limit");
    above = std::min(place - 4, above - kLine);
    svg += textAt(kWidth - kRight - 4, above, "end", limit.name,
                  " class=\"limit\"");
    // Limits are drawn first, so that labels of points keep away from their
    // names.
    labels.take(kWidth - kRight - 4, above, limit.name);
  }
  return svg;
}

std::string Plot::draw() const {
  std::vector<double> xs, ys;
  for (const Series &one : series)
    for (auto [a, b] : one.points) {
      xs.push_back(a);
      ys.push_back(b);
    }
  for (const Limit &limit : limits)
    ys.push_back(limit.value);
  Scale h(x, xs, kLeft, kWidth - kRight);
  // SVG counts y from the top, so the axis runs from bottom to top.
  Scale v(y, ys, kHeight - kBottom, kTop);
  std::string svg = "<figure class=\"plot\"><svg viewBox=\"0 0 " + at(kWidth) +
                    " " + at(kHeight) + "\" role=\"img\" aria-label=\"" +
                    escape(title) + "\">\n";
  svg += textAt(kLeft, 18, "start", title, " class=\"title\"");
  svg += drawAxes(*this, h, v);
  Labels labels;
  svg += drawLimits(limits, v, labels);
  for (size_t i = 0; i < series.size(); ++i)
    svg += drawSeries(series[i], h, v, "c" + std::to_string(i % kNumColors),
                      labels);
  svg += "</svg>\n<figcaption>";
  for (size_t i = 0; i < series.size(); ++i)
    svg += "<span class=\"entry\"><span class=\"key c" +
           std::to_string(i % kNumColors) + "\"></span>" +
           escape(series[i].name) + "</span> ";
  return svg + escape(hint) + "</figcaption></figure>\n";
}

/// A cell; one that says nothing has no colour.
static std::string drawCell(const HeatMap::Cell &cell) {
  std::string html =
      "<td class=\"" + escape(cell.style) +
      "\" style=\"--s:" + shortNumber(std::clamp(cell.shade, 0.0, 1.0), 3) +
      "\" title=\"" + escape(cell.note) + "\">" + escape(cell.text);
  if (!cell.more.empty())
    html += "<small>" + escape(cell.more) + "</small>";
  return html + "</td>";
}

std::string HeatMap::draw() const {
  std::string html = "<figure class=\"map\"><div class=\"title\">" +
                     escape(title) +
                     "</div>\n<div class=\"scroll\"><table class=\"map\"><tr>"
                     "<th>" +
                     escape(rowLabel) + " \\ " + escape(columnLabel) + "</th>";
  size_t columns = 0;
  for (const auto &row : rows)
    columns = std::max(columns, row.size());
  for (size_t i = 0; i < columns; ++i)
    html += "<th>" + std::to_string(i) + "</th>";
  html += "</tr>\n";
  for (size_t r = 0; r < rows.size(); ++r) {
    html += "<tr><th>" + std::to_string(r) + "</th>";
    for (const Cell &cell : rows[r])
      html += drawCell(cell);
    html += "</tr>\n";
  }
  html += "</table></div>\n<figcaption class=\"legend\">";
  for (const Key &key : legend)
    html += "<span class=\"entry\"><span class=\"swatch " + escape(key.style) +
            "\"></span>" + escape(key.meaning) + "</span> ";
  if (!shadeMeaning.empty())
    html += "<span class=\"entry\"><span class=\"ramp\"></span>" +
            escape(shadeMeaning) + "</span>";
  return html + "</figcaption></figure>\n";
}
