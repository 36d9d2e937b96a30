// The conversions are those of the GPU that the module names: a thread's number
// is read from another register, and functions carry another mark.
// RUN: gist-opt %s -gist-set-target=target=gfx942 -gist-convert-gpu-modules | FileCheck %s --check-prefix=AMD
// RUN: gist-opt %s -gist-set-target=target=sm_90 -gist-convert-gpu-modules | FileCheck %s --check-prefix=NVIDIA

// AMD:        llvm.func @lanes
// AMD-SAME:     rocdl.kernel
// AMD:          rocdl.workitem.id.x
// AMD-NOT:      unrealized_conversion_cast

// NVIDIA:     llvm.func @lanes
// NVIDIA-SAME:  nvvm.kernel
// NVIDIA:       nvvm.read.ptx.sreg.tid.x
// NVIDIA-NOT:   unrealized_conversion_cast
gpu.module @kernels {
  gpu.func @lanes(%x: !llvm.ptr<1>) kernel {
    %thread = gpu.thread_id x
    %number = arith.index_cast %thread : index to i64
    llvm.store %number, %x : i64, !llvm.ptr<1>
    gpu.return
  }
}
