"""``torch._dynamo.config``: switches of a compiler that is not there; nothing depends on them (facade)."""

__all__: list[str] = []

accumulated_cache_size_limit = accumulated_recompile_limit = 256
cache_size_limit = recompile_limit = 8
assume_static_by_default = automatic_dynamic_shapes = dynamic_shapes = True
allow_unspec_int_on_nn_module = capture_dynamic_output_shape_ops = capture_scalar_outputs = False
compiled_autograd = disable = error_on_recompile = fail_on_recompile_limit_hit = False
inline_inbuilt_nn_modules = optimize_ddp = True
suppress_errors = verbose = False
