//! Gain of an attacker for its effort: packets, bytes, memory (RFC 5062; RFC 9260, section 12). The table of all
//! attacks, with these figures, is docs/security.md.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod bombs;
mod floods;
#[path = "../conformance/tester.rs"]
#[allow(dead_code, reason = "the test purposes use all of it")]
mod tester;
mod third_parties;
