//! Signalling: codecs against other crates on the same octets, and translations.

pub mod gtt;
pub mod m2pa;
pub mod sccp;
