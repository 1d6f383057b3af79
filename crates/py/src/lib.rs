//! The Python extension module slantpath._native.
