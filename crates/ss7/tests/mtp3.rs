//! MTP3 nodes joined by links that fail: what is accepted arrives once and in order.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "mtp3/configuration.rs"]
mod configuration;
#[expect(dead_code, reason = "the tests of MTP2 use the rest of their line")]
#[path = "mtp2/line.rs"]
mod line;
#[path = "mtp3/machines.rs"]
mod machines;
#[path = "mtp3/network.rs"]
mod network;
#[path = "mtp3/over_mtp2.rs"]
mod over_mtp2;
#[path = "mtp3/periodic_test.rs"]
mod periodic_test;
#[path = "mtp3/reserve.rs"]
mod reserve;
#[path = "mtp3/sequence.rs"]
mod sequence;
#[path = "mtp3/served.rs"]
mod served;
#[path = "mtp3/unexpected.rs"]
mod unexpected;
