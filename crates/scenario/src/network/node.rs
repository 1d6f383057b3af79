//! Keys of `[nodes.<name>]`.

use core::fmt;
use core::str::FromStr;
use std::net::IpAddr;

use slantpath_applications::Service;
use slantpath_base::DataSize;
use slantpath_reader::{
    Fault, Json, KeyValue, Setting, Tables, ValueData, ValueNode, choice, json, policy, section,
};
use slantpath_sat::Balance;
use slantpath_wire::ip::{self, IpFields};

use crate::bounds::KERNEL_BUFFER;
use crate::network::existing::{ExistingNamespace, Ports};

section! {
    /// A host or a router.
    pub struct Node {
        /// Hosts end flows, routers forward. Attached nodes are real machines and programs under `slantpath emulate`.
        kind: Setting<NodeKind>;
        /// The DSCP of packets that a host sends, by which links tell classes and drop precedences apart, but for flows
        /// that name one of their own. Best effort if absent.
        dscp: Option<Setting<NamedDscp>>;
        /// Under `slantpath emulate`, the network namespace that this attached node is: a path such as
        /// `"/run/netns/phone"`, or the id of a process, as of a container. A new one if absent.
        namespace: Option<Setting<ExistingNamespace>>;
        /// Under `slantpath emulate`, the Ethernet port of this machine behind which this attached node is, such as
        /// `"eth1"`; of one with several links a table of the port of each.
        device: Option<Setting<Ports>>;
        /// Services that a host offers to whoever comes, over TCP, UDP and SCTP at their well-known ports: one, or a
        /// list. TCP and SCTP are as the profiles `default` say. None if absent.
        serve: Option<Setting<NodeServices>>;
        /// Most that the kernel's TCP of an attached node keeps of what has come on a connection. As the machine has it
        /// if absent.
        tcp_rmem: Option<Setting<DataSize>>, at most KERNEL_BUFFER;
        /// Most that the kernel's TCP of an attached node keeps of what it sends on a connection. As the machine has it
        /// if absent.
        tcp_wmem: Option<Setting<DataSize>>, at most KERNEL_BUFFER;
        /// The site of the sky's topology at which it stands: its antennas are the node's.
        site: Option<Setting<String>>;
        /// Names of the links of its antennas, in the order of the topology. `sky.<site>`, or `sky.<site>.1` and so on,
        /// if absent.
        antennas: Option<Setting<Vec<String>>>;
        /// Addresses of its antennas; assigned if absent.
        addresses: Option<Setting<Vec<IpAddr>>>;
        /// Balance by which it spreads what it sends over its antennas to the same satellites, and by which what is
        /// sent to it is spread over them. If absent, a host sends by the antenna of an address, and a router by the
        /// one from which the way is shortest.
        balance: Option<Setting<BalanceName>>;
    }
}

policy! {
    /// Rule by which packets are spread over antennas.
    pub struct BalanceName of Balance {
        /// By the antenna at which a packet would wait least, of equals the next in turn. What comes down takes turns.
        ByBacklog = "by-backlog",
        /// Each flow has one antenna, by a hash of nodes, links and ports, as long as that has a way.
        PerFlow = "per-flow",
        /// Antennas take turns, packet by packet: packets overtake each other where delays differ.
        PerPacket = "per-packet",
    }
}

choice! {
    /// Role of a node.
    pub enum NodeKind {
        /// A real machine or program under `slantpath emulate`, and a host in a run.
        Attached = "attached",
        /// Ends flows and forwards nothing.
        Host = "host",
        /// Forwards packets along shortest paths.
        Router = "router",
    }
}

policy! {
    /// A service at a well-known port.
    pub struct ServiceName of Service {
        /// Lines of characters as long as anybody takes them, at port 19 (RFC 864).
        Chargen = "chargen",
        /// Port 9, at which everything is thrown away (RFC 863).
        Discard = "discard",
        /// Port 7, from which everything is sent back (RFC 862).
        Echo = "echo",
    }
}

/// Services of a host, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeServices(Vec<ServiceName>);

impl NodeServices {
    /// The services, in the order in which they are written.
    pub fn services(&self) -> impl Iterator<Item = Service> {
        self.0.iter().map(|name| name.policy())
    }
}

impl KeyValue for NodeServices {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        let ValueData::Array(items) = &node.data else { return Ok(Self(vec![ServiceName::read(node)?])) };
        let mut names = Vec::new();
        for item in items {
            let name = ServiceName::read(item)?;
            if names.contains(&name) {
                return Err(Fault::new(format!("`{name}` stands here twice")).help("name each service once"));
            }
            names.push(name);
        }
        Ok(Self(names))
    }

    fn write(&self) -> String {
        match &self.0[..] {
            [name] => name.write(),
            names => names.to_vec().write(),
        }
    }

    fn schema() -> Json {
        let list = json!({ "type": "array", "items": ServiceName::schema(), "uniqueItems": true });
        json!({ "anyOf": [ServiceName::schema(), list], "examples": ["echo", ["echo", "chargen"]] })
    }
}

impl NodeKind {
    /// Tells whether flows end there: nothing is forwarded.
    pub const fn ends_flows(self) -> bool {
        match self {
            Self::Attached | Self::Host => true,
            Self::Router => false,
        }
    }
}

/// A codepoint of differentiated services: `"CS0"` to `"CS7"` (RFC 2474), `"AF11"` to `"AF43"` (RFC 2597) or `"EF"`
/// (RFC 3246).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedDscp(u8);

impl NamedDscp {
    //= https://www.rfc-editor.org/rfc/rfc3246#section-2.7
    //# Codepoint 101110 is RECOMMENDED for the EF PHB.
    const EXPEDITED: Self = Self(0b10_1110);

    /// As IP has it.
    pub fn wire(self) -> ip::Dscp {
        ip::Dscp::new(self.0).expect("every name is one of six bits")
    }
}

/// Number of a host among all hosts and attached nodes, in the order of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostNumber(pub usize);

/// The host of that name.
pub(crate) fn host_number(nodes: &Tables<Node>, name: &str) -> Option<HostNumber> {
    let mut hosts = nodes.iter().filter(|(_, node)| node.kind.ends_flows());
    hosts.position(|(host, _)| host == name).map(HostNumber)
}

/// Fields of the IP headers of an association or connection whose end is at this node, and which may have a DSCP of its
/// own.
pub fn ip_fields(nodes: &Tables<Node>, node: &str, own: Option<Setting<NamedDscp>>) -> IpFields {
    let dscp = own.or_else(|| nodes.find(node)?.dscp);
    IpFields { dscp: dscp.map_or(ip::Dscp::DEFAULT, |dscp| dscp.wire()), ..IpFields::default() }
}

impl fmt::Display for NamedDscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self, self.0 >> 3, self.0 & 7) {
            (Self::EXPEDITED, ..) => f.write_str("EF"),
            (_, class, 0) => write!(f, "CS{class}"),
            (_, class, low) => write!(f, "AF{class}{}", low >> 1),
        }
    }
}

impl FromStr for NamedDscp {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match *text.as_bytes() {
            [b'E', b'F'] => Ok(Self::EXPEDITED),
            [b'C', b'S', class @ b'0'..=b'7'] => Ok(Self((class - b'0') << 3)),
            [b'A', b'F', class @ b'1'..=b'4', precedence @ b'1'..=b'3'] => {
                Ok(Self((class - b'0') << 3 | (precedence - b'0') << 1))
            }
            _ => Err(()),
        }
    }
}

impl KeyValue for NamedDscp {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        let text = String::read(node)?;
        let help = "write \"EF\", one of \"CS0\" to \"CS7\", or one of \"AF11\" to \"AF43\"";
        text.parse().map_err(|()| Fault::new(format!("`{text}` is no DSCP")).help(help))
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }

    fn schema() -> Json {
        let pattern = "^(EF|CS[0-7]|AF[1-4][1-3])$";
        json!({ "type": "string", "pattern": pattern, "examples": ["EF", "AF11", "CS5"] })
    }
}

#[cfg(test)]
mod tests {
    use slantpath_reader::Document;

    use super::*;

    fn served(text: &str) -> Result<String, String> {
        let entries = Document::parse("x", &format!("serve = {text}")).entries().expect("a table").0;
        let (_, entry) = entries.iter().next().expect("a key");
        NodeServices::read(&entry.node).map(|served| served.write()).map_err(|fault| fault.message)
    }

    #[test]
    fn services_are_one_or_a_list() {
        for (text, written) in [
            ("\"echo\"", "\"echo\""),
            ("[\"echo\"]", "\"echo\""),
            ("[\"chargen\", \"discard\"]", "[\"chargen\", \"discard\"]"),
            ("[]", "[]"),
        ] {
            assert_eq!(served(text).as_deref(), Ok(written));
        }
        assert_eq!(served("[\"echo\", \"echo\"]").unwrap_err(), "`echo` stands here twice");
        assert_eq!(served("\"daytime\"").unwrap_err(), "`daytime` is none of the choices");
    }

    #[test]
    fn names_stand_for_the_codepoints_of_their_standards() {
        for (text, codepoint) in
            [("EF", 46), ("CS0", 0), ("CS6", 48), ("AF11", 10), ("AF23", 22), ("AF43", 38)]
        {
            let dscp: NamedDscp = text.parse().expect("a name");
            assert_eq!((dscp.wire().number(), dscp.to_string().as_str()), (codepoint, text));
        }
        for wrong in ["", "ef", "CS8", "AF14", "AF51", "46"] {
            assert_eq!(wrong.parse::<NamedDscp>(), Err(()), "{wrong}");
        }
    }
}
