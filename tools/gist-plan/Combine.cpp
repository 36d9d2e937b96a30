//===- Combine.cpp - gist-plan combine ------------------------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gist-plan combine`: one certificate of several runs of `gist-plan verify`,
// which may have been at once or on different days.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/AtomicFile.h"
#include "tools/gist-plan/Commands.h"
#include "tools/planning/CertificateFile.h"
#include "tools/running/Options.h"

#include <algorithm>

using namespace gist;
using namespace gist::plan;

namespace {
struct CombineOptions {
  std::vector<std::string> files;
  std::string output;
};
} // namespace

static Status runCombine(const CombineOptions &options) {
  if (!options.output.empty())
    GIST_TRY(checkWritable(options.output));
  // Those of each plan, plans in the order in which they come.
  std::vector<std::vector<Certificate>> plans;
  for (const std::string &path : options.files) {
    std::string text;
    std::vector<Certificate> list;
    GIST_TRY(run::readText(path, text));
    GIST_TRY(parseCertificates(text, list).in(path));
    for (Certificate &certificate : list) {
      auto same = std::ranges::find_if(
          plans, [&](const std::vector<Certificate> &others) {
            return others.front().plan == certificate.plan;
          });
      if (same == plans.end())
        same = plans.emplace(plans.end());
      same->push_back(std::move(certificate));
    }
  }
  std::vector<Certificate> results;
  for (const std::vector<Certificate> &list : plans) {
    results.emplace_back();
    GIST_TRY(combine(list, results.back()));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    std::printf("%s%s, %zu runs, %zu samples of a task\n", i == 0 ? "" : "\n",
                results[i].plan.c_str(), plans[i].size(), results[i].samples);
    print(results[i]);
  }
  return options.output.empty()
             ? Status()
             : writeWhole(options.output, printCertificates(results));
}

void plan::addCombine(CLI::App &app, Action &action) {
  auto options = std::make_shared<CombineOptions>();
  CLI::App *command = app.add_subcommand(
      "combine", "Make one certificate of several of the same plan");
  command
      ->add_option("certificates", options->files,
                   "What 'gist-plan verify' wrote, of different texts and "
                   "seeds")
      ->type_name("CERTIFICATES...")
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "File to write the certificates to (JSON)")
      ->type_name("FILE");
  command->footer("Example: gist-plan combine seed-2.json seed-3.json -o "
                  "certificate.json");
  command->callback([options, &action] {
    action = [options] { return runCombine(*options); };
  });
}
