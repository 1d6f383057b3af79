//! The test purposes of ETSI TS 102 381 for M3UA, each under its published identifier: a tester sends and expects real
//! octets. `crates/sigtran/conformance/ts-102-381.toml` lists them.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "conformance_m3ua/asp_aspsm.rs"]
mod asp_aspsm;
#[path = "conformance_m3ua/asp_asptm.rs"]
mod asp_asptm;
#[path = "conformance_m3ua/asp_mtr.rs"]
mod asp_mtr;
#[path = "conformance_m3ua/asp_rkm.rs"]
mod asp_rkm;
#[path = "conformance_m3ua/asp_ssnm.rs"]
mod asp_ssnm;
#[path = "conformance_m3ua/sgp_aspsm.rs"]
mod sgp_aspsm;
#[path = "conformance_m3ua/sgp_asptm.rs"]
mod sgp_asptm;
#[path = "conformance_m3ua/sgp_mtr.rs"]
mod sgp_mtr;
#[path = "conformance_m3ua/sgp_rkm.rs"]
mod sgp_rkm;
#[path = "conformance_m3ua/sgp_ssnm.rs"]
mod sgp_ssnm;
#[path = "conformance_m3ua/tester.rs"]
mod tester;
