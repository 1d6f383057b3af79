//! Signalling: codecs against other crates on the same octets.

pub mod m2pa;
