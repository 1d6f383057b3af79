//! The tests of the layers from the outside, in one program, which is linked once and whose tests share the cores.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod machines;
mod vectors;
