//! Two and three signalling points under load, over lines and over associations, with links that fail.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod association;
mod fixture;
mod flow;
mod lines;
mod m3ua;
mod stretches;
mod titles;
