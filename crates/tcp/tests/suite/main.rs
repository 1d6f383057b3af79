//! Two endpoints over wires held in memory.

#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test may panic, and its numbers are small"
)]

mod acceptance;
mod bottleneck;
mod closing;
mod duplicates;
mod ecn;
mod gaps;
mod hostile;
mod limit;
mod linux;
mod linux_ecn;
mod opening;
mod pair;
mod recovery;
mod swarm;
mod throughput;
mod too_big;
mod turns;
mod two_way;
mod window;
