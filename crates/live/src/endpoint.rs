//! Settings with which a live endpoint is opened: one SCTP port, whose associations an application holds.

use std::net::IpAddr;

use bytes::Bytes;
use slantpath_applications::ProgramMessage;
use slantpath_sctp::{self as sctp, SctpConfig};

use crate::associations::AssociationsConfig;
use crate::config::{Binding, Carriage, LiveConfig};

/// Settings with which an endpoint is opened.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// The machine's addresses that it has, at least one.
    pub addresses: Vec<IpAddr>,
    /// Choice of whether the endpoint has those addresses alone.
    pub binding: Binding,
    /// SCTP port of the endpoint; zero, the default: any from 49,152 on that no other program of this project has.
    pub port: u16,
    /// Carrier of its packets.
    pub carriage: Carriage,
    /// SCTP's settings; path MTUs are less by what the carriage takes, as [`EndpointConfig::new`] has them.
    pub sctp: SctpConfig,
    /// Settings of its associations: the number of callers that are queued, and the bytes that are read ahead.
    pub associations: AssociationsConfig,
    /// Size of the receive buffer of each socket in bytes, as far as the operating system permits.
    pub socket_buffer_bytes: usize,
}

impl EndpointConfig {
    /// An endpoint with RFC 9260's settings at any port, which others may call.
    pub fn new(addresses: Vec<IpAddr>, carriage: Carriage) -> Self {
        Self::with_settings(addresses, carriage, SctpConfig::default())
    }

    /// Variant of [`EndpointConfig::new`] with other settings of SCTP, those of a scenario's profile for example, whose
    /// path MTUs are IP's.
    pub fn with_settings(addresses: Vec<IpAddr>, carriage: Carriage, sctp: SctpConfig) -> Self {
        let sctp = carriage.settings(sctp);
        let associations = AssociationsConfig::default();
        let socket_buffer_bytes = LiveConfig::SOCKET_BUFFER_BYTES;
        Self {
            addresses,
            binding: Binding::Listed,
            port: 0,
            carriage,
            sctp,
            associations,
            socket_buffer_bytes,
        }
    }
}

/// Options with which a message is sent, beyond its stream and its bytes. Default: in order, of no declared protocol,
/// until it has been delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageOptions {
    /// Payload Protocol Identifier, which tells the other end what the message is.
    pub payload_protocol: u32,
    /// True if the message may overtake others of its stream.
    pub is_unordered: bool,
    /// Limit after which the message is given up (RFC 3758 and RFC 7496). Unless both ends have agreed to partial
    /// reliability, a message with any limit is refused.
    pub reliability: sctp::Reliability,
    /// True if the receiver is asked to acknowledge the message at once (RFC 7053).
    pub sack_immediately: bool,
    /// To which of the peer's addresses it is sent first; `None`: where all else goes.
    pub destination: Option<IpAddr>,
}

impl MessageOptions {
    /// A message on a stream that is sent so.
    pub fn message(self, stream: u16, payload: Bytes) -> ProgramMessage {
        let Self { payload_protocol, is_unordered, reliability, sack_immediately, destination } = self;
        let options = sctp::SendOptions { sack_immediately, destination, reliability }.for_message();
        ProgramMessage { stream, payload_protocol, is_unordered, payload, options, ip: None }
    }
}

#[cfg(target_os = "linux")]
pub use open::OpenPort;

#[cfg(target_os = "linux")]
mod open {
    use std::net::IpAddr;

    use slantpath_applications::ProgramConfig;
    use slantpath_base::Stream;
    use slantpath_host::SocketId;
    use slantpath_sctp::Severity;

    use super::EndpointConfig;
    use crate::associations::PortAssociations;
    use crate::config::{Binding, Carriage, LiveConfig, OpenError, check_addresses};
    use crate::live::Live;
    use crate::program::{Station, host_of};
    use crate::sockets::chance::secret;
    use crate::sockets::local::{addresses_for_others, own_addresses};

    /// A host with the associations of its endpoints.
    type Associated = Live<Station<PortAssociations>>;

    /// An endpoint that is open.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct OpenPort {
        /// Identifier of the port in [`PortAssociations`].
        pub id: SocketId,
        /// The SCTP port.
        pub number: u16,
    }

    impl EndpointConfig {
        /// An endpoint at all of the machine's addresses that others can use, and at those that come to it later. On a
        /// machine without a network, at those of the loopback.
        pub fn of_machine(carriage: Carriage) -> Self {
            let others = addresses_for_others();
            if !others.is_empty() {
                return Self { binding: Binding::AllOfMachine, ..Self::new(others, carriage) };
            }
            Self::new(own_addresses().into_iter().filter(IpAddr::is_loopback).collect(), carriage)
        }

        /// Opens the sockets, and the endpoint on them.
        pub fn open(&self) -> Result<(Associated, OpenPort), OpenError> {
            self.check()?;
            let mut stream = secret_stream()?;
            self.at_a_port(&mut stream, |number, stream| {
                let config = LiveConfig {
                    addresses: self.addresses.clone(),
                    binding: self.binding,
                    carriage: self.carriage,
                    ports: vec![number],
                    socket_buffer_bytes: self.socket_buffer_bytes,
                };
                let station =
                    Station { host: host_of(&self.addresses), program: PortAssociations::default() };
                let mut live = Live::open(&config, station)?;
                let id = self.add_to(live.host_mut(), number, stream);
                Ok((live, OpenPort { id, number }))
            })
        }

        /// Opens the endpoint on the sockets of another, as one more SCTP port: in UDP they share its UDP port (RFC
        /// 6951). What the sockets are is said already, and has to be said alike here.
        pub fn open_beside(&self, live: &mut Associated) -> Result<OpenPort, OpenError> {
            self.check()?;
            let has = live.config();
            if (&self.addresses, self.carriage) != (&has.addresses, has.carriage) {
                let what =
                    "an endpoint on the sockets of another has the same addresses and the same carriage";
                return Err(OpenError::Settings(what.to_owned()));
            }
            let mut stream = secret_stream()?;
            self.at_a_port(&mut stream, |number, stream| {
                live.add_port(number)?;
                let id = self.add_to(live.host_mut(), number, stream);
                Ok(OpenPort { id, number })
            })
        }

        /// Opens at the port that was asked for, or at one that is free.
        fn at_a_port<T>(
            &self,
            stream: &mut Stream,
            mut open: impl FnMut(u16, Stream) -> Result<T, OpenError>,
        ) -> Result<T, OpenError> {
            if self.port != 0 {
                return open(self.port, stream.fork("port"));
            }
            let mut attempts = 0;
            loop {
                let port = DYNAMIC_FIRST | u16::try_from(stream.next_u32() >> 16).expect("16 bits");
                attempts += 1;
                match open(port, stream.fork("port")) {
                    Err(OpenError::PortInUse { protocol: "SCTP", .. }) if attempts < ATTEMPTS => {}
                    opened => return opened,
                }
            }
        }

        /// Checks what SCTP takes for granted.
        fn check(&self) -> Result<(), OpenError> {
            let error = self.sctp.check().into_iter().find(|finding| finding.severity() == Severity::Error);
            if let Some(error) = error {
                return Err(OpenError::Settings(error.to_string()));
            }
            check_addresses(&self.addresses)
        }

        fn add_to(&self, station: &mut Station<PortAssociations>, number: u16, stream: Stream) -> SocketId {
            let port = ProgramConfig {
                sctp: Box::new(self.sctp.clone()),
                local_addresses: self.addresses.clone(),
                local_port: number,
                peer: None,
            };
            let Station { host, program } = station;
            program.open(self.associations.clone(), &port, host, stream)
        }
    }

    fn secret_stream() -> Result<Stream, OpenError> {
        let failed = |error| OpenError::System { what: "drawing a secret".to_owned(), error };
        secret().map(Stream::secret).map_err(failed)
    }

    /// The first port that is assigned to nobody (RFC 6335, section 6): those whose first two bits are set.
    const DYNAMIC_FIRST: u16 = 0xc000;
    /// Number of ports that are tried.
    const ATTEMPTS: u32 = 64;
}
