//! Published test purposes for SUA: ETSI TS 101 592. The table is `conformance/ts101592.toml`.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "conformance_sua/asp_aspsm.rs"]
mod asp_aspsm;
#[path = "conformance_sua/asp_asptm.rs"]
mod asp_asptm;
#[path = "conformance_sua/asp_mtr.rs"]
mod asp_mtr;
#[path = "conformance_sua/bench.rs"]
mod bench;
#[path = "conformance_sua/sgp_aspsm.rs"]
mod sgp_aspsm;
#[path = "conformance_sua/sgp_asptm.rs"]
mod sgp_asptm;
#[path = "conformance_sua/sgp_mtr.rs"]
mod sgp_mtr;
