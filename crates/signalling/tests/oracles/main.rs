//! Comparison with other implementations: how they read our messages, and how we read theirs.
//!
//! Every message of every signalling layer is written once by our encoders. The list is kept in `messages.tsv`, which
//! the Python tests read with pycrate; tshark reads the same messages from a capture, and ours is held to what it
//! prints of the captures of others.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod adaptation;
mod capture;
mod foreign_captures;
mod golden;
mod sample;
mod tshark;
mod units;
mod user_parts;
mod vectors;
