//! Other programs' files, as text: what is written where is the caller's business.

pub mod czml;
pub mod ground_track;
pub mod hypatia;
