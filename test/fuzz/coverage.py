# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints how many lines of each reader the inputs of the fuzz targets reach.

Usage: coverage.py PROFILE PROGRAM... (what llvm-profdata merged; built with
coverage). Fails when a reader has less than 90 % of its lines.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEAST = 90
READERS = [
    "passes/Import/Files/Gguf.cpp",
    "passes/Import/Files/Safetensors.cpp",
    "passes/Import/Files/ModelConfig.cpp",
    "passes/Import/Files/ModelFolder.cpp",
    "passes/Import/Files/ReadTokenizer.cpp",
    "passes/Plan/File/PlanFile.cpp",
    "passes/Plan/File/Plan.cpp",
    "passes/Plan/File/LinearPlan.cpp",
    "passes/Plan/File/SelectionPlan.cpp",
    "runtime/device/CpuElf.cpp",
    "runtime/module/Expr.cpp",
    "runtime/module/MetadataDecode.cpp",
    "runtime/module/Module.cpp",
    "runtime/module/RankSpec.cpp",
    "runtime/module/VerifySpec.cpp",
    "runtime/support/Json.cpp",
    "runtime/text/ChatTemplateCosts.cpp",
    "runtime/text/ChatTemplateEval.cpp",
    "runtime/text/ChatTemplateExpressions.cpp",
    "runtime/text/ChatTemplateFilters.cpp",
    "runtime/text/ChatTemplateLexer.cpp",
    "runtime/text/ChatTemplateOperators.cpp",
    "runtime/text/ChatTemplateParser.cpp",
    "runtime/text/ChatTemplateSequences.cpp",
    "runtime/text/ChatTemplateTests.cpp",
    "runtime/text/ChatTemplateValue.cpp",
    "runtime/text/SentencePiece.cpp",
    "runtime/text/TokenizerHuggingFace.cpp",
    "runtime/text/TokenizerImport.cpp",
    "runtime/text/TokenizerImportPieces.cpp",
    "runtime/text/TokenizerJson.cpp",
    "runtime/text/TokenizerJsonPieces.cpp",
    "runtime/text/TokenizerSpec.cpp",
    "tools/planning/Calibration.cpp",
    "tools/planning/CertificateFile.cpp",
    "tools/planning/LinearMenus.cpp",
    "tools/running/Npy.cpp",
    "tools/serving/Http.cpp",
    "tools/serving/Json.cpp",
    "tools/serving/Requests.cpp",
]


def main(profile, programs):
    objects = [word for program in programs[1:] for word in ("-object", program)]
    report = subprocess.run(
        ["llvm-cov-22", "export", "-summary-only", "-instr-profile", profile, programs[0], *objects],
        check=True, capture_output=True, text=True).stdout
    lines = {file["filename"]: file["summary"]["lines"] for file in json.loads(report)["data"][0]["files"]}
    low = 0
    for reader in READERS:
        found = [count for name, count in lines.items() if name.endswith("/" + reader)]
        covered, count = (found[0]["covered"], found[0]["count"]) if found else (0, 1)
        share = 100 * covered / count
        low += share < LEAST
        print(f"{share:5.1f} % of {count:4} lines  {reader}{'' if share >= LEAST else '  (too few)'}")
    if low:
        sys.exit(f"{low} readers have less than {LEAST} % of their lines")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
