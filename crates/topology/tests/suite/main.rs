//! The tests of topologies from the outside.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod constellations;
mod effects;
mod topology;
