//! Names of interfaces, checked before the kernel sees them.

use std::io;
use std::os::fd::AsFd;

/// IFNAMSIZ without the byte that ends the name.
const LONGEST: usize = 15;

/// Number of an interface in the network namespace of a socket.
pub(crate) fn index_of(socket: impl AsFd, name: &str) -> io::Result<u32> {
    check(name)?;
    rustix::net::netdevice::name_to_index(socket, name).map_err(|errno| {
        let error = io::Error::from(errno);
        io::Error::new(error.kind(), format!("interface `{name}`: {error}"))
    })
}

/// Refuses a name that no interface can have.
pub(crate) fn check(name: &str) -> io::Result<()> {
    let fault = if name.len() > LONGEST {
        format!("has {} bytes: {LONGEST} at most", name.len())
    } else if name.is_empty() || name == "." || name == ".." {
        "is none: it begins with a letter, as `eth0`".to_owned()
    } else if let Some(bad) =
        name.chars().find(|&c| c == '/' || c == ':' || c == '%' || c.is_whitespace() || c.is_control())
    {
        format!("has {bad:?}: letters, digits, `-`, `_` and `.` are right")
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("the name `{name}` of an interface {fault}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_interface_can_have_is_refused_with_what_would_be_right() {
        for name in ["lo", "eth0", "s1-r.2_x", "fifteen-bytes-x"] {
            assert!(check(name).is_ok(), "{name}");
        }
        for (name, told) in [
            ("sixteen-bytes-xx", "the name `sixteen-bytes-xx` of an interface has 16 bytes: 15 at most"),
            ("", "the name `` of an interface is none: it begins with a letter, as `eth0`"),
            ("..", "the name `..` of an interface is none: it begins with a letter, as `eth0`"),
            ("a/b", "the name `a/b` of an interface has '/': letters, digits, `-`, `_` and `.` are right"),
            ("a%d", "the name `a%d` of an interface has '%': letters, digits, `-`, `_` and `.` are right"),
            ("a\0", "the name `a\0` of an interface has '\\0': letters, digits, `-`, `_` and `.` are right"),
        ] {
            let error = check(name).unwrap_err();
            assert_eq!((error.to_string(), error.kind()), (told.to_owned(), io::ErrorKind::InvalidInput));
        }
    }
}
