//===- ReportPage.cpp - Pages and tables as HTML --------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The frame of a page: styles, tables and sections. Light and dark follow the
// reader's system.
//
//===----------------------------------------------------------------------===//

#include "tools/report/ReportPage.h"
#include "tools/report/Plot.h"

#include <algorithm>

using namespace gist::plan;

static constexpr const char *kStyle = R"(
:root { color-scheme: light dark; --ink: #1c1f23; --paper: #fff; --soft: #6b7280;
  --grid: #e5e7eb; --limit: #b91c1c; --c0: #2563eb; --c1: #d97706; --c2: #059669;
  --c3: #9333ea; --c4: #dc2626; --c5: #0891b2; --c6: #65a30d; --c7: #db2777; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e5e7eb; --paper: #15181c; --soft: #9ca3af; --grid: #2d333b;
    --limit: #f87171; --c0: #60a5fa; --c1: #fbbf24; --c2: #34d399; --c3: #c084fc;
    --c4: #f87171; --c5: #22d3ee; --c6: #a3e635; --c7: #f472b6; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); max-width: 1340px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; overflow-wrap: anywhere; } h2 { font-size: 1.2em; margin-top: 2em; }
p { color: var(--soft); overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25em .7em; border-bottom: 1px solid var(--grid); text-align: right;
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
figure { display: inline-block; width: min(640px, 100%); margin: 0 1em 1em 0;
  vertical-align: top; }
figure.map { width: 100%; margin-right: 0; }
table.map td { padding: 0 .2em; min-width: 2.4em; height: 2.2em; text-align: center;
  font-size: 11px; line-height: 1.2; border: 1px solid var(--paper); }
table.map td small { display: block; font-size: 9px; opacity: .8; white-space: normal;
  width: min-content; margin: auto; }
table.map th { font-size: 11px; padding: .1em .4em; border: 0; text-align: center; }
.dense { background: var(--grid); }
.clusters { --tone: var(--c0); } .window { --tone: var(--c1); } .random { --tone: var(--c2); }
.loss { --tone: var(--c4); }
td.clusters, td.window, td.random, td.loss { background:
  color-mix(in srgb, var(--tone) calc(12% + 53% * var(--s)), var(--paper)); }
.swatch, .ramp { display: inline-block; width: 1.1em; height: .8em; margin-right: .35em; }
.swatch { border: 1px solid var(--soft); }
.swatch.clusters, .swatch.window, .swatch.random, .swatch.loss { background:
  color-mix(in srgb, var(--tone) 50%, var(--paper)); }
.ramp { width: 3em; background: linear-gradient(to right,
  color-mix(in srgb, var(--soft) 12%, var(--paper)), color-mix(in srgb, var(--soft) 65%, var(--paper))); }
.title { font-weight: 600; fill: var(--ink); }
svg { width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
svg text.title { font-weight: 600; font-size: 14px; fill: var(--ink); }
svg text.limit { fill: var(--limit); }
svg text.limit, svg text.point { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; }
svg text.point { font-size: 11px; fill: var(--ink); }
.grid { stroke: var(--grid); } line.limit { stroke: var(--limit); stroke-dasharray: 5 4; }
.curve { fill: none; stroke-width: 2; } .dashed { stroke-dasharray: 6 4; }
dt { font-weight: 600; } dd { margin: 0 0 .4em 1.5em; color: var(--soft); }
figcaption { font-size: 13px; color: var(--soft); }
.entry { display: inline-block; margin-right: .9em; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 50%;
  margin-right: .35em; }
/* A picture is as wide as the screen: what is written in it must not shrink with it. */
@media (max-width: 600px) {
  svg text { font-size: 17px; } svg text.title { font-size: 19px; }
  svg text.point { font-size: 15px; } svg text.limit { font-size: 15px; } }
)";

/// The classes c0 ... c7: one colour as stroke, fill and background.
static std::string writeColors() {
  std::string css;
  for (int i = 0; i < 8; ++i) {
    std::string n = std::to_string(i), color = "var(--c" + n + ")";
    css += ".curve.c" + n + " { stroke: " + color + "; } .mark.c" + n +
           " { fill: " + color + "; } .key.c" + n + " { background: " + color +
           "; }\n";
  }
  return css;
}

/// A column in which no row says anything is left out.
std::string Table::write() const {
  if (rows.empty())
    return {};
  auto isKnown = [&](size_t column) {
    return std::any_of(rows.begin(), rows.end(), [&](const auto &row) {
      return column < row.size() && !row[column].empty() && row[column] != "-";
    });
  };
  std::string html = "<div class=\"scroll\"><table><tr>";
  for (size_t i = 0; i < titles.size(); ++i)
    if (isKnown(i))
      html += "<th>" + escape(titles[i]) + "</th>";
  html += "</tr>\n";
  for (const auto &row : rows) {
    html += "<tr>";
    for (size_t i = 0; i < row.size(); ++i)
      if (isKnown(i))
        html += "<td>" + escape(row[i]) + "</td>";
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

void Page::addText(const std::string &text) {
  body += "<p>" + escape(text) + "</p>\n";
}

/// A section without content is left out, with its heading.
void Page::addSection(const std::string &heading, const std::string &html) {
  if (html.empty())
    return;
  ++sections;
  body += "<h2>" + escape(heading) + "</h2>\n" + html;
}

std::string Page::write() const {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
         escape(title) + "</title>\n<style>" + kStyle + writeColors() +
         "</style></head>\n<body><h1>" + escape(title) + "</h1>\n" + body +
         "</body></html>\n";
}
