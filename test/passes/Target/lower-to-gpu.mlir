// Kernels on buffers become functions of a gpu.module with a pointer for each
// slot: buffers and index arguments in order, then dynamic sizes.

// RUN: gist-opt %s -gist-set-target=target=gfx942 -gist-lower-to-gpu | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: gist-opt %s -gist-set-target=target=sm_90 -gist-lower-to-gpu | FileCheck %s --check-prefixes=CHECK,NVIDIA

#rows = affine_map<()[s0, s1, s2] -> (s1)>

// CHECK: gpu.module @kernels

// CHECK: gpu.func @copy(%[[X:.+]]: !llvm.ptr<1>, %[[N:.+]]: !llvm.ptr<1>, %[[Y:.+]]: !llvm.ptr<1>, %[[ROWS:.+]]: !llvm.ptr<1>, %{{.+}}: !llvm.ptr<1>) kernel
// CHECK-SAME: gist.grid = [#{{.+}}]
// CHECK-SAME: gist.workgroup = array<i64: 64>
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
func.func private @copy(%x: memref<?x512xf16>, %n: index, %y: memref<?x512xf16>)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = [#rows], gist.workgroup = array<i64: 64>} {
  // Numbers are in memory, and never change while a kernel runs.
  // CHECK-DAG: llvm.load %[[ROWS]] invariant {{.*}} -> i32
  // CHECK-DAG: llvm.load %[[N]] invariant {{.*}} -> i32
  // CHECK-DAG: gpu.block_id x upper_bound 2147483647
  %row = gpu.block_id x
  %thread = gpu.thread_id x
  %c8 = arith.constant 8 : index
  %column = arith.muli %thread, %c8 : index
  // Loads of vectors are aligned to them; a transfer says nothing of it.
  // CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<?x512xf16, #gpu.address_space<global>>
  %v = vector.load %x[%row, %column] : memref<?x512xf16>, vector<8xf16>
  // A view is where its source is.
  // CHECK: memref.subview {{.*}} to memref<1x512xf16, strided<[512, 1], offset: ?>, #gpu.address_space<global>>
  %view = memref.subview %y[%n, 0] [1, 512] [1, 1]
      : memref<?x512xf16> to memref<1x512xf16, strided<[512, 1], offset: ?>>
  %c0 = arith.constant 0 : index
  // CHECK: vector.store {{.*}} {alignment = 2 : i64}
  vector.store %v, %view[%c0, %column] {alignment = 2 : i64}
      : memref<1x512xf16, strided<[512, 1], offset: ?>>, vector<8xf16>
  // CHECK: %[[T:.+]] = vector.load %{{[^{]*}} : memref<?x512xf16
  // CHECK: vector.store %[[T]], %{{[^{]*}} : memref<?x512xf16
  %zero = arith.constant 0.0 : f16
  %t = vector.transfer_read %x[%row, %column], %zero {in_bounds = [true]}
      : memref<?x512xf16>, vector<2xf16>
  vector.transfer_write %t, %y[%row, %column] {in_bounds = [true]}
      : vector<2xf16>, memref<?x512xf16>
  // CHECK: gpu.return
  return
}

// Workgroup memory is what the function says on gfx942; on sm_90 it is cut out
// of what a launch gives, in pieces that start at multiples of 128 bytes.

// CHECK: gpu.func @shared
// AMD-SAME: workgroup(%[[A:.+]] : memref<40xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[B:.+]] : memref<8x8xf16, #gpu.address_space<workgroup>> {llvm.align = 64 : i64}) kernel
// NVIDIA-SAME: gist.shared_memory = 384 : i64
func.func private @shared()
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = [], gist.workgroup = array<i64: 256>} {
  // NVIDIA-DAG: %[[C0:.+]] = arith.constant 0 : index
  // NVIDIA-DAG: %[[C256:.+]] = arith.constant 256 : index
  // NVIDIA-DAG: %[[ALL:.+]] = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  // NVIDIA-DAG: %[[A:.+]] = memref.view %[[ALL]][%[[C0]]][] : {{.*}} to memref<40xf32
  // NVIDIA-DAG: %[[B:.+]] = memref.view %[[ALL]][%[[C256]]][] : {{.*}} to memref<8x8xf16
  %a = memref.alloca() : memref<40xf32, #gpu.address_space<workgroup>>
  %b = memref.alloca() {alignment = 64 : i64} : memref<8x8xf16, #gpu.address_space<workgroup>>
  %c3 = arith.constant 3 : index
  %f = arith.constant 1.0 : f32
  %h = arith.constant 1.0 : f16
  // CHECK: memref.store %{{.+}}, %[[A]]
  memref.store %f, %a[%c3] : memref<40xf32, #gpu.address_space<workgroup>>
  // CHECK: memref.store %{{.+}}, %[[B]]
  memref.store %h, %b[%c3, %c3] : memref<8x8xf16, #gpu.address_space<workgroup>>
  return
}

// Functions of numbers become instructions. 2^x has one; it takes one number.

// CHECK: gpu.func @functions
func.func private @functions(%x: memref<4xf32>)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = [], gist.workgroup = array<i64: 64>} {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<4xf32>, vector<4xf32>
  // CHECK-NOT: math.exp
  // CHECK: %[[N:.+]]:4 = vector.to_elements
  // AMD-COUNT-4: llvm.call_intrinsic "llvm.amdgcn.exp2"
  // NVIDIA-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
  %e = math.exp2 %v : vector<4xf32>
  // CHECK-NOT: math.{{exp|tanh|absf|sin}}
  // CHECK: llvm.call_intrinsic "llvm.fabs"
  %a = math.absf %e : vector<4xf32>
  // CHECK: llvm.call_intrinsic "llvm.maximum"(%{{.+}}, %{{.+}}) : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %m = arith.maximumf %a, %v : vector<4xf32>
  %t = math.tanh %m : vector<4xf32>
  %s = math.sin %t : vector<4xf32>
  vector.store %s, %x[%c0] : memref<4xf32>, vector<4xf32>
  // CHECK: gpu.return
  return
}

// log2 has one too, used where fast-math flags allow it.

// CHECK: gpu.func @logarithms
func.func private @logarithms(%x: memref<2xf32>)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = [], gist.workgroup = array<i64: 64>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[X:.+]] = memref.load
  // AMD: llvm.call_intrinsic "llvm.amdgcn.log"(%[[X]])
  // NVIDIA: llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%[[X]])
  %a = memref.load %x[%c0] : memref<2xf32>
  %b = math.log2 %a fastmath<afn> : f32
  memref.store %b, %x[%c0] : memref<2xf32>
  // CHECK: memref.load
  // CHECK-NOT: {{math.log2|llvm.amdgcn.log|lg2.approx}}
  // CHECK: math.fma
  %c = memref.load %x[%c1] : memref<2xf32>
  %d = math.log2 %c : f32
  memref.store %d, %x[%c1] : memref<2xf32>
  // CHECK: gpu.return
  return
}

// A branch that asks for it loads the arguments again, from a place that is
// hidden. sm_90 has registers enough.
// CHECK: gpu.func @again(%[[X:.+]]: !llvm.ptr<1>, %{{.+}}: !llvm.ptr<1>) kernel
func.func private @again(%x: memref<?xf32>)
    attributes {gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = [#rows], gist.workgroup = array<i64: 64>} {
  %thread = gpu.thread_id x
  %c1 = arith.constant 1 : index
  %isSecond = arith.cmpi eq, %thread, %c1 : index
  // CHECK: scf.if
  // AMD: %[[SLOTS:.+]] = llvm.call_intrinsic "llvm.amdgcn.kernarg.segment.ptr"
  // AMD: %[[HIDDEN:.+]] = llvm.inline_asm has_side_effects {{.*}} %[[SLOTS]]
  // AMD: llvm.load %[[HIDDEN]] invariant {{.*}} -> !llvm.ptr<1>
  // AMD: llvm.getelementptr %[[HIDDEN]][1]
  // AMD: %[[OWN:.+]] = builtin.unrealized_conversion_cast {{.*}} to memref<?xf32
  // AMD: memref.load %[[OWN]]
  // NVIDIA-NOT: inline_asm
  // NVIDIA: memref.load
  scf.if %isSecond {
    %number = memref.load %x[%thread] : memref<?xf32>
    memref.store %number, %x[%c1] : memref<?xf32>
  } {gist.load_arguments}
  return
}

// Where sequences share launches, the kernel is there a second time: workgroups
// of z take their slots, here four, from row z of a table.

// CHECK: gpu.func @by_row(%{{.+}}: !llvm.ptr<1>, %{{.+}}: !llvm.ptr<1>, %{{.+}}: !llvm.ptr<1>, %{{.+}}: !llvm.ptr<1>) kernel
// CHECK: gpu.func @by_row_by_table(%[[TABLE:.+]]: !llvm.ptr<1>) kernel
func.func private @by_row(%x: memref<?x512xf16>, %y: memref<?x512xf16>)
    attributes {gist.by_table, gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = [#rows], gist.workgroup = array<i64: 64>} {
  // CHECK-DAG: %[[Z:.+]] = gpu.block_id z
  // CHECK-DAG: %[[FOUR:.+]] = arith.constant 4 : i64
  // CHECK: %[[ROW:.+]] = arith.muli %{{.+}}, %[[FOUR]] : i64
  // CHECK: %[[PLACE:.+]] = llvm.getelementptr %[[TABLE]][%{{.+}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !llvm.ptr<1>
  // CHECK: llvm.load %[[PLACE]] invariant {alignment = 8 : i64} : !llvm.ptr<1> -> !llvm.ptr<1>
  // CHECK: gpu.return
  %row = gpu.block_id x
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%row, %c0] : memref<?x512xf16>, vector<8xf16>
  vector.store %v, %y[%row, %c0] : memref<?x512xf16>, vector<8xf16>
  return
}

// A grid with a third dimension has none to spare.

// CHECK: gpu.func @deep(
// CHECK-NOT: gist.by_table
// CHECK-NOT: gpu.func @deep_by_table
func.func private @deep(%x: memref<?x512xf16>)
    attributes {gist.by_table, gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = [#rows, #rows, #rows], gist.workgroup = array<i64: 64>} {
  return
}
