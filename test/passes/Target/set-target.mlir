// A module says what it is compiled for, once. A CPU is written out whole.
// RUN: gist-opt %s "-gist-set-target=triple=aarch64-linux-gnu cpu=neoverse-v1 features=+sve" | FileCheck %s --check-prefix=CPU
// CPU: module attributes {gist.target = #gist.cpu_target<triple = "aarch64-linux-gnu", cpu = "neoverse-v1", features = "+sve">}

// Without options it is this machine, by name.
// RUN: gist-opt %s -gist-set-target | FileCheck %s --check-prefix=HOST
// HOST: module attributes {gist.target = #gist.cpu_target<triple = "{{.+}}", cpu = "{{.+}}", features = "{{.*}}">}
// HOST-NOT: native

// RUN: gist-opt %s -gist-set-target=target=gfx942 | FileCheck %s --check-prefix=AMD
// AMD: module attributes {gist.target = #gist.gpu_target<"gfx942", gram = exact>}
// RUN: gist-opt %s "-gist-set-target=target=gfx942:sramecc+:xnack- gram=fp8" | FileCheck %s --check-prefix=FP8
// FP8: module attributes {gist.target = #gist.gpu_target<"gfx942:sramecc+:xnack-", gram = fp8>}

// A target stays, and options may name a part of it again.
// RUN: gist-opt %s "-gist-set-target=target=gfx942 gram=fp8" -gist-set-target -gist-set-target=target=gfx942 | FileCheck %s --check-prefix=STAYS
// RUN: gist-opt %s "-gist-set-target=target=gfx942 gram=fp8" | gist-opt -gist-gpu-tile | FileCheck %s --check-prefix=STAYS
// STAYS: #gist.gpu_target<"gfx942", gram = fp8>
// RUN: gist-opt %s "-gist-set-target=triple=aarch64-linux-gnu cpu=neoverse-n1" -gist-tile | FileCheck %s --check-prefix=CPU-STAYS
// CPU-STAYS: #gist.cpu_target<triple = "aarch64-linux-gnu", cpu = "neoverse-n1", features = "">

// Another one is refused: what was chosen so far would be wrong for it.
// RUN: not gist-opt %s -gist-set-target=target=gfx942 -gist-gpu-tile=target=sm_90 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: is for #gist.gpu_target<"gfx942", gram = exact> already; the options name #gist.gpu_target<"sm_90", gram = exact>
// RUN: not gist-opt %s -gist-set-target=target=gfx942 "-gist-tile=cpu=neoverse-n1 triple=aarch64-linux-gnu" 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: is for #gist.gpu_target<"gfx942", gram = exact> already; the options name #gist.cpu_target<

// So is what no target has.
// RUN: not gist-opt %s -gist-set-target=target=gfx90a 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: unknown GPU: gfx90a; known are gfx942, sm_90
// RUN: not gist-opt %s "-gist-set-target=triple=aarch64-linux-gnu cpu=haswell" 2>&1 | FileCheck %s --check-prefix=CPU-UNKNOWN
// CPU-UNKNOWN: error: there is no CPU 'haswell' for aarch64-linux-gnu
// RUN: not gist-opt %s "-gist-set-target=target=gfx942 gram=fp4" 2>&1 | FileCheck %s --check-prefix=GRAM
// GRAM: error: expected gram=exact or gram=fp8, got gram=fp4
// RUN: not gist-opt %s -gist-set-target=gram=fp8 2>&1 | FileCheck %s --check-prefix=CPU-GRAM
// CPU-GRAM: error: gram=fp8 is for GPUs that multiply f8E4M3FNUZ; CPUs compare rows as they are
// RUN: not gist-opt %s "-gist-set-target=target=gfx942 cpu=native" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: expects no triple, cpu or features for gfx942, which is not a CPU

// Passes that ask what the target can do say so where it is missing.
// RUN: not gist-opt %s -gist-gpu-kernels 2>&1 | FileCheck %s --check-prefix=NO-GPU
// RUN: not gist-opt %s -gist-gpu-tile-products 2>&1 | FileCheck %s --check-prefix=NO-GPU
// RUN: not gist-opt %s -gist-lower-to-gpu 2>&1 | FileCheck %s --check-prefix=NO-GPU
// RUN: not gist-opt %s -gist-convert-gpu-modules 2>&1 | FileCheck %s --check-prefix=NO-GPU
// RUN: not gist-opt %s -gist-write-gpu-code 2>&1 | FileCheck %s --check-prefix=NO-GPU
// NO-GPU: error: expects gist.target to name a GPU; -gist-set-target writes it, as do the stages when their options name a target
// RUN: not gist-opt %s -gist-select-tile-config 2>&1 | FileCheck %s --check-prefix=NO-CPU
// RUN: not gist-opt %s -gist-assign-packing 2>&1 | FileCheck %s --check-prefix=NO-CPU
// RUN: not gist-opt %s -gist-write-cpu-code 2>&1 | FileCheck %s --check-prefix=NO-CPU
// NO-CPU: error: expects gist.target to name a CPU; -gist-set-target writes it
// RUN: not gist-opt %s -gist-set-target=target=gfx942 -gist-assign-packing 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: expects gist.target to name a CPU, got #gist.gpu_target<"gfx942", gram = exact>

module {}
