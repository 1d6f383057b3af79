//! The command `slantpath`.

fn main() {}
