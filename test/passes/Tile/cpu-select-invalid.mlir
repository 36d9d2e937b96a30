// What CPU kernels of selections and of attention on them do not take.
// RUN: gist-opt %s -gist-set-target -gist-select-tile-config -gist-tile-and-distribute -split-input-file -verify-diagnostics

func.func private @offsets(%x: tensor<?x64xf32>, %o: tensor<3xi32>,
    %d0: tensor<?xi32>, %d1: tensor<i32>, %d2: tensor<?xi32>, %d3: tensor<?xi32>, %d4: tensor<?xi32>,
    %c: tensor<256xi32> {gist.control})
    -> (tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<256xi32>)
    attributes {gist.kernel = #gist.kernel<kind = select, outputs = 6, scratch = 2>} {
  // expected-error @+1 {{has offsets, which CPU kernels do not read yet}}
  %s = gist.gram_select %x, 3.0e-1 causal offsets(%o : tensor<3xi32>) : tensor<?x64xf32>
  %i, %n, %r, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %n, %r, %w, %d4, %c : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<256xi32>
}

// -----

func.func private @width(%x: tensor<?x63xf32>,
    %d0: tensor<?xi32>, %d1: tensor<i32>, %d2: tensor<?xi32>, %d3: tensor<?xi32>, %d4: tensor<?xi32>,
    %c: tensor<256xi32> {gist.control})
    -> (tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<256xi32>)
    attributes {gist.kernel = #gist.kernel<kind = select, outputs = 6, scratch = 2>} {
  // expected-error @+1 {{has rows whose size is not a multiple of 4 numbers}}
  %s = gist.gram_select %x, 3.0e-1 causal : tensor<?x63xf32>
  %i, %n, %r, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %n, %r, %w, %d4, %c : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>, tensor<256xi32>
}

// -----

func.func private @memory(%x: tensor<?x64xf32>, %d0: tensor<?xi32>, %d1: tensor<i32>, %d2: tensor<?xi32>, %d3: tensor<?xi32>)
    -> (tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>)
    attributes {gist.kernel = #gist.kernel<kind = select, outputs = 4>} {
  // expected-error @+1 {{has no scratch memory}}
  %s = gist.gram_select %x, 3.0e-1 causal : tensor<?x64xf32>
  %i, %n, %r, %w = gist.unpack_selection %s : !gist.selection<?>
  return %i, %n, %r, %w : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
}

// -----

func.func private @heads(%q: tensor<?x6x10xf32>, %k: tensor<?x2x10xf32>, %i: tensor<?xi32>, %c: tensor<i32>,
    %n: tensor<?xi32>, %w: tensor<?xi32>, %o: tensor<?x6x10xf32>) -> tensor<?x6x10xf32>
    attributes {gist.kernel = #gist.kernel<kind = attend, outputs = 1>} {
  %s = gist.pack_selection %i, %c, %n, %w : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
  // expected-error @+1 {{has heads whose size is not a multiple of 4 numbers}}
  %r = gist.attend %q, %k, %k on %s mode copy causal : tensor<?x6x10xf32>, tensor<?x2x10xf32>, tensor<?x2x10xf32>, !gist.selection<?>
  return %r : tensor<?x6x10xf32>
}
