//===- CertificateTest.cpp - Certificates and their files -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/planning/CertificateFile.h"

#include "nlohmann/json.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace gist;
using namespace gist::plan;
using Json = nlohmann::ordered_json;

/// A text, and two tasks with as many samples as said.
static Certificate makeCertificate(uint64_t seed, size_t samples) {
  Certificate result;
  result.plan = "plan.json";
  result.device = "a device";
  result.promise = {1.01, 1.05, 0.98};
  result.confidence = 0.9;
  result.work = 0.375;
  result.samples = samples;
  result.isOfEachTask = true;
  result.seeds = {seed};
  auto add = [&](TermKind kind, const char *title, double loss, size_t count) {
    run::Mean mean{loss, 0.002, count};
    result.rows.push_back(judgeRow({0, 512, kind}, title, result.promise, loss,
                                   mean.upper(0.9), mean));
  };
  if (seed == 1)
    add(TermKind::Perplexity, "text.txt", 0.004, 16);
  add(TermKind::Tasks, "needle", 0.01, samples);
  add(TermKind::Tasks, "turns", 0.03, samples);
  return result;
}

TEST(Certificate, VerdictsFollowTheBound) {
  Certificate found = makeCertificate(1, 8);
  // -log(0.98) is 0.0202: the first is within it by far more than 1.415 times
  // its error, the second is not.
  EXPECT_EQ(found.rows[1].verdict, Verdict::Kept);
  EXPECT_EQ(found.rows[2].verdict, Verdict::Broken);
  EXPECT_EQ(found.verdict(), Verdict::Broken);
}

TEST(Certificate, Combine) {
  Certificate both[] = {makeCertificate(1, 8), makeCertificate(2, 4)}, found;
  ASSERT_TRUE(combine(both, found).ok());
  EXPECT_EQ(found.samples, 12u);
  EXPECT_EQ(found.seeds, (std::vector<uint64_t>{1, 2}));
  ASSERT_EQ(found.rows.size(), 3u);
  EXPECT_EQ(found.rows[0].title, "text.txt");
  EXPECT_EQ(found.rows[1].parts.count, 12u);
  EXPECT_NEAR(found.rows[1].ratio, std::exp(-0.01), 1e-12);
  // Tasks differ by 0.02, and their own samples hardly scatter: the error of
  // their mean is that of either, smaller by the root of two.
  ASSERT_TRUE(found.all);
  EXPECT_NEAR(found.all->ratio, std::exp(-0.02), 1e-12);
  EXPECT_NEAR(found.all->parts.error,
              found.rows[1].parts.error / std::sqrt(2.0), 1e-12);
  // What is in two of them would count twice.
  Certificate twice[] = {both[0], both[0]};
  EXPECT_FALSE(combine(twice, found).ok());
  Certificate longer = both[1];
  for (CertificateRow &row : longer.rows)
    row.term.tokens = 1024;
  Certificate lengths[] = {both[0], longer};
  EXPECT_FALSE(combine(lengths, found).ok());
  EXPECT_EQ(combine({}, found).text,
            "there are no certificates; expected one or more");
}

TEST(Certificate, File) {
  Certificate one[] = {makeCertificate(1, 8)};
  std::vector<Certificate> read;
  ASSERT_TRUE(parseCertificates(printCertificates(one), read).ok());
  EXPECT_EQ(parseCertificates(R"({"gist_certificates": []})", read).text,
            "expected 'gist_certificates', a list of one or more");
  EXPECT_EQ(read.size(), 1u); // left as it was
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].plan, "plan.json");
  EXPECT_EQ(read[0].seeds, one[0].seeds);
  ASSERT_EQ(read[0].rows.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read[0].rows[i].verdict, one[0].rows[i].verdict);
    EXPECT_NEAR(read[0].rows[i].bound, one[0].rows[i].bound, 1e-4);
  }
}

// Whatever stands in place of a field is refused with a sentence, or is a value
// that it may have.
TEST(Certificate, DamagedFiles) {
  Certificate one[] = {makeCertificate(1, 8)};
  std::string text = printCertificates(one);
  std::vector<Certificate> read;
  for (size_t size = 0; size + 2 < text.size(); ++size)
    EXPECT_FALSE(parseCertificates(text.substr(0, size), read).ok());
  const Json whole = Json::parse(text);
  for (const char *place :
       {"/gist_certificates/0", "/gist_certificates/0/parts/0"}) {
    Json::json_pointer object(place);
    for (const auto &[name, value] : whole.at(object).items())
      for (const Json &other :
           {Json(), Json(-1), Json(1e300), Json::object(),
            Json::array({Json()}), Json(uint64_t{1} << 63)}) {
        Json damaged = whole;
        damaged[object][name] = other;
        // Verdicts and the like are derived, not read.
        bool isRead = name != "verdict" && name != "bound" &&
                      name != "promised" && name != "all_tasks";
        Status status = parseCertificates(damaged.dump(), read);
        EXPECT_TRUE(!status.ok() || !isRead || other.is_number()) << name;
        EXPECT_TRUE(status.ok() || !status.text.empty());
      }
  }
}
