//! Endpoints against each other, and against what strangers send.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod addresses;
mod authentication;
mod camping;
mod collisions;
mod counts;
mod delivery;
mod early;
mod ecn;
mod first_path;
mod handshake;
mod host_addresses;
mod icmp;
mod mib;
mod multihoming;
mod net;
mod out_of_the_blue;
mod polling;
mod ports;
mod restarts;
mod routes;
mod security;
mod zero_checksum;
