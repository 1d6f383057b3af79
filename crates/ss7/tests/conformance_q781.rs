//! Q.781: MTP level 2 test specification, as far as it asks what only a line of bits has. Each test bears the number of
//! its purpose; the table beside the crate has the purposes in words.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "conformance_q781/basic.rs"]
mod basic;
#[path = "conformance_q781/bench.rs"]
mod bench;
#[path = "conformance_q781/cyclic.rs"]
mod cyclic;
#[path = "conformance_q781/delimitation.rs"]
mod delimitation;
#[path = "conformance_q781/error_rate.rs"]
mod error_rate;
