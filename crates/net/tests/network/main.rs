//! Networks of small test hosts, held against what their links must do to the nanosecond and to the packet.

mod bursts;
mod captures;
mod changes;
mod conditioners;
mod contacts;
mod determinism;
mod fairness;
mod fixture;
mod fragments;
mod header_compression;
mod impairments;
mod journeys;
mod links;
mod marks;
mod messages;
mod outside;
mod pie;
mod probes;
mod queueing;
mod reference;
mod repetition;
mod routing;
mod shaping;
mod sources;
mod swarm;
mod ways;
