//! Published test purposes for M2UA: ETSI TS 102 380. The table is `conformance/ts102380.toml`.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "conformance_m2ua/aspm.rs"]
mod aspm;
#[path = "conformance_m2ua/bench.rs"]
mod bench;
#[path = "conformance_m2ua/geh.rs"]
mod geh;
#[path = "conformance_m2ua/iim.rs"]
mod iim;
#[path = "conformance_m2ua/maup.rs"]
mod maup;
