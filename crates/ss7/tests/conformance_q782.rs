//! Purposes for MTP level 3, written here in groups like those of Q.782. Each test bears the number of its purpose; the
//! table beside the crate has the purposes in words, and what is known of the Recommendation's own.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "conformance_q782/changeback.rs"]
mod changeback;
#[path = "conformance_q782/changeover.rs"]
mod changeover;
#[path = "conformance_q782/controlled_rerouting.rs"]
mod controlled_rerouting;
#[path = "conformance_q782/flow_control.rs"]
mod flow_control;
#[path = "conformance_q782/forced_rerouting.rs"]
mod forced_rerouting;
#[path = "conformance_q782/inhibiting.rs"]
mod inhibiting;
#[path = "conformance_q782/invalid_messages.rs"]
mod invalid_messages;
#[path = "conformance_q782/link_management.rs"]
mod link_management;
#[path = "conformance_q782/link_test.rs"]
mod link_test;
#[path = "conformance_q782/message_handling.rs"]
mod message_handling;
#[path = "conformance_q782/restart.rs"]
mod restart;
#[path = "conformance_q782/route_management.rs"]
mod route_management;
#[path = "conformance_q782/tester.rs"]
mod tester;
#[path = "conformance_q782/traffic.rs"]
mod traffic;
