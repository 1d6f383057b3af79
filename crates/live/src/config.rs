//! Settings with which a live host is opened, and reasons for which it cannot be.

use std::io;
use std::net::IpAddr;

use slantpath_base::Duration;
use slantpath_sctp::SctpConfig;
use slantpath_wire::udp::UDP_HEADER_LEN;

/// The UDP port of SCTP in UDP, by IANA.
pub const ENCAPSULATION_PORT: u16 = 9_899;

/// Carrier of SCTP packets: IP itself, or UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// IP itself, as protocol 132: raw sockets, for which a program needs a privilege.
    Raw,
    /// UDP (RFC 6951).
    Udp {
        /// The own port, at each address; zero: any that is free.
        local_port: u16,
        /// The port of peers that have not been heard of.
        remote_port: u16,
    },
}

impl Carriage {
    /// SCTP's settings on real sockets: path MTUs are less by what the carriage takes, and timers that may wait share
    /// wake-ups.
    pub fn settings(self, sctp: SctpConfig) -> SctpConfig {
        let overhead = u16::try_from(self.overhead_bytes()).expect("a small number");
        SctpConfig {
            initial_path_mtu: sctp.initial_path_mtu.saturating_sub(overhead),
            max_path_mtu: sctp.max_path_mtu.saturating_sub(overhead),
            timer_granularity: LiveConfig::TIMER_GRANULARITY,
            ..sctp
        }
    }

    /// By how much the packets are longer on the wire than in IP, in bytes.
    pub const fn overhead_bytes(self) -> usize {
        match self {
            Self::Raw => 0,
            Self::Udp { .. } => UDP_HEADER_LEN,
        }
    }
}

/// Set of addresses that a host has while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binding {
    /// Addresses with which the host was opened, as long as the machine has them, and all that come to the machine
    /// later and that others can use: none of the loopback, nor of a link alone.
    AllOfMachine,
    /// Addresses with which the host was opened, and no others.
    #[default]
    Listed,
}

/// Settings with which a live host is opened.
#[derive(Clone, Debug)]
pub struct LiveConfig {
    /// The machine's addresses that the host has, at least one. Each is an interface of the host, numbered in this
    /// order.
    pub addresses: Vec<IpAddr>,
    /// Choice of whether the host has those addresses alone.
    pub binding: Binding,
    /// Carrier of its packets.
    pub carriage: Carriage,
    /// The SCTP ports that it uses. On raw sockets, which have no ports, they are kept from other programs of this
    /// project, and what comes for others' is theirs.
    pub ports: Vec<u16>,
    /// Size of the receive buffer of each socket in bytes, as far as the operating system permits.
    pub socket_buffer_bytes: usize,
}

impl LiveConfig {
    /// A buffer for a tenth of a second at 300 Mbit/s.
    pub const SOCKET_BUFFER_BYTES: usize = 4 * 1_024 * 1_024;
    /// SACKs of a host that are held back and HEARTBEATs to idle paths leave at multiples of this, as with the timers
    /// of most kernels, so that those of thousands of associations share wake-ups and system calls.
    pub const TIMER_GRANULARITY: Duration = Duration::from_millis(4);
}

/// Why a live host cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No address was given.
    #[error("a host has an address")]
    NoAddress,
    /// An address is not the machine's.
    #[error("{address} is no address of this machine; it has {}", list(own))]
    NotOurs {
        /// Address that was asked for.
        address: IpAddr,
        /// Addresses that the machine has.
        own: Vec<IpAddr>,
    },
    /// An address with which no host can be opened, on whatever machine.
    #[error("{address} {why}")]
    Unusable {
        /// Address that was asked for.
        address: IpAddr,
        /// Reason for which no host can have it, as the end of a sentence about the address.
        why: &'static str,
    },
    /// A port is in use.
    #[error("{protocol} port {port} at {address} is in use")]
    PortInUse {
        /// `SCTP` or `UDP`.
        protocol: &'static str,
        /// Address at which the port is in use.
        address: IpAddr,
        /// Number of the port.
        port: u16,
    },
    /// The program may not use so low a port of UDP.
    #[error(
        "UDP port {port} needs CAP_NET_BIND_SERVICE, as all do that the system reserves \
         (net.ipv4.ip_unprivileged_port_start): take one from 1024 on, or run with sudo"
    )]
    PrivilegedPort {
        /// UDP port that was asked for.
        port: u16,
    },
    /// The program may not open raw sockets.
    #[error(
        "raw sockets need CAP_NET_RAW: {}, or run with sudo; SCTP in UDP (--udp) needs no privilege",
        grant(program)
    )]
    NoPrivilege {
        /// The program's file.
        program: String,
    },
    /// The kernel has SCTP of its own, which would answer every packet, too.
    #[error(
        "this kernel's own SCTP is loaded and would abort every association: `sudo rmmod sctp`, or use SCTP in UDP \
         (--udp)"
    )]
    KernelSctp,
    /// SCTP's settings contradict each other.
    #[error("SCTP's settings: {0}")]
    Settings(String),
    /// Any other error of the operating system.
    #[error("{what}: {error}{}", cure(error))]
    System {
        /// Action that has failed.
        what: String,
        /// Error of the operating system.
        error: io::Error,
    },
}

/// Checks if a host can be opened with these addresses on a machine that has them. A program that makes a host before
/// it opens it asks beforehand.
pub fn check_addresses(addresses: &[IpAddr]) -> Result<(), OpenError> {
    if addresses.is_empty() {
        return Err(OpenError::NoAddress);
    }
    for (place, &address) in addresses.iter().enumerate() {
        let why = match address {
            _ if !is_of_one_host(address) => "is no address of a single host",
            // It is one of a link: SCTP's parameters have no room for which (RFC 9260, section 3.3.2.1).
            IpAddr::V6(v6) if v6.is_unicast_link_local() => "holds on its own link alone: give another one",
            _ if addresses[..place].contains(&address) => "is given twice",
            _ => continue,
        };
        return Err(OpenError::Unusable { address, why });
    }
    Ok(())
}

/// Tells if hosts elsewhere can send to an address of this machine.
pub(crate) fn is_for_others(address: IpAddr) -> bool {
    let is_near = match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_link_local(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unicast_link_local(),
    };
    !is_near && is_of_one_host(address)
}

fn is_of_one_host(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !v4.is_unspecified() && !v4.is_multicast() && !v4.is_broadcast(),
        IpAddr::V6(v6) => !v6.is_unspecified() && !v6.is_multicast() && v6.to_ipv4_mapped().is_none(),
    }
}

/// Gives advice on an error of the system whose own words do not say what helps.
fn cure(error: &io::Error) -> &'static str {
    const EMFILE: i32 = 24;
    match error.raw_os_error() {
        Some(EMFILE) => {
            "; over IP each port takes a file at each address: allow more (`ulimit -n`), or take fewer associations"
        }
        _ => "",
    }
}

fn list(addresses: &[IpAddr]) -> String {
    let texts: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
    texts.join(", ")
}

/// Describes how a program is given the capability. An interpreter would have it for every script, so that one call is
/// given it.
fn grant(program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or_default();
    if name.starts_with("python") {
        let caps = "--inh-caps +net_raw --ambient-caps +net_raw";
        return format!("begin the program with `sudo setpriv --reuid UID --regid GID --init-groups {caps}`");
    }
    format!("run `sudo setcap cap_net_raw+ep {program}` once")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_opened_is_called_by_its_name() {
        let own = vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()];
        let error = OpenError::NotOurs { address: "192.0.2.1".parse().unwrap(), own };
        assert_eq!(error.to_string(), "192.0.2.1 is no address of this machine; it has 127.0.0.1, ::1");
        let error = OpenError::PortInUse { protocol: "UDP", address: "::1".parse().unwrap(), port: 9_899 };
        assert_eq!(error.to_string(), "UDP port 9899 at ::1 is in use");
        let of_system = |number| {
            let error = io::Error::from_raw_os_error(number);
            OpenError::System { what: "claiming a port at ::1".to_owned(), error }.to_string()
        };
        assert!(
            of_system(24).ends_with("allow more (`ulimit -n`), or take fewer associations"),
            "{}",
            of_system(24)
        );
        assert!(!of_system(1).contains("ulimit"));
    }

    #[test]
    fn addresses_that_no_host_can_have_are_told_apart() {
        let check = |addresses: &[&str]| {
            let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
            check_addresses(&addresses).map_err(|error| error.to_string())
        };
        assert_eq!(check(&["10.0.0.1", "10.0.0.2", "fd00::1", "127.0.0.1"]), Ok(()));
        assert_eq!(check(&[]), Err("a host has an address".to_owned()));
        for address in ["0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255", "::ffff:10.0.0.1"] {
            assert_eq!(
                check(&["10.0.0.1", address]),
                Err(format!("{address} is no address of a single host"))
            );
        }
        let error = "fe80::1 holds on its own link alone: give another one";
        assert_eq!(check(&["fe80::1"]), Err(error.to_owned()));
        assert_eq!(check(&["10.0.0.1", "fd00::1", "10.0.0.1"]), Err("10.0.0.1 is given twice".to_owned()));
    }

    #[test]
    fn a_program_is_given_the_capability_by_its_file_and_a_script_by_its_call() {
        let said = |program: &str| OpenError::NoPrivilege { program: program.to_owned() }.to_string();
        assert_eq!(
            said("/opt/slantpath"),
            "raw sockets need CAP_NET_RAW: run `sudo setcap cap_net_raw+ep /opt/slantpath` once, or run with sudo; \
             SCTP in UDP (--udp) needs no privilege"
        );
        assert_eq!(
            said("/usr/bin/python3.11"),
            "raw sockets need CAP_NET_RAW: begin the program with `sudo setpriv --reuid UID --regid GID --init-groups \
             --inh-caps +net_raw --ambient-caps +net_raw`, or run with sudo; SCTP in UDP (--udp) needs no privilege"
        );
    }
}
