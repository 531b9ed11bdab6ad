"""Operations that inference tensors refuse.

NOTE [Inference tensors]
A tensor whose memory was allocated in inference mode counts no writes, so nothing recorded may depend on its values:
  1. It is marked when it is made (`new_tensor`), and so are its views, inside and outside the mode, unlike other views;
  2. Outside inference mode it can't be written in place, because saved tensors would not detect the write;
  3. It is never saved for backward. Operations that save nothing may record it;
  4. Outside inference mode it can't be made to require grad;
  5. A copy (clone()) made outside inference mode is a normal tensor.
"""


cdef int check_write(bint inference, str operation) except -1:
    """Refuse to write into an inference tensor outside of inference mode."""
    if inference and not current_mode() & INFERENCE:
        raise RuntimeError("Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to "
                           f"get a normal tensor before doing inplace update. ({operation}(): nothing was written)")
    return 0


cdef object save_error(object node):
    return RuntimeError("Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
                        "in computation tracked by autograd. To work around this, you can make a clone to get a normal "
                        "tensor and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`. "
                        f"({node.name()} would have saved it)")


cdef object version_error():
    return RuntimeError("Inference tensors do not track version counter. A clone() made outside of inference_mode() does.")


cdef object flag_error():
    return RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed. Set it on a "
                        "clone(), or make the tensor outside of inference_mode().")
