//! Chance from the operating system.

use std::io;

/// A secret that nobody can foretell, for [`Stream::secret`](slantpath_base::Stream::secret).
pub fn secret() -> io::Result<[u8; 32]> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(io::Error::from)?;
    Ok(key)
}
