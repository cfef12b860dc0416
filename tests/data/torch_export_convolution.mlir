#loc = loc(unknown)
module @jit_func attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x2x3x3xf32> loc("weights['conv.weight']"), %arg1: tensor<4xf32> loc("weights['conv.bias']"), %arg2: tensor<1x2x6x6xf32> loc("inputs[0]")) -> (tensor<1x4x3x3xf32> {jax.result_info = "[0]"}) {
    %0 = stablehlo.convolution(%arg2, %arg0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x2x6x6xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32> loc(#loc4)
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<4xf32>) -> tensor<1x4x1x1xf32> loc(#loc5)
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x4x1x1xf32>) -> tensor<1x4x6x6xf32> loc(#loc5)
    %3 = stablehlo.add %0, %2 : tensor<1x4x6x6xf32> loc(#loc5)
    %4 = call @relu(%3) : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> loc(#loc6)
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32> loc(#loc)
    %5 = "stablehlo.reduce_window"(%4, %cst) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%arg3: tensor<f32> loc(unknown), %arg4: tensor<f32> loc(unknown)):
      %6 = stablehlo.maximum %arg3, %arg4 : tensor<f32> loc(#loc7)
      stablehlo.return %6 : tensor<f32> loc(#loc7)
    }) : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x3x3xf32> loc(#loc7)
    return %5 : tensor<1x4x3x3xf32> loc(#loc)
  } loc(#loc)
  func.func private @relu(%arg0: tensor<1x4x6x6xf32> loc(unknown)) -> tensor<1x4x6x6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32> loc(#loc6)
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x4x6x6xf32> loc(#loc6)
    %1 = stablehlo.maximum %arg0, %0 : tensor<1x4x6x6xf32> loc(#loc6)
    return %1 : tensor<1x4x6x6xf32> loc(#loc6)
  } loc(#loc6)
} loc(#loc)
#loc1 = loc("model.py":14:0)
#loc2 = loc("model.py":15:0)
#loc4 = loc("jit(func)/jit(main)/conv_general_dilated"(#loc1))
#loc5 = loc("jit(func)/jit(main)/add"(#loc1))
#loc6 = loc("jit(func)/jit(main)/pjit"(#loc2))
#loc7 = loc("jit(func)/jit(main)/reduce_window_max"(#loc2))
