//! Log of all that the user of [`Sockets`] tells them and asks, and its repetition. With what the host was told it is
//! all that a run follows from, since these make no system call and read no clock.
//!
//! Numbers are least byte first. Each entry is a kind, and then what the call was given.

use std::sync::Arc;

use slantpath_base::Instant;
use slantpath_live::Host;
use slantpath_requests::{self as requests, Errno, FromProgram, HEADER_LEN, Malformed, OpenRequest};
use slantpath_sctp::SctpConfig;

use crate::closing::Closing;
use crate::news::{SocketNumber, Token};
use crate::sockets::Sockets;

/// The kinds of entries.
mod kind {
    pub(super) const OPENED: u8 = 0;
    pub(super) const ASKED: u8 = 1;
    pub(super) const SENT: u8 = 2;
    pub(super) const READ: u8 = 3;
    pub(super) const CLOSED: u8 = 4;
    pub(super) const CLAIMED: u8 = 5;
    pub(super) const CLAIM_POLLED: u8 = 6;
    pub(super) const RELEASE_POLLED: u8 = 7;
    pub(super) const FORESEEN: u8 = 8;
    pub(super) const ACCEPTED: u8 = 9;
}

const WHAT: &str = "an entry of the log of sockets";

/// Log, if somebody wants one.
#[derive(Debug, Default)]
pub(crate) struct Log(Option<Vec<u8>>);

/// Call that is written down.
pub(crate) enum Told<'a> {
    Opened(OpenRequest),
    Asked(SocketNumber, Token, &'a requests::Request),
    Sent(SocketNumber, FromProgram, &'a [u8]),
    Read(SocketNumber),
    Closed(SocketNumber, Closing),
    Claimed(u16, Result<(), Errno>),
    ClaimPolled,
    ReleasePolled,
    Foreseen(&'a [SocketNumber]),
    Accepted(SocketNumber),
}

impl Log {
    pub(crate) fn note(&mut self, told: &Told<'_>) {
        let Some(log) = &mut self.0 else { return };
        match told {
            Told::Opened(wish) => {
                log.push(kind::OPENED);
                put(log, &wish.encode());
            }
            Told::Asked(socket, token, request) => {
                log.push(kind::ASKED);
                log.extend(socket.0.to_le_bytes());
                log.extend(token.0.to_le_bytes());
                put(log, &request.encode());
            }
            Told::Sent(socket, header, bytes) => {
                log.push(kind::SENT);
                log.extend(socket.0.to_le_bytes());
                log.extend(header.header());
                put(log, bytes);
            }
            Told::Read(socket) => {
                log.push(kind::READ);
                log.extend(socket.0.to_le_bytes());
            }
            Told::Closed(socket, closing) => {
                log.push(kind::CLOSED);
                log.extend(socket.0.to_le_bytes());
                log.push(*closing as u8);
            }
            Told::Claimed(port, outcome) => {
                log.push(kind::CLAIMED);
                log.extend(port.to_le_bytes());
                log.extend(outcome.map_or_else(|error| error.0, |()| 0).to_le_bytes());
            }
            Told::Accepted(socket) => {
                log.push(kind::ACCEPTED);
                log.extend(socket.0.to_le_bytes());
            }
            Told::ClaimPolled => log.push(kind::CLAIM_POLLED),
            Told::ReleasePolled => log.push(kind::RELEASE_POLLED),
            Told::Foreseen(sockets) => {
                log.push(kind::FORESEEN);
                let numbers: Vec<u8> = sockets.iter().flat_map(|socket| socket.0.to_le_bytes()).collect();
                put(log, &numbers);
            }
        }
    }
}

/// Writes bytes behind their length.
fn put(log: &mut Vec<u8>, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).expect("a piece is shorter than 4 GiB");
    log.extend(length.to_le_bytes());
    log.extend_from_slice(bytes);
}

impl Sockets {
    /// Writes down from now on what they are told.
    pub fn keep_log(&mut self) {
        self.log.0.get_or_insert_default();
    }

    /// Takes what has been written down since this was last asked.
    pub fn take_log(&mut self) -> Vec<u8> {
        self.log.0.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Does again what a log says, which was written of sockets with these settings.
    ///
    /// # Errors
    /// If it is none, or ends within an entry; what stands before that has been done.
    pub fn repeat(
        &mut self,
        now: Instant,
        host: &mut Host,
        defaults: &Arc<SctpConfig>,
        log: &[u8],
    ) -> Result<(), Malformed> {
        let mut entries = Entries(log);
        while !entries.0.is_empty() {
            self.repeat_next(now, host, defaults, &mut entries)?;
            while self.poll_news().is_some() {}
        }
        Ok(())
    }

    fn repeat_next(
        &mut self,
        now: Instant,
        host: &mut Host,
        defaults: &Arc<SctpConfig>,
        entries: &mut Entries<'_>,
    ) -> Result<(), Malformed> {
        let [kind] = entries.array()?;
        match kind {
            kind::OPENED => {
                self.open(OpenRequest::decode(entries.bytes()?)?, defaults);
            }
            kind::ASKED => {
                let (socket, token) = (entries.socket()?, Token(entries.u64()?));
                let request = requests::Request::decode(entries.bytes()?)?;
                self.request(now, host, socket, token, &request);
            }
            kind::SENT => {
                let socket = entries.socket()?;
                let header: [u8; HEADER_LEN] = entries.array()?;
                let (header, _) = FromProgram::decode(&header)?;
                self.take(now, host, socket, header, entries.bytes()?);
            }
            kind::READ => {
                let socket = entries.socket()?;
                self.next(now, host, socket);
            }
            kind::CLOSED => {
                let socket = entries.socket()?;
                let closing = match entries.array()? {
                    [0] => Closing::InOrder,
                    [1] => Closing::Killed,
                    [2] => Closing::Unread,
                    _ => return Err(Malformed(WHAT)),
                };
                self.close(now, host, socket, closing);
            }
            kind::CLAIMED => {
                let port = u16::from_le_bytes(entries.array()?);
                let error = u16::from_le_bytes(entries.array()?);
                let outcome = if error == 0 { Ok(()) } else { Err(Errno(error)) };
                self.port_claimed(now, host, port, outcome);
            }
            kind::ACCEPTED => {
                let socket = entries.socket()?;
                self.accepted(host, socket);
            }
            kind::CLAIM_POLLED => {
                self.poll_claim();
            }
            kind::RELEASE_POLLED => {
                self.poll_release();
            }
            kind::FORESEEN => {
                let numbers = entries.bytes()?.chunks_exact(8);
                let number =
                    |octets: &[u8]| octets.first_chunk().map_or(0, |octets| u64::from_le_bytes(*octets));
                let sockets: Vec<SocketNumber> = numbers.map(|octets| SocketNumber(number(octets))).collect();
                self.foresee(&sockets);
            }
            _ => return Err(Malformed(WHAT)),
        }
        Ok(())
    }
}

/// Entries that have not been read.
struct Entries<'a>(&'a [u8]);

impl<'a> Entries<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Malformed(WHAT))?;
        self.0 = rest;
        Ok(*taken)
    }

    fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn socket(&mut self) -> Result<SocketNumber, Malformed> {
        Ok(SocketNumber(self.u64()?))
    }

    fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = u32::from_le_bytes(self.array()?) as usize;
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed(WHAT))?;
        self.0 = rest;
        Ok(taken)
    }
}
