"""What PyTorch's autocast on the CPU does to results of the rows of the op table, as measured on PyTorch 2.13."""

# Results of float32 operands have the lower dtype.
LOWERED = set(
    """
    addbmm addmm affine_grid_generator baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d
    conv_transpose2d conv_transpose3d corrcoef cov linalg.multi_dot linalg.pinv linalg.vecdot lstm matmul mm
    nn.functional.affine_grid nn.functional.linear nn.functional.scaled_dot_product_attention prelu rnn_relu rnn_relu_cell
    rnn_tanh rnn_tanh_cell
""".split()
)

# The same by sample, in their order: "l" if its results do.
LOWERED_SAMPLES = {
    "einsum": "ll-l--", "inner": "-ll-", "linalg.matrix_power": "l-ll-", "matrix_power": "l-", "tensordot": "ll-l",
}  # fmt: skip

# Results of bfloat16 operands are float32.
WIDENED = set(
    """
    cdist grid_sampler grid_sampler_2d grid_sampler_3d max_pool3d nn.functional.adaptive_avg_pool3d
    nn.functional.adaptive_max_pool3d nn.functional.adaptive_max_pool3d_with_indices nn.functional.binary_cross_entropy
    nn.functional.binary_cross_entropy_with_logits nn.functional.cosine_embedding_loss nn.functional.cross_entropy
    nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool2d_with_indices nn.functional.fractional_max_pool3d
    nn.functional.fractional_max_pool3d_with_indices nn.functional.grid_sample nn.functional.hinge_embedding_loss
    nn.functional.huber_loss nn.functional.kl_div nn.functional.l1_loss nn.functional.linear_cross_entropy
    nn.functional.margin_ranking_loss nn.functional.max_pool3d nn.functional.max_unpool1d nn.functional.max_unpool2d
    nn.functional.max_unpool3d nn.functional.mse_loss nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss
    nn.functional.nll_loss nn.functional.poisson_nll_loss nn.functional.smooth_l1_loss nn.functional.soft_margin_loss
    nn.functional.triplet_margin_loss prod trace
    nn.functional.avg_pool3d nn.functional.ctc_loss nn.functional.lp_pool3d nanquantile quantile
""".split()
)
WIDENED_SAMPLES = {"nn.functional.local_response_norm": "-w", "nn.functional.pad": "--wwww"}

# These refuse bfloat16 outside of autocast; within, results are float32 or complex64.
TAKES_BFLOAT16 = set(
    """
    cholesky cholesky_inverse cholesky_solve fft.fft fft.fft2 fft.fftn fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ihfft
    fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn geqrf inverse linalg.cholesky linalg.cholesky_ex
    linalg.cond linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.householder_product linalg.inv linalg.inv_ex
    linalg.lstsq linalg.matrix_rank linalg.qr linalg.solve linalg.svdvals linalg.tensorinv linalg.tensorsolve lu
    lu_solve orgqr ormqr pinverse polar qr stft triangular_solve view_as_complex
""".split()
)
