//! Test purposes for SCTP, each driven by hand-made packets: those published as ETSI TS 102 369
//! (`conformance/ts-102-369.toml`), and those for several paths that it does not have (`conformance/multihoming.toml`).
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "conformance/association_setup.rs"]
mod association_setup;
#[path = "conformance/association_termination.rs"]
mod association_termination;
#[path = "conformance/bundling.rs"]
mod bundling;
#[path = "conformance/data_transfer.rs"]
mod data_transfer;
#[path = "conformance/duplicates.rs"]
mod duplicates;
#[path = "conformance/errors.rs"]
mod errors;
#[path = "conformance/faults.rs"]
mod faults;
#[path = "conformance/invalid_messages.rs"]
mod invalid_messages;
#[path = "conformance/multihomed_failover.rs"]
mod multihomed_failover;
#[path = "conformance/multihomed_paths.rs"]
mod multihomed_paths;
#[path = "conformance/tester.rs"]
mod tester;
