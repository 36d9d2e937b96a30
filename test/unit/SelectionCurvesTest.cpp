//===- SelectionCurvesTest.cpp - Representatives by tau -------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/SelectionCurves.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

using namespace gist;
using Json = nlohmann::ordered_json;

/// Unit vectors of the plane at these angles.
static std::vector<float> makeRows(const std::vector<double> &angles) {
  std::vector<float> rows;
  for (double angle : angles) {
    rows.push_back(static_cast<float>(std::cos(angle)));
    rows.push_back(static_cast<float>(std::sin(angle)));
  }
  return rows;
}

static void addRows(SelectionCurveMeter &meter, size_t layer,
                    const std::vector<float> &rows) {
  // Rows of two numbers, one after the other.
  meter.add("residual", layer, 0, {rows.data(), rows.size() / 2, 2, 2});
}

static const SelectionCurve &getCurve(const SelectionCurves &curves,
                                      size_t layer, const char *against,
                                      const char *similarity = "absolute") {
  return curves.curves.at({{"residual", against, similarity}, layer, 0});
}

/// cos 0.4 = 0.92 is more than 1 - 0.3^2 = 0.91, cos 0.8 is less: the paper's
/// sets keep the first token of a chain, coverings every second one.
TEST(SelectionCurves, AChain) {
  SelectionCurveMeter meter(5, {0.1, 0.3});
  addRows(meter, 0, makeRows({0, 0.4, 0.8, 1.2, 1.6}));
  SelectionCurves curves = meter.finish();
  EXPECT_EQ(curves.windows, 1);
  EXPECT_EQ(getCurve(curves, 0, "all").kept, (std::vector<double>{1, 0.2}));
  EXPECT_EQ(getCurve(curves, 0, "kept").kept, (std::vector<double>{1, 0.6}));
  EXPECT_EQ(getCurve(curves, 0, "kept").deviation, (std::vector<double>{0, 0}));
  EXPECT_TRUE(getCurve(curves, 0, "kept").turnover.empty());
}

/// 1 - 0^2 = 1 is what the cosine of equal rows reaches, but a tau of 0 keeps
/// every token, as gist.gram_select does.
TEST(SelectionCurves, ATauOfZeroKeepsEveryToken) {
  SelectionCurveMeter meter(3, {0.0, 0.3});
  addRows(meter, 0, {1, 0, 1, 0, 1, 0});
  SelectionCurves curves = meter.finish();
  for (const char *against : {"all", "kept"})
    for (const char *similarity : {"absolute", "signed"}) {
      const SelectionCurve &curve = getCurve(curves, 0, against, similarity);
      EXPECT_EQ(curve.kept[0], 1) << against << " " << similarity;
      EXPECT_NEAR(curve.kept[1], 1.0 / 3, 1e-6) << against << " " << similarity;
    }
}

// Keys may point the other way and still stand for each other by absolute
// value, but not as keys.
TEST(SelectionCurves, OppositesAreAlikeOnlyInAbsoluteValue) {
  SelectionCurveMeter meter(2, {0.3});
  addRows(meter, 0, makeRows({0, 3.14159}));
  SelectionCurves curves = meter.finish();
  EXPECT_EQ(getCurve(curves, 0, "kept").kept[0], 0.5);
  EXPECT_EQ(getCurve(curves, 0, "kept", "signed").kept[0], 1);
}

/// Rows without a direction cover nothing and are kept.
TEST(SelectionCurves, RowsThatCannotBeCompared) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> rows = {0, 0, 0, 0, nan, 1, nan, 1, 1, 0, 1, 0, 1e30f, 0};
  SelectionCurveMeter meter(7, {0.3});
  addRows(meter, 0, rows);
  SelectionCurves curves = meter.finish();
  // All but the second of the two that are alike.
  EXPECT_NEAR(getCurve(curves, 0, "all").kept[0], 6.0 / 7, 1e-6);
  EXPECT_NEAR(getCurve(curves, 0, "kept", "signed").kept[0], 6.0 / 7, 1e-6);
}

/// {0, 1, 2} becomes {0, 2, 3}: one came and one went.
TEST(SelectionCurves, AgainstTheLayerBefore) {
  SelectionCurveMeter meter(4, {0.3});
  for (int window = 0; window < 2; ++window) {
    addRows(meter, 0, makeRows({0, 0.5, 1, 1}));
    // Layer 0 keeps 0, 1 and 2 in both windows.
    // In the second window nothing changes.
    addRows(meter, 1,
            window == 0 ? makeRows({0, 0, 1, 0.5}) : makeRows({0, 0.5, 1, 1}));
  }
  SelectionCurves curves = meter.finish();
  EXPECT_EQ(curves.windows, 2);
  const SelectionCurve &curve = getCurve(curves, 1, "kept");
  EXPECT_NEAR(curve.turnover[0], 2.0 / 3 / 2, 1e-6);
  EXPECT_NEAR(curve.jaccard[0], (2.0 / 4 + 1) / 2, 1e-6);
  EXPECT_EQ(curve.kept[0], 0.75);
  EXPECT_EQ(curve.deviation[0], 0);
}

static SelectionCurves makeCurves() {
  SelectionCurveMeter meter(4, {0.1, 0.3});
  std::vector<float> rows = makeRows({0, 0.4, 1.1, 1.1});
  addRows(meter, 0, rows);
  addRows(meter, 1, makeRows({0, 0.3, 0.6, 0.9}));
  meter.add("keys", 1, 1, {rows.data(), 4, 2, 2});
  return meter.finish();
}

// The file is what a second run goes on from.
TEST(SelectionCurves, WrittenAndReadAgain) {
  SelectionCurves written = makeCurves(), read;
  Status status =
      parseSelectionCurves(Json::parse(written.print()), 2, 2, read);
  ASSERT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(read.curves, written.curves);
  EXPECT_EQ(read.print(), written.print());
}

// Whatever a file says, there is an error with a text.
TEST(SelectionCurves, DamageIsASentence) {
  std::string text = makeCurves().print();
  auto damage = [&](const std::string &from, const std::string &to) {
    std::string copy = text;
    size_t at = copy.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    copy.replace(at, from.size(), to);
    SelectionCurves read;
    Status status = parseSelectionCurves(Json::parse(copy), 2, 2, read);
    EXPECT_FALSE(status.ok()) << from << " -> " << to;
    EXPECT_NE(status.text.find("expected"), std::string::npos) << status.text;
  };
  damage("\"window\": 4", "\"window\": 0");
  damage("\"windows\": 1", "\"windows\": -1");
  damage("\"windows\": 1", "\"windows\": 2e85");
  damage("\"windows\": 1", "\"windows\": null");
  damage("[0.1,0.3]", "[0.3,0.1]");
  damage("[0.1,0.3]", "[0.1,1.0]");
  damage("[0.1,0.3]", "[]");
  damage("[0.1,0.3]", "[0.1]");
  damage("\"residual\"", "\"values\"");
  damage("\"all\"", "\"some\"");
  damage("\"signed\"", "\"absolute\""); // A second curve of one place.
  damage("\"layer\":1", "\"layer\":2");
  damage("\"layer\":1", "\"layer\":-1");
  damage("\"head\":1", "\"head\":2");
  damage("\"kept\":[", "\"kept\":[2,");
  damage("\"turnover\":[0.333333", "\"turnover\":[5.0");
  damage("\"jaccard\":[", "\"jaccard\":[null,");
}
