//! The request by which a program has a pair made for it, at the daemon's own socket.

use crate::fields::{Fields, Malformed};

/// Style of a socket (RFC 6458, sections 3 and 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `SOCK_STREAM`: one association, or a listener.
    OneToOne,
    /// `SOCK_SEQPACKET`: any number of associations.
    OneToMany,
}

/// Family of a socket's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// `AF_INET`.
    V4,
    /// `AF_INET6`, which has IPv4 as mapped addresses unless `IPV6_V6ONLY` is set.
    V6,
}

/// Wish for a socket. The [`Reply`](crate::Reply) brings its descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRequest {
    /// Style of the socket.
    pub style: Style,
    /// Family of its addresses.
    pub family: Family,
}

impl OpenRequest {
    /// Version of all that this crate says: doors of another one are refused.
    const VERSION: u8 = 2;

    /// Bytes of the request.
    pub fn encode(self) -> Vec<u8> {
        vec![Self::VERSION, u8::from(self.style == Style::OneToMany), u8::from(self.family == Family::V6)]
    }

    /// Reads one.
    ///
    /// # Errors
    /// If it is none, or of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        const WHAT: &str = "a wish for a socket";
        let mut fields = Fields(bytes);
        if fields.u8(WHAT)? != Self::VERSION {
            return Err(Malformed("the version of a wish for a socket"));
        }
        let style = match fields.u8(WHAT)? {
            0 => Style::OneToOne,
            1 => Style::OneToMany,
            _ => return Err(Malformed(WHAT)),
        };
        let family = match fields.u8(WHAT)? {
            0 => Family::V4,
            1 => Family::V6,
            _ => return Err(Malformed(WHAT)),
        };
        fields.end(WHAT)?;
        Ok(Self { style, family })
    }
}
