"""Proofs that two kernels compute the same results for all inputs, by digests of terms."""
