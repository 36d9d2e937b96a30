//===- MeasurementsFuzz.cpp - Any bytes as a file of gist-plan ------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calibrations of heads, and certificates: what a plan is searched with, and
// what it was measured to keep. What was read is used as `solve`, `report` and
// `combine` use it.
//
//===----------------------------------------------------------------------===//

#include "tools/planning/Calibration.h"
#include "tools/planning/CertificateFile.h"

using namespace gist;

static void useCalibration(const Calibration &calibration) {
  for (const auto &[key, runs] : calibration.runs)
    for (size_t text = 0; text < runs.size(); ++text) {
      for (size_t i = 0; i < calibration.checkpoints().size(); ++i)
        (void)calibration.firstCopyLoss(runs[text], text, i).estimate();
      (void)calibration.secondCopyLoss(runs[text], text).estimate();
    }
  // A file that was read is written again, and read by the next run.
  Calibration again;
  if (!parseCalibration(printCalibration(calibration), again).ok())
    __builtin_trap();
}

static void useCertificates(const std::vector<plan::Certificate> &list) {
  plan::Certificate all;
  (void)plan::combine(list, all).ok();
  (void)plan::printCertificates(list);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  // Each reader refuses what has not its name, which takes time and finds
  // nothing after the first.
  auto has = [&](const char *name) {
    return text.find(name) != std::string_view::npos;
  };
  Calibration calibration;
  std::vector<plan::Certificate> certificates;
  bool isCertificate = has("gist_certificates");
  if ((!isCertificate || has("gist_calibration")) &&
      parseCalibration(text, calibration).ok())
    useCalibration(calibration);
  if (isCertificate && plan::parseCertificates(text, certificates).ok())
    useCertificates(certificates);
  return 0;
}
