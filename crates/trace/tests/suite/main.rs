//! The tests of traces from the outside, in one program, which is linked once and whose tests share the cores.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod estimate;
mod figures;
mod file;
mod page;
mod story;
mod words;
