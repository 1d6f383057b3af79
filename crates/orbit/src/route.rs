//! Routes of least delay over a contact plan: one tree towards each destination, kept up from change to
//! change.
//!
//! A route is worked out when a contact changes and never otherwise: between changes delays drift, and
//! packets keep their path. At a change, every link's delay is read anew or only those of the links that
//! changed ([`Refresh`]); then each tree is repaired where it no longer is shortest (`tree`), or built
//! afresh where most of it hung on what was lost.

mod buckets;
mod disjoint;
mod graph;
mod router;
mod search;
mod sweep;
mod tree;

pub use graph::{Metric, Overlap};
pub use router::{Hop, Path, Refresh, RouteConfig, Router};
