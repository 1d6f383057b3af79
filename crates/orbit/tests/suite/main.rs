//! The tests of the sky from the outside, in one program, which is linked once and whose tests share the cores.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod contacts;
mod limits;
mod neighbours;
mod ns2;
mod presets;
mod routes;
mod sgp4_verification;
mod skyfield;
mod topology;
