//! Signalling entities, each driven by itself, and put together by a driver of a few lines.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod gateway;
mod point;
mod random;
mod reports;
mod screening;
mod world;
