//! The tests of the layers from the outside, in one program, which is linked once and whose tests share the cores.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod asp;
mod asp_wishes;
#[expect(dead_code, reason = "the conformance tests use the rest of it")]
#[path = "../conformance_m2pa/bench.rs"]
mod m2pa_bench;
mod m2pa_hostile;
mod m2pa_link;
mod m2pa_pair;
mod m2pa_t7;
mod m3ua_asp;
mod m3ua_captures;
mod m3ua_ipsp;
mod m3ua_properties;
mod m3ua_sgp;
mod machines;
mod mtp3_over_links;
mod vectors;
