module attributes {tf.versions = {bad_consumers = [], min_consumer = 0 : i32, producer = 1882 : i32}, tf_saved_model.semantics} {
  func.func @serving_default(%arg0: tensor<2x4xf32> {tf_saved_model.index_path = ["x"]}) -> (tensor<2x3xf32> {tf_saved_model.index_path = ["probabilities"]}, tensor<2xi32> {tf_saved_model.index_path = ["label"]}) attributes {tf.entry_function = {control_outputs = "", inputs = "serving_default_x:0", outputs = "StatefulPartitionedCall:0,StatefulPartitionedCall:1"}, tf_saved_model.exported_names = ["serving_default"]} {
    %0 = stablehlo.constant dense<[[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [-0.75, 1.0, 0.125], [0.0, -2.0, 1.0]]> : tensor<4x3xf32>
    %1 = stablehlo.constant dense<[1.000000e-01, 2.000000e-01, -3.000000e-01]> : tensor<3xf32>
    %2 = stablehlo.dot %arg0, %0, precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %4 = stablehlo.add %2, %3 : tensor<2x3xf32>
    %5 = stablehlo.logistic %4 : tensor<2x3xf32>
    %6 = stablehlo.iota dim = 1 : tensor<2x3xi32>
    %7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.constant dense<0> : tensor<i32>
    %9:2 = stablehlo.reduce(%5 init: %7), (%6 init: %8) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %10 = stablehlo.compare GE, %arg1, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %11 = stablehlo.select %10, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %12 = stablehlo.compare EQ, %arg1, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %13 = stablehlo.minimum %arg2, %arg4 : tensor<i32>
      %14 = stablehlo.select %10, %arg2, %arg4 : tensor<i1>, tensor<i32>
      %15 = stablehlo.select %12, %13, %14 : tensor<i1>, tensor<i32>
      stablehlo.return %11, %15 : tensor<f32>, tensor<i32>
    }
    return %5, %9#1 : tensor<2x3xf32>, tensor<2xi32>
  }
}
