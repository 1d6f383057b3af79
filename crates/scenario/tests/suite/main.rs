//! The tests of scenarios from the outside, in one program, which is linked once and whose tests share the cores.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod abandonment;
mod admission;
mod alone;
mod bounds;
mod capacity_on_demand;
mod cells;
mod conditioners;
mod diagnostics;
mod digests;
mod fades;
mod flows;
mod gap_reports;
mod gateways;
mod handover;
mod host_pairs;
mod management;
mod marks;
mod merged;
mod message_options;
mod mixed_services;
mod multipath;
mod path_limits;
mod project;
mod queues;
mod reconfiguration;
mod reference;
mod refusals;
mod reordering;
mod requests;
mod sessions;
mod shaping;
mod signalling;
mod sky_links;
mod used;
mod zero_checksum;
