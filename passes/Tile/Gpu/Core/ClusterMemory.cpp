//===- ClusterMemory.cpp - Workgroup memory of neighbours -----------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Gpu/Core/ClusterMemory.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace gist;

void gist::writeRemote(GpuBuilder &b, Value numbers, Value memory,
                       ValueRange indices, Value to) {
  // They have side effects for LLVM, so that writes stay between the barriers
  // of the cluster.
  auto assemble = [&](StringRef text, StringRef constraints, Type type,
                      ValueRange operands) {
    return LLVM::InlineAsmOp::create(b, type, operands, text, constraints,
                                     /*has_side_effects=*/true,
                                     /*is_align_stack=*/false,
                                     LLVM::TailCallKind::None,
                                     LLVM::AsmDialectAttr(), ArrayAttr());
  };
  GpuBuilder::Values sizes;
  for (int64_t size : cast<MemRefType>(memory.getType()).getShape())
    sizes.push_back(b.index(size));
  Value begin = memref::ExtractAlignedPointerAsIndexOp::create(b, memory);
  Value address = b.add(begin, b.mul(b.linearize(indices, sizes), 4));
  Value mapped = assemble("mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r",
                          b.getI32Type(), {b.toI32(address), b.toI32(to)})
                     .getRes();
  if (!isa<VectorType>(numbers.getType())) {
    assemble("st.shared::cluster.f32 [$0], $1;", "r,f,~{memory}", Type(),
             {mapped, numbers});
    return;
  }
  assemble("st.shared::cluster.v2.f32 [$0], {$1, $2};", "r,f,f,~{memory}",
           Type(), {mapped, b.extract(numbers, 0), b.extract(numbers, 1)});
}
