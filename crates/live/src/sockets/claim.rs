//! Claims on SCTP ports at an address. The kernel knows no ports of raw sockets: programs of this project keep theirs
//! from each other by names of sockets that nothing is ever sent to.
//!
//! Any user may give a socket any name. A name counts if its owner may open raw sockets: root, the own user, or one who
//! has a raw socket of SCTP. One of another stands in nobody's way.
//!
//! The kernel tells whose a name is by listing sockets: it walks over all that there are, and hands over those of the
//! states that were asked for. A name aside of one that somebody else has is therefore one of a socket that listens,
//! which few are; and many claims are made together.

use std::io::{self, Read as _};
use std::net::IpAddr;
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixDatagram, UnixListener};

use nix::sys::socket::{MsgFlags, NetlinkAddr, sendto};
use socket2::{Domain, Protocol, Socket, Type};

use super::chance;
use super::routes::{HEADER, u16_at, u32_at};

/// A name that one program of a network namespace has.
#[derive(Debug)]
pub(crate) struct Claim {
    _holder: Holder,
}

/// Socket that has a name.
#[derive(Debug)]
#[expect(dead_code, reason = "it is held, and nothing is ever sent to it")]
enum Holder {
    Plain(UnixDatagram),
    Aside(UnixListener),
}

impl Claim {
    /// Claims an SCTP port at an address; `None` if another has it.
    pub(crate) fn port(address: IpAddr, port: u16) -> io::Result<Option<Self>> {
        Self::of(&port_name(address, port))
    }

    /// Claims SCTP ports at addresses together, in this order; `None` in the place of one that another has.
    pub(crate) fn ports(places: &[(IpAddr, u16)]) -> io::Result<Vec<Option<Self>>> {
        let names: Vec<String> = places.iter().map(|(address, port)| port_name(*address, *port)).collect();
        Self::all(&names, Owners::ask)
    }

    /// Claims to be the one that answers, for an address, what is of no port.
    pub(crate) fn out_of_the_blue(address: IpAddr) -> io::Result<Option<Self>> {
        Self::of(&format!("slantpath/sctp/{address}"))
    }

    fn of(name: &str) -> io::Result<Option<Self>> {
        Ok(Self::all(&[name.to_owned()], Owners::ask)?.pop().flatten())
    }

    /// Claims names. `ask` asks the kernel: once, and once more if a name is taken.
    fn all(names: &[String], mut ask: impl FnMut(u32) -> Option<Owners>) -> io::Result<Vec<Option<Self>>> {
        let plain = names.iter().map(|name| bind(name)).collect::<io::Result<Vec<_>>>()?;
        let has_taken = plain.iter().any(Option::is_none);
        let owners = if has_taken { ask(PLAIN | ASIDES) } else { None };
        let mut held = Vec::with_capacity(names.len());
        for (name, holder) in names.iter().zip(plain) {
            held.push(match holder {
                Some(holder) => Some((name.clone(), Holder::Plain(holder))),
                // Where the kernel does not tell whose a name is, each counts.
                None if owners.as_ref().is_none_or(|owners| owners.have(name, None)) => None,
                None => aside(name)?,
            });
        }
        // One that came while the name was another's has one aside.
        let owners = ask(ASIDES);
        let is_alone =
            |name: &str| owners.as_ref().is_none_or(|owners| !owners.have(plain_of(name), Some(name)));
        let claims = held
            .into_iter()
            .map(|held| held.filter(|(name, _)| is_alone(name)).map(|(_, holder)| Self { _holder: holder }));
        Ok(claims.collect())
    }
}

fn port_name(address: IpAddr, port: u16) -> String {
    format!("slantpath/sctp/{address}/{port}")
}

/// A name aside of one that is somebody else's, who cannot know it.
fn aside(name: &str) -> io::Result<Option<(String, Holder)>> {
    let apart = chance::secret()?.first_chunk().map_or(0, |octets| u128::from_ne_bytes(*octets));
    let name = format!("{name}{ASIDE}{apart:032x}");
    let bound = UnixListener::bind_addr(&UnixAddr::from_abstract_name(&name)?);
    match free(bound)? {
        Some(holder) => Ok(Some((name, Holder::Aside(holder)))),
        None => Ok(None),
    }
}

/// Between a name and what tells one apart whose plain name is somebody else's.
const ASIDE: char = '#';

/// A name without what tells it apart.
fn plain_of(name: &str) -> &str {
    name.split_once(ASIDE).map_or(name, |(plain, _)| plain)
}

/// A socket with this name; `None` if another has it.
fn bind(name: &str) -> io::Result<Option<UnixDatagram>> {
    free(UnixDatagram::bind_addr(&UnixAddr::from_abstract_name(name)?))
}

/// A socket that has been bound; `None` if its name is another's.
fn free<S>(bound: io::Result<S>) -> io::Result<Option<S>> {
    match bound {
        Ok(holder) => Ok(Some(holder)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
        Err(error) => Err(error),
    }
}

/// The names of this project that there are, and the users that may have them.
#[derive(Debug, Default)]
struct Owners {
    names: Vec<(String, u32)>,
    trusted: Vec<u32>,
}

impl Owners {
    /// Asks the kernel (sock_diag) for the sockets of these states; `None` if it does not say.
    fn ask(states: u32) -> Option<Self> {
        let names = names(states)?;
        let mut trusted = vec![0, rustix::process::geteuid().as_raw()];
        for table in ["/proc/net/raw", "/proc/net/raw6"] {
            trusted.extend(std::fs::read_to_string(table).iter().flat_map(|table| raw_users(table)));
        }
        Some(Self { names, trusted })
    }

    /// True if one who may has this name, or one aside of it, other than `own`.
    fn have(&self, name: &str, own: Option<&str>) -> bool {
        let is_it = |(one, user): &(String, u32)| {
            plain_of(one) == name && own != Some(one.as_str()) && self.trusted.contains(user)
        };
        self.names.iter().any(is_it)
    }
}

/// The users of raw sockets of SCTP, by the kernel's table: each line has a place, the local address and the protocol,
/// the other end, a state, two queues, a timer, retransmissions, and the user.
fn raw_users(table: &str) -> impl Iterator<Item = u32> {
    table.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let protocol = words.nth(1)?.rsplit_once(':')?.1;
        let is_sctp = u16::from_str_radix(protocol, 16) == Ok(SCTP);
        words.nth(5).filter(|_| is_sctp)?.parse().ok()
    })
}

/// The names of this project at sockets of these states, and whose they are.
fn names(states: u32) -> Option<Vec<(String, u32)>> {
    let socket =
        Socket::new(Domain::from(AF_NETLINK), Type::RAW.cloexec(), Some(Protocol::from(SOCK_DIAG))).ok()?;
    // The kernel answers at once; should it not, it does not say.
    socket.set_read_timeout(Some(core::time::Duration::from_secs(1))).ok()?;
    let request = request(states);
    sendto(socket.as_raw_fd(), &request, &NetlinkAddr::new(0, 0), MsgFlags::empty()).ok()?;
    let mut names = Vec::new();
    let mut octets = vec![0; 65_536];
    loop {
        let len = (&socket).read(&mut octets).ok()?;
        let mut rest = &octets[..len];
        while let (Some(len), Some(kind)) = (u32_at(rest, 0), u16_at(rest, 4)) {
            let message = rest.get(..usize::try_from(len).ok()?)?;
            match kind {
                DONE => return Some(names),
                SOCK_DIAG_BY_FAMILY => {
                    if let Some((name, user)) = name_of(message) {
                        names.push((name, user?));
                    }
                }
                _ => return None,
            }
            let Some(next) = rest.get(message.len().max(HEADER).next_multiple_of(4)..) else { break };
            rest = next;
        }
    }
}

/// A dump of the sockets of AF_UNIX in these states, with names and users.
fn request(states: u32) -> Vec<u8> {
    // REQUEST, ROOT and MATCH; NAME and UID.
    let (flags, show) = (1_u16 | 0x300, 1_u32 | 0x40);
    let mut body = vec![AF_UNIX, 0, 0, 0];
    for word in [states, 0, show, u32::MAX, u32::MAX] {
        body.extend(word.to_ne_bytes());
    }
    let len = u32::try_from(HEADER + body.len()).expect("a request is short");
    let header = [&len.to_ne_bytes()[..], &SOCK_DIAG_BY_FAMILY.to_ne_bytes(), &flags.to_ne_bytes()].concat();
    [&header[..], &[0; 8], &body].concat()
}

/// The name of a socket, if it is abstract and one of this project, and its user, if the kernel knows how to tell.
fn name_of(message: &[u8]) -> Option<(String, Option<u32>)> {
    let (mut name, mut user) = (None, None);
    let mut rest = message.get(HEADER + BODY..)?;
    while let (Some(len), Some(kind)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let Some(value) = rest.get(4..usize::from(len)) else { break };
        match kind {
            NAME => name = value.strip_prefix(b"\0").and_then(|name| core::str::from_utf8(name).ok()),
            UID => user = u32_at(value, 0),
            _ => {}
        }
        let Some(next) = rest.get(usize::from(len).next_multiple_of(4)..) else { break };
        rest = next;
    }
    name.filter(|name| name.starts_with("slantpath/")).map(|name| (name.to_owned(), user))
}

/// State of a socket that has a plain name: TCP_CLOSE, since it is one of datagrams and has no peer.
const PLAIN: u32 = 1 << 7;
/// State of a socket that has a name aside: TCP_LISTEN.
const ASIDES: u32 = 1 << 10;
const AF_NETLINK: i32 = 16;
const AF_UNIX: u8 = 1;
const SOCK_DIAG: i32 = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const DONE: u16 = 3;
/// Length of `unix_diag_msg` in bytes.
const BODY: usize = 16;
/// UNIX_DIAG_NAME and UNIX_DIAG_UID.
const NAME: u16 = 0;
const UID: u16 = 7;
/// IPPROTO_SCTP.
const SCTP: u16 = 132;

#[cfg(test)]
mod tests {
    use rustix::process::Uid;

    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([127, 0, 9, last])
    }

    /// Has a name as a user who is nobody; `None` where only this user can be had.
    fn squat(name: &str) -> Option<UnixDatagram> {
        let name = name.to_owned();
        let squatter = std::thread::spawn(move || {
            // Of this thread alone, which ends.
            let (own, nobody) = (rustix::process::getuid(), Uid::from_raw(65_534));
            let set = rustix::thread::set_thread_res_uid(own, nobody, nobody);
            set.ok().map(|()| bind(&name).unwrap().unwrap())
        });
        squatter.join().unwrap()
    }

    #[test]
    fn a_port_is_one_programs_at_each_address_until_it_gives_it_back() {
        let first = Claim::port(address(1), 60_001).unwrap();
        assert!(first.is_some());
        assert!(Claim::port(address(1), 60_001).unwrap().is_none());
        assert!(Claim::port(address(2), 60_001).unwrap().is_some());
        drop(first);
        assert!(Claim::port(address(1), 60_001).unwrap().is_some());
    }

    #[test]
    fn who_may_open_no_raw_socket_keeps_nobody_from_a_port() {
        let Some(squatter) = squat("slantpath/sctp/127.0.9.3/60001") else {
            eprintln!("SKIPPED: this takes root");
            return;
        };
        let first = Claim::port(address(3), 60_001).unwrap();
        assert!(first.is_some(), "the name is nobody's");
        assert!(Claim::port(address(3), 60_001).unwrap().is_none(), "one of ours has the port aside");
        drop(squatter);
        // The name is free, and the port is not.
        assert!(Claim::port(address(3), 60_001).unwrap().is_none());
        drop(first);
        assert!(Claim::port(address(3), 60_001).unwrap().is_some());
    }

    #[test]
    fn many_ports_are_claimed_together_and_the_kernel_is_asked_once() {
        let names: Vec<String> = (0..200).map(|port| port_name(address(4), port)).collect();
        let mut asked = Vec::new();
        let mut claim = |names: &[String]| {
            asked.clear();
            let claims = Claim::all(names, |states| {
                asked.push(states);
                Owners::ask(states)
            });
            (claims.unwrap(), asked.clone())
        };
        let (first, asked) = claim(&names[..150]);
        assert!(first.iter().all(Option::is_some));
        assert_eq!(asked, [ASIDES]);
        // Some of these are taken, by whom has to be known once.
        let (second, asked) = claim(&names[100..]);
        let free: Vec<bool> = second.iter().map(Option::is_some).collect();
        assert_eq!(free, [vec![false; 50], vec![true; 50]].concat());
        assert_eq!(asked, [PLAIN | ASIDES, ASIDES]);
    }

    #[test]
    fn names_count_by_their_users() {
        let name = |name: &str, user| (name.to_owned(), user);
        let names = vec![name("a/1", 65_534), name("a/2", 0), name("a/3#12", 7), name("a/4#34", 8)];
        let owners = Owners { names, trusted: vec![0, 7] };
        let have = ["a/1", "a/2", "a/3", "a/4", "a"].map(|name| owners.have(name, None));
        assert_eq!(have, [false, true, true, false, false]);
        assert!(!owners.have("a/3", Some("a/3#12")));
    }

    #[test]
    fn users_of_raw_sockets_of_sctp_are_told_from_those_of_others() {
        let line = |protocol: &str, user: u32| {
            format!(
                "   1: 0100007F:{protocol} 00000000:0000 07 00000000:00000000 00:00000000 00000000 {user:5} 0 51 2\n"
            )
        };
        let head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
        let table = [head, &line("0084", 1_001), &line("0001", 1_002)].concat();
        assert_eq!(raw_users(&table).collect::<Vec<_>>(), [1_001]);
    }

    #[test]
    fn a_name_and_its_user_are_read_from_whatever_octets_come() {
        let attribute = |kind: u16, value: &[u8]| {
            let len = u16::try_from(4 + value.len()).unwrap();
            let mut octets = [&len.to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat();
            octets.resize(octets.len().next_multiple_of(4), 0);
            octets
        };
        let head = [0; HEADER + BODY];
        let whole =
            [&head[..], &attribute(NAME, b"\0slantpath/x"), &attribute(UID, &7_u32.to_ne_bytes())].concat();
        let expected = Some(("slantpath/x".to_owned(), Some(7)));
        assert_eq!(name_of(&whole), expected);
        for len in 0..whole.len() {
            assert_ne!(name_of(&whole[..len]), expected);
        }
        let other = |name: &[u8]| name_of(&[&head[..], &attribute(NAME, name)].concat());
        // One in the file system, and another project's.
        assert_eq!((other(b"slantpath/x"), other(b"\0x11")), (None, None));
        assert_eq!(other(b"\0slantpath/x"), Some(("slantpath/x".to_owned(), None)));
    }
}
