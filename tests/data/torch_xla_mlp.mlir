module @IrToHlo.34 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<3xf32>, %arg1: tensor<3x5xf32>, %arg2: tensor<5xf32>, %arg3: tensor<5x4xf32>, %arg4: tensor<2x4xf32>) -> tensor<2x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.transpose %arg3, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[4,5]{0,1}"} : (tensor<5x4xf32>) -> tensor<4x5xf32>
    %1 = stablehlo.dot_general %arg4, %0, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<5xf32>) -> tensor<2x5xf32>
    %3 = stablehlo.add %1, %2 : tensor<2x5xf32>
    %4 = stablehlo.composite "aten.gelu.default" %3 {composite_attributes = {approximate = "none"}, decomposition = @aten.gelu.default.impl} : (tensor<2x5xf32>) -> tensor<2x5xf32>
    %5 = stablehlo.transpose %arg1, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[5,3]{0,1}"} : (tensor<3x5xf32>) -> tensor<5x3xf32>
    %6 = stablehlo.dot_general %4, %5, contracting_dims = [1] x [0] : (tensor<2x5xf32>, tensor<5x3xf32>) -> tensor<2x3xf32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %8 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %9 = stablehlo.multiply %8, %7 : tensor<2x3xf32>
    %10 = stablehlo.add %6, %9 : tensor<2x3xf32>
    %11 = stablehlo.reduce(%10 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
    %13 = stablehlo.subtract %10, %12 : tensor<2x3xf32>
    %14 = stablehlo.exponential %13 : tensor<2x3xf32>
    %15 = stablehlo.reduce(%14 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
    %17 = stablehlo.divide %14, %16 : tensor<2x3xf32>
    return %17 : tensor<2x3xf32>
  }
  func.func private @aten.gelu.default.impl(%arg0: tensor<2x5xf32>) -> tensor<2x5xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<2x5xf32>
    %cst_0 = stablehlo.constant dense<0.707106769> : tensor<2x5xf32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<2x5xf32>
    %0 = stablehlo.multiply %arg0, %cst_1 : tensor<2x5xf32>
    %1 = stablehlo.multiply %arg0, %cst_0 : tensor<2x5xf32>
    %2 = stablehlo.custom_call @mhlo.erf(%1) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<2x5xf32>) -> tensor<2x5xf32>
    %3 = stablehlo.add %2, %cst : tensor<2x5xf32>
    %4 = stablehlo.multiply %0, %3 : tensor<2x5xf32>
    return %4 : tensor<2x5xf32>
  }
}
