"""Detects assignments `t[k] = nisa.f(x)` whose instruction can write to `t` without a copy."""
