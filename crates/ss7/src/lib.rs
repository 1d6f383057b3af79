//! Signalling System No. 7: MTP3 and SCCP as far as traffic needs them, and MTP2 as a link model.
//!
//! Nothing here knows IP. Codecs are total: any bytes give a value or a typed error.
//!
//! # Map
//!
//! - `link`: the service of a link to MTP3, which MTP2 and M2PA give. `transfer`: the service of MTP3 to its users.
//!   Layers meet in these words only.
//! - `mtp2`: a link at 64 kbit/s. `link` is one terminal with its state: `link/requests` (what level 3 asks),
//!   `link/reception`, `link/transmission`, and `link/steps` (the rows of `link_state` and `alignment`). `sender` and
//!   `receiver` number, repeat and acknowledge by either method. `monitor` counts errors. `bearer` carries units and
//!   damages them by seed. An idle line costs no events, and a unit that repeats is told once.
//! - `mtp3`: codecs, and `node`, one signalling point. `table` leads from point code and SLS to a link. `diversion`
//!   holds back what moves until nothing older can be overtaken. `reserve` holds links back until others fail. Each
//!   procedure of Q.704 has its file and its table around them.
//! - `sccp`: `codec`, `address` and `management` are octets. `gtt` is translation, which knows no state of the
//!   network. `reassembly`, `congestion`, `connection` and `status` each keep one thing. `node` composes them:
//!   routing control, the two services, management. What a node holds is bounded by its configuration, and what it
//!   drops is counted.
//! - `load`: `generator` draws messages (`arrivals`, `length`) for links at so many Erlang, and stamps each
//!   (`stamp`). `account` reads the stamps of arrivals; `limits` puts its report beside Q.706. It knows no carrier.
//!   Every message sent is outstanding, delivered or lost; every arrival in sequence, out of it, repeated or unknown.

pub mod link;
pub mod load;
pub mod mtp2;
pub mod mtp3;
mod point_code;
pub mod sccp;
pub mod transfer;

pub use point_code::{PointCode, PointCodeError, PointCodeFormat};
