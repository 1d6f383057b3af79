//! The scenario file: parse, check, build, run and sweep.
