"""The whole service under mixed traffic, a fifth of it hostile, while faults are put into it."""
