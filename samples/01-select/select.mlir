// Which words of a text represent the others: the greedy covering of its rows.
func.func @select(%x: tensor<?x64xf32>) -> (tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>)
    attributes {llvm.emit_c_interface} {
  %s = gist.gram_select %x, 3.0e-1 causal : tensor<?x64xf32>
  %ids, %count, %nearest, %weight = gist.unpack_selection %s : !gist.selection<?>
  return %ids, %count, %nearest, %weight : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
}
