"""Stages: one class per file, whose instances are units of work; `registry` has all in the order in which they run."""
