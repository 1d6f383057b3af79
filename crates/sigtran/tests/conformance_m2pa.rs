//! Published test purposes for M2PA: ETSI TS 101 591, and ITU-T Q.781 as OpenSS7 maps it to M2PA. The tables are
//! `conformance/ts101591.toml` and `conformance/q781.toml`.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "conformance_m2pa/bench.rs"]
mod bench;
#[path = "conformance_m2pa/etsi_alignment.rs"]
mod etsi_alignment;
#[path = "conformance_m2pa/etsi_messages.rs"]
mod etsi_messages;
#[path = "conformance_m2pa/etsi_transport.rs"]
mod etsi_transport;
#[path = "conformance_m2pa/q781_alignment.rs"]
mod q781_alignment;
#[path = "conformance_m2pa/q781_congestion.rs"]
mod q781_congestion;
#[path = "conformance_m2pa/q781_emergency.rs"]
mod q781_emergency;
#[path = "conformance_m2pa/q781_failure.rs"]
mod q781_failure;
#[path = "conformance_m2pa/q781_outage.rs"]
mod q781_outage;
#[path = "conformance_m2pa/q781_stop.rs"]
mod q781_stop;
#[path = "conformance_m2pa/q781_transmission.rs"]
mod q781_transmission;
#[path = "conformance_m2pa/q781_unexpected.rs"]
mod q781_unexpected;
