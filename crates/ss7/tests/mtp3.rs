//! MTP3 nodes joined by links that fail: what is accepted arrives once and in order.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "mtp3/configuration.rs"]
mod configuration;
#[path = "mtp3/machines.rs"]
mod machines;
#[path = "mtp3/network.rs"]
mod network;
#[path = "mtp3/sequence.rs"]
mod sequence;
