//! Relays as they are asked for: `[ADDRESS:]PORT:[NODE:]NODE:[ADDRESS:]PORT[/udp]`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::relays::{RELAY_CONNECTIONS_MAX, RELAY_SENDERS_MAX};

/// Protocol that a relay carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RelayProtocol {
    /// Connections, each as one of ours between two of programs.
    Tcp,
    /// Datagrams, each as one of ours.
    Udp,
}

impl fmt::Display for RelayProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        })
    }
}

/// A relay: a port of this machine that leads through the network to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayConfig {
    /// Protocol that it carries.
    pub protocol: RelayProtocol,
    /// Address and port at which programs find it; any free port if that is zero.
    pub listen: SocketAddr,
    /// Node at which they enter the network.
    pub from: String,
    /// Node to which it leads.
    pub to: String,
    /// Address and port of the server on this machine, or that this machine reaches. The port is that in the network as
    /// well.
    pub server: SocketAddr,
    /// True if the server's address was not given: it is this machine then, or the node itself where that is simulated.
    pub is_server_implied: bool,
}

/// Why a relay is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RelayError {
    /// No node at which programs enter the network.
    #[error("say at which node programs enter the network, in front of `{to}`: like `5000:NODE:{to}:6000`")]
    NoEntry {
        /// Node to which it leads.
        to: String,
    },
    /// No such node is attached.
    #[error("there is no attached node `{node}`")]
    NoNode {
        /// Name of the node.
        node: String,
    },
    /// No port of a server.
    #[error("a server has a port from 1 to 65535")]
    NoPort,
    /// An address that is given for a server of a host that is simulated.
    #[error(
        "`{node}` is simulated and its services are its own: an address behind it leads nowhere, give the port alone"
    )]
    NoServerThere {
        /// Name of the node.
        node: String,
    },
    /// Words that are no relay.
    #[error(
        "write a port of this machine, the node that it leads to and the server's port, like `5000:far:6000`, or all \
         of it, like `127.0.0.1:5000:near:far:127.0.0.1:6000/udp`; an address of IPv6 stands in brackets"
    )]
    Shape,
    /// Two servers that would have one port of a node.
    #[error("port {port} of `{node}` cannot be that of two servers, {} and {}", servers[0], servers[1])]
    TwoServers {
        /// Name of the node.
        node: String,
        /// Port that both have.
        port: u16,
        /// Addresses of both servers.
        servers: [SocketAddr; 2],
    },
    /// A node that the other one has no way to.
    #[error("no way leads from `{from}` to `{to}`: they have no addresses of one version of IP, or no links")]
    Unreached {
        /// Node at which programs enter.
        from: String,
        /// Node that is not reached.
        to: String,
    },
}

impl RelayConfig {
    /// Reads a relay. Programs enter the network at `from`, if that is known, unless another node is named.
    ///
    /// # Errors
    /// If it is written otherwise.
    pub fn parse(text: &str, from: Option<&str>) -> Result<Self, RelayError> {
        let (text, protocol) = match text.rsplit_once('/') {
            Some((text, "udp")) => (text, RelayProtocol::Udp),
            Some((text, "tcp")) => (text, RelayProtocol::Tcp),
            Some(_) => return Err(RelayError::Shape),
            None => (text, RelayProtocol::Tcp),
        };
        let mut words = Words(Some(text));
        let (listen, port) = words.end().ok_or(RelayError::Shape)?;
        let listen = SocketAddr::new(listen.unwrap_or(LOOPBACK), port);
        let first = words.next().filter(|name| is_name(name)).ok_or(RelayError::Shape)?;
        let mut rest = words;
        let second = rest.next().filter(|name| is_name(name));
        let (from, to) = match second {
            Some(to) => {
                words = rest;
                (first, to)
            }
            None => (from.ok_or_else(|| RelayError::NoEntry { to: first.to_owned() })?, first),
        };
        let (address, port) = words.end().filter(|_| words.0.is_none()).ok_or(RelayError::Shape)?;
        if port == 0 {
            return Err(RelayError::NoPort);
        }
        Ok(Self {
            protocol,
            listen,
            from: from.to_owned(),
            to: to.to_owned(),
            server: SocketAddr::new(address.unwrap_or(LOOPBACK), port),
            is_server_implied: address.is_none(),
        })
    }

    /// Sockets that the relay has at once, at most: its port, and two for a connection or one for a sender.
    pub const fn sockets_max(&self) -> usize {
        1 + match self.protocol {
            RelayProtocol::Tcp => 2 * RELAY_CONNECTIONS_MAX,
            RelayProtocol::Udp => RELAY_SENDERS_MAX,
        }
    }
}

impl fmt::Display for RelayConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { protocol, listen, from, to, server, .. } = self;
        write!(f, "{listen}:{from}:{to}:{server}/{protocol}")
    }
}

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Words between colons, but for those in brackets.
#[derive(Clone, Copy, Debug)]
struct Words<'a>(Option<&'a str>);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let text = self.0?;
        let closed = if text.starts_with('[') { text.find(']')? } else { 0 };
        let (word, rest) = match text[closed..].find(':') {
            Some(colon) => (&text[..closed + colon], Some(&text[closed + colon + 1..])),
            None => (text, None),
        };
        self.0 = rest;
        Some(word)
    }

    /// A port, or an address with a port.
    fn end(&mut self) -> Option<(Option<IpAddr>, u16)> {
        let word = self.next()?;
        if let Some(port) = port(word) {
            return Some((None, port));
        }
        let address = match word.strip_prefix('[').and_then(|word| word.strip_suffix(']')) {
            Some(inner) => IpAddr::V6(inner.parse().ok()?),
            None => IpAddr::V4(word.parse().ok()?),
        };
        Some((Some(address), port(self.next()?)?))
    }
}

fn port(word: &str) -> Option<u16> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

/// Tells if a word may be a node's name: it is neither a port nor an address.
fn is_name(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('[') && port(word).is_none() && word.parse::<Ipv4Addr>().is_err()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn relay(listen: &str, nodes: [&str; 2], server: &str, protocol: RelayProtocol) -> RelayConfig {
        RelayConfig {
            protocol,
            listen: listen.parse().unwrap(),
            from: nodes[0].to_owned(),
            to: nodes[1].to_owned(),
            server: server.parse().unwrap(),
            is_server_implied: false,
        }
    }

    #[test]
    fn a_relay_is_read_with_what_is_left_out() {
        use RelayProtocol::{Tcp, Udp};
        let implied = |relay: RelayConfig| RelayConfig { is_server_implied: true, ..relay };
        for (text, expected) in [
            ("5000:far:6000", implied(relay("127.0.0.1:5000", ["near", "far"], "127.0.0.1:6000", Tcp))),
            ("0:far:6000/udp", implied(relay("127.0.0.1:0", ["near", "far"], "127.0.0.1:6000", Udp))),
            ("5:a:b:10.0.0.9:6/tcp", relay("127.0.0.1:5", ["a", "b"], "10.0.0.9:6", Tcp)),
            ("[::1]:5:far:[fd00::2]:6", relay("[::1]:5", ["near", "far"], "[fd00::2]:6", Tcp)),
            ("0.0.0.0:5:a:b:6/udp", implied(relay("0.0.0.0:5", ["a", "b"], "127.0.0.1:6", Udp))),
        ] {
            assert_eq!(RelayConfig::parse(text, Some("near")), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_relay_is_refused() {
        for text in [
            "",
            ":",
            "5000",
            "5000:far",
            "far:6000",
            "5000:6000",
            "5000:far:6000/sctp",
            "5000:far:localhost:6000:7",
            "5000:a:b:c:6000",
            "70000:far:6",
            "5000:far:70000",
            "::1:5000:far:6000",
            "[::1:5000:far:6000",
            "5000:far:6000:",
            "5000::6000",
            "+5:far:6",
        ] {
            assert_eq!(RelayConfig::parse(text, Some("near")), Err(RelayError::Shape), "{text}");
        }
        let entry = RelayError::NoEntry { to: "far".to_owned() };
        assert_eq!(RelayConfig::parse("5:far:6", None), Err(entry));
        assert_eq!(RelayConfig::parse("5:far:0", Some("near")), Err(RelayError::NoPort));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            listen: SocketAddr, server: SocketAddr, is_udp: bool, from in "[a-z][a-z0-9_-]{0,9}",
            to in "[a-z][a-z0-9_-]{0,9}",
        ) {
            prop_assume!(server.port() > 0);
            // A flow label or a zone is not written.
            let [listen, server] = [listen, server].map(|at| SocketAddr::new(at.ip(), at.port()));
            let protocol = if is_udp { RelayProtocol::Udp } else { RelayProtocol::Tcp };
            let relay = RelayConfig { protocol, listen, from, to, server, is_server_implied: false };
            prop_assert_eq!(RelayConfig::parse(&relay.to_string(), Some("near")), Ok(relay));
        }

        #[test]
        fn any_words_give_a_relay_or_a_reason(text in "[0-9a-z:./\\[\\]]{0,40}") {
            let _ = RelayConfig::parse(&text, Some("near"));
        }
    }
}
