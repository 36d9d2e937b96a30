// Functions of the LLVM dialect as assembly or as a shared object, for the CPU
// that is asked for; the module stays as it is.
// RUN: gist-opt %s -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-write-cpu-code="assembly output=%t.s" | FileCheck %s
// RUN: FileCheck %s --check-prefix=ARM --input-file=%t.s
// RUN: gist-opt %s -gist-set-target="triple=x86_64-linux-gnu cpu=haswell" -gist-write-cpu-code="assembly output=%t.x.s" -o /dev/null
// RUN: FileCheck %s --check-prefix=X86 --input-file=%t.x.s
// RUN: gist-opt %s -gist-set-target="triple=aarch64-linux-gnu cpu=neoverse-v1" -gist-write-cpu-code="output=%t.so" -o /dev/null
// RUN: llvm-readelf -h --dyn-syms %t.so | FileCheck %s --check-prefix=OBJECT
// RUN: not gist-opt %s -gist-set-target=triple=nonsense 2>&1 | FileCheck %s --check-prefix=TRIPLE

// CHECK: llvm.func @negate(
// ARM: negate:
// ARM: fneg s0
// X86: negate:
// X86: vxorps
// OBJECT: Type: DYN
// OBJECT: Machine: AArch64
// OBJECT: FUNC GLOBAL DEFAULT {{.*}} negate{{$}}
// TRIPLE: error: there is no CPU target 'nonsense'; expected aarch64 or x86_64
llvm.func @negate(%x: f32) -> f32 {
  %n = llvm.fneg %x : f32
  llvm.return %n : f32
}
