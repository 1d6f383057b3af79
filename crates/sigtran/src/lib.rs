//! SIGTRAN adaptation layers, each a codec and a state machine: M2PA and M3UA.
//!
//! They speak association, stream, payload protocol identifier and bytes to whatever carries ordered messages below
//! them; that it is SCTP is for the layer above to know.
//!
//! # Map
//!
//! - `asp`: what M3UA and the layers of `slantpath-sigtran-adaptations` share: three state tables, `Gateway` for the
//!   side that serves, `Process` for the side of the ASP. Both are generic over what a layer's messages concern
//!   (`Adaptation`).
//! - `m3ua`: adds DATA, destinations and routing keys. `Sgp` (`sgp/`: distribution, network, registration), `Asp`
//!   (`asp/`: traffic, network, registration), `Ipsp`, which is one of each.
//! - `m2pa`: a codec of its own and one link object: three tables (`state`, `alignment`, `outage`), two buffers
//!   (`transmission`, `reception`), and `path`, which holds timers against a round trip.
//! - `common`: the format of messages; `Layout` writes one as it was read. `affected`: the point codes that a message
//!   affects. `queue`: limits of what waits for a peer.
//! - `transport`, which is `slantpath_wire`'s: the words that all of them speak to whatever carries them. None knows
//!   SCTP.

pub mod affected;
pub mod asp;
pub mod common;
pub mod m2pa;
pub mod m3ua;
pub mod queue;

pub use slantpath_wire::transport;
