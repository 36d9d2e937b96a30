// Machine code of kernels on buffers: accesses name their memory and are as
// wide as the vectors, numbers are scalars, and no library is called.

// RUN: gist-opt %s -gist-gpu=target=gfx942 "-gist-write-gpu-code=assembly output=%t.s" -o /dev/null
// RUN: FileCheck %s --check-prefix=ISA --input-file=%t.s
// RUN: gist-opt %s -gist-gpu=target=sm_90 "-gist-write-gpu-code=output=%t.ptx" -o /dev/null
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx

// The code object says which card it is for, leaving xnack and sramecc open,
// and its kernels take their slots and nothing else.
// RUN: gist-opt %s -gist-gpu=target=gfx942 "-gist-write-gpu-code=output=%t.hsaco" -o /dev/null
// RUN: llvm-readelf -h --notes --dyn-syms %t.hsaco | FileCheck %s --check-prefix=OBJECT
// OBJECT: OS/ABI: AMDGPU - HSA
// OBJECT: ABI Version: 3
// OBJECT: Flags: 0x54c, gfx942, xnack, sramecc
// OBJECT-DAG: FUNC GLOBAL {{.*}} scale_rows{{$}}
// OBJECT-DAG: OBJECT GLOBAL {{.*}} scale_rows.kd
// OBJECT: .agpr_count: 0
// OBJECT: .value_kind: global_buffer
// OBJECT: .group_segment_fixed_size: 2048
// OBJECT: .kernarg_segment_size: 24
// OBJECT: .name: scale_rows
// OBJECT: .private_segment_fixed_size: 0
// OBJECT: .reqd_workgroup_size:
// OBJECT-NEXT: - 128
// OBJECT: .vgpr_spill_count: 0
// OBJECT: amdhsa.target: amdgcn-amd-amdhsa--gfx942
// OBJECT: amdhsa.version:
// OBJECT-NEXT: - 1
// OBJECT-NEXT: - 2

// Or as a target ID says.
// RUN: gist-opt %s -gist-gpu=target=gfx942:sramecc+:xnack- "-gist-write-gpu-code=output=%t.id.hsaco" -o /dev/null
// RUN: llvm-readelf -h --notes %t.id.hsaco | FileCheck %s --check-prefix=ID
// ID: Flags: 0x{{[eE]4[cC]}}, gfx942, xnack-, sramecc+
// ID: amdhsa.target: 'amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-'
// RUN: not gist-opt %s -gist-gpu=target=gfx942:xnack-:sramecc+ "-gist-write-gpu-code=output=%t.no" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: unknown GPU: gfx942:xnack-:sramecc+

// PTX: .version 8.
// PTX: .target sm_90{{$}}
// PTX-NOT: .extern .func
// PTX: .extern .shared .align 1024 .b8 {{.+}}[];

// ISA-LABEL: {{^}}scale_rows:
// ISA-NOT: flat_
// ISA-DAG: s_load_dword s
// ISA-DAG: global_load_dwordx4
// ISA-DAG: v_exp_f32
// ISA: ds_write_b128
// ISA: s_barrier
// ISA: ds_read_b128
// ISA: global_store_dwordx4
// ISA-NOT: s_swappc
// ISA: s_endpgm
// ISA: ScratchSize: 0

// PTX-LABEL: .visible .entry scale_rows(
// PTX: .maxntid 128
// PTX-DAG: ld.global.nc.b32
// PTX-DAG: ld.global.v4.b32
// PTX-DAG: ex2.approx.ftz.f32
// PTX: st.shared.v4.b32
// PTX: bar.sync
// PTX: ld.shared.v4.b32
// PTX: st.global.v4.b32
#one = affine_map<()[s0] -> (1)>
func.func private @scale_rows(%x: memref<1024xf16>, %n: index, %y: memref<1024xf16>)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = [#one], gist.workgroup = array<i64: 128>} {
  %shared = memref.alloca() : memref<1024xf16, #gpu.address_space<workgroup>>
  %thread = gpu.thread_id x
  %c8 = arith.constant 8 : index
  %c1016 = arith.constant 1016 : index
  %at = arith.muli %thread, %c8 : index
  %v = vector.load %x[%at] : memref<1024xf16>, vector<8xf16>
  %i = arith.index_cast %n : index to i32
  %s = arith.sitofp %i : i32 to f32
  %e = math.exp %s : f32
  %h = arith.truncf %e : f32 to f16
  %b = vector.broadcast %h : f16 to vector<8xf16>
  %p = arith.mulf %v, %b : vector<8xf16>
  vector.store %p, %shared[%at] : memref<1024xf16, #gpu.address_space<workgroup>>, vector<8xf16>
  gpu.barrier
  %other = arith.subi %c1016, %at : index
  %r = vector.load %shared[%other] : memref<1024xf16, #gpu.address_space<workgroup>>, vector<8xf16>
  vector.store %r, %y[%at] : memref<1024xf16>, vector<8xf16>
  return
}
