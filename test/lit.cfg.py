import os
import platform

import lit.formats

config.name = "gist"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "models", "unit", "numeric", "reference", "package"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.gist_build_root, "test")

config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.gist_build_root, "bin"),
        config.llvm_tools_dir,
        config.environment["PATH"],
    ]
)
# Which modules were compiled here is noted by the build, not in the user's home.
config.environment["XDG_STATE_HOME"] = os.path.join(config.gist_build_root, "state")
# A failing command must show its own message and no colours.
config.environment["LLVM_DISABLE_CRASH_REPORT"] = "1"
if config.sanitize in ("ON", "1", "TRUE"):
    # MLIR's own registries live until the process ends, and LLVM's inlined
    # allocators poison memory that the uninstrumented libraries then use.
    config.environment["ASAN_OPTIONS"] = "detect_leaks=0:allow_user_poisoning=0"
    config.available_features.add("sanitizer")

if config.edits_lines in ("1", "TRUE"):
    config.available_features.add("libedit")
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%cxx", config.cxx))
config.substitutions.append(("%cmake", config.cmake))
config.substitutions.append(("%source_root", config.gist_source_root))
config.substitutions.append(("%build_root", config.gist_build_root))
# A machine that this one is not.
is_x86 = platform.machine() == "x86_64"
other = "aarch64-linux-gnu" if is_x86 else "x86_64-linux-gnu"
config.substitutions.append(("%other_triple", other))
