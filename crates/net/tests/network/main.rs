//! Networks of small test hosts, held against what their links must do to the nanosecond and to the packet.

mod fixture;
mod links;
