//! Exported functions, by what they are about.
//!
//! Each looks first whether its descriptor is an SCTP socket, and hands on what is none. The results of the others are
//! those of the next function, and so is its `errno`.

mod descriptors;
mod ends;
mod exec;
mod names;
mod options;
mod receiving;
mod sending;
mod setup;
