//===- CertificateFile.h - Certificates as JSON -----------------*- C++ -*-===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GIST_TOOLS_PLANNING_CERTIFICATEFILE_H
#define GIST_TOOLS_PLANNING_CERTIFICATEFILE_H

#include "tools/planning/Certificate.h"

#include "nlohmann/json_fwd.hpp"

namespace gist::plan {

nlohmann::ordered_json toJson(const Certificate &certificate);

/// How a plan was found, as it stands in its file: what was asked for, ...
nlohmann::ordered_json toJson(const Promise &promise, double confidence);
/// ... and by what it was judged.
void addCertificate(const Certificate &certificate,
                    nlohmann::ordered_json &contract);

/// A file of certificates, as `gist-plan verify` and `combine` write it.
std::string printCertificates(std::span<const Certificate> list);
/// Reads such a file, which is untrusted. Ratios have four digits there.
Status parseCertificates(std::string_view text, std::vector<Certificate> &list);

} // namespace gist::plan

#endif // GIST_TOOLS_PLANNING_CERTIFICATEFILE_H
