//! Signalling System No. 7: MTP3, SCCP, ISUP and TCAP as far as traffic needs them, and MTP2 as a link model.
//!
//! Nothing here knows IP. Codecs are total: any bytes give a value or a typed error.

pub mod isup;
pub mod link;
pub mod load;
pub mod mtp2;
pub mod mtp3;
mod point_code;
pub mod sccp;
pub mod tcap;
pub mod transfer;

pub use point_code::{PointCode, PointCodeError, PointCodeFormat};
