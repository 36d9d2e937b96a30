// What a target must say. Known GPUs and what they multiply are in the table of
// dialect/GpuInfo.cpp.
// RUN: gist-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{unknown GPU: gfx90a; known are gfx942, sm_90}}
module attributes {gist.target = #gist.gpu_target<"gfx90a", gram = exact>} {}

// -----

// The order in a target ID is LLVM's.
// expected-error @+1 {{unknown GPU: gfx942:xnack-:sramecc+}}
module attributes {gist.target = #gist.gpu_target<"gfx942:xnack-:sramecc+", gram = exact>} {}

// -----

// expected-error @+1 {{gram=fp8 is for GPUs that multiply f8E4M3FNUZ; sm_90 does not}}
module attributes {gist.target = #gist.gpu_target<"sm_90", gram = fp8>} {}

// -----

// expected-error @+1 {{there is no CPU target 'riscv64-linux-gnu'; expected aarch64 or x86_64}}
module attributes {gist.target = #gist.cpu_target<triple = "riscv64-linux-gnu", cpu = "generic", features = "">} {}

// -----

// expected-error @+1 {{expects the name of a CPU, got 'native'; -gist-set-target finds that of this machine}}
module attributes {gist.target = #gist.cpu_target<triple = "x86_64-linux-gnu", cpu = "native", features = "">} {}

// -----

// expected-error @+1 {{expects features that begin with + or -, got 'sve'}}
module attributes {gist.target = #gist.cpu_target<triple = "aarch64-linux-gnu", cpu = "generic", features = "+i8mm,sve">} {}
