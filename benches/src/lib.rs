//! Benchmarks against peers, as ratios in one run.
//!
//! Absolute speed is a fact about a machine; the ratio of two programs that did the same work in the same
//! minute is a fact about the programs. Every case is therefore run by us and by its peers in turn, several
//! rounds, and the medians are compared. Time is the CPU's, not the wall's, so that other work on the machine
//! disturbs little.

pub mod count;
pub mod cpu_time;
pub mod dumbbell;
pub mod failover;
pub mod one_host;
pub mod pair;
pub mod rounds;
pub mod sessions;
pub mod signalling;
pub mod sky;
pub mod sky_runs;
pub mod table;
