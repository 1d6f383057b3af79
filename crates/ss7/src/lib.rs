//! Signalling System No. 7: MTP3 and SCCP as far as traffic needs them, MTP2 as a link model, and behind features of
//! their names ISUP and TCAP, which no scenario uses yet.
//!
//! Nothing here knows IP. Codecs are total: any bytes give a value or a typed error.

#[cfg(feature = "isup")]
pub mod isup;
pub mod link;
pub mod load;
pub mod mtp2;
pub mod mtp3;
mod point_code;
pub mod sccp;
#[cfg(feature = "tcap")]
pub mod tcap;
pub mod transfer;

pub use point_code::{PointCode, PointCodeError, PointCodeFormat};
