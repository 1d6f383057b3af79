//! The state machines of the procedures, as Q.704 and Q.707 have them, and what a node keeps of each.

pub(super) mod changeover;
pub(super) mod congestion;
pub(super) mod diversion;
pub(super) mod inhibiting;
pub(super) mod link;
pub(super) mod link_test;
pub(super) mod restart;
pub(super) mod routes;
