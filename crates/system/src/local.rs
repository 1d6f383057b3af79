//! Sockets of this machine, at a path that only its owner may use.

use std::io;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::Mode;
use rustix::process::umask;

/// Listens at a path that does not exist. Nobody but the caller may connect, from the first moment on.
///
/// # Errors
/// If the path exists, or cannot be made.
pub fn listen(path: &Path) -> io::Result<UnixListener> {
    for_the_owner_alone(|| UnixListener::bind(path))
}

/// Makes a file, such as that of a socket, which nobody but its owner may use.
pub(crate) fn for_the_owner_alone<T>(make: impl FnOnce() -> T) -> T {
    // Permissions that are set afterwards would leave a time in which anybody may connect.
    let before = umask(Mode::RWXG | Mode::RWXO | Mode::XUSR);
    let made = make();
    umask(before);
    made
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_the_owner_may_connect() {
        let path = std::env::temp_dir().join(format!("slantpath-listen-{}", std::process::id()));
        let listener = listen(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(listen(&path).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        drop(listener);
        std::fs::remove_file(&path).unwrap();
    }
}
