//! The loop over the host, the desk and the pairs.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use slantpath_base::Stream;
use slantpath_live::record::Recorder;
use slantpath_live::{
    Instant, Live, LiveConfig, OpenError, Program as _, SctpConfig, Station, Woken, host_of,
};
use slantpath_requests::Errno;
use slantpath_sockets::{SocketNumber, Sockets};
use slantpath_system::poll::Poll;

use crate::desk::Desk;
use crate::lint::Lint;
use crate::pairs::Pairs;

/// Settings with which a daemon is opened.
#[derive(Clone, Debug)]
pub struct DaemonConfig {
    /// Addresses and carrier of the host; programs say which ports it has.
    pub live: LiveConfig,
    /// Settings of SCTP that a program has not chosen itself.
    pub sctp: SctpConfig,
    /// Secret of which all chance of the host comes.
    pub secret: [u8; 32],
}

/// Daemon that serves the sockets of programs.
#[derive(Debug)]
pub struct Daemon {
    live: Live<Station<Sockets>>,
    /// Descriptor that stands for the host in the poll.
    _readiness: OwnedFd,
    poll: Poll,
    desk: Option<Desk>,
    pairs: Pairs,
    defaults: Arc<SctpConfig>,
    /// Tokens of others' descriptors that are ready.
    ready: Vec<u64>,
    sayings: Vec<String>,
    /// True if the host may have something to do although its descriptor does not say so.
    is_host_touched: bool,
}

// Tokens of descriptors: two bits say of which kind one is.
const LIVE: u64 = 0;
pub(crate) const DESK: u64 = 1 << KIND_BITS;
const SOCKET: u64 = 1;
const GUEST: u64 = 2;
const OTHER: u64 = 3;
const KIND_BITS: u32 = 2;

pub(crate) const fn socket_token(number: SocketNumber) -> u64 {
    number.0 << KIND_BITS | SOCKET
}

pub(crate) const fn guest_token(number: u64) -> u64 {
    number << KIND_BITS | GUEST
}

/// Number of the command, in a record, by which sockets are told something: its bytes are for
/// [`Sockets::repeat`](slantpath_sockets::Sockets::repeat).
pub const SERVE: u8 = 4;
/// Number of the command to stop, in a record.
const STOP: u8 = 1;

/// Host with these addresses and sockets, all of whose chance comes from this secret.
pub fn station(addresses: &[IpAddr], secret: [u8; 32]) -> Station<Sockets> {
    let sockets = Sockets::new(addresses.to_vec(), Stream::secret(secret));
    Station { host: host_of(addresses), program: sockets }
}

impl Daemon {
    /// Opens the host. Nobody can ask for a socket before there is a [desk](Self::listen).
    ///
    /// # Errors
    /// If the host cannot be opened.
    pub fn open(config: DaemonConfig) -> Result<Self, OpenError> {
        let DaemonConfig { live, sctp, secret } = config;
        let failed = |what: &str| {
            let what = what.to_owned();
            move |error| OpenError::System { what, error }
        };
        let station = station(&live.addresses, secret);
        let lint = Lint::of(&sctp);
        let mut live = Live::open(&live, station)?;
        let poll = Poll::new().map_err(failed("waiting"))?;
        let readiness = live.readiness().map_err(failed("waiting for packets"))?;
        poll.add(&readiness, LIVE).map_err(failed("waiting for packets"))?;
        let word = slantpath_live::secret().map_err(failed("a name of pairs"))?;
        let word = word.first_chunk().map_or(0, |octets| u64::from_ne_bytes(*octets));
        Ok(Self {
            live,
            _readiness: readiness,
            poll,
            desk: None,
            pairs: Pairs::new(&format!("{word:016x}"), lint),
            defaults: Arc::new(sctp),
            ready: Vec::new(),
            sayings: Vec::new(),
            is_host_touched: true,
        })
    }

    /// Opens the desk at which programs ask for sockets: a path, or an abstract name behind an `@`.
    pub fn listen(&mut self, name: &str) -> io::Result<()> {
        self.desk = Some(Desk::open(name, &self.poll)?);
        Ok(())
    }

    /// Has [`turn`](Self::turn) tell when a descriptor of somebody else's can be read, by this number.
    pub fn wait_for(&self, descriptor: impl AsFd, number: u64) -> io::Result<()> {
        self.poll.add(descriptor, number << KIND_BITS | OTHER)
    }

    /// Host with the sockets.
    pub const fn live(&mut self) -> &mut Live<Station<Sockets>> {
        &mut self.live
    }

    /// Number of sockets that programs hold.
    pub fn socket_count(&self) -> usize {
        self.pairs.len()
    }

    /// Number of associations that are not over.
    pub fn association_count(&self) -> usize {
        self.live.host().program.association_count()
    }

    /// Takes what is to be said to whoever has started this.
    pub fn take_sayings(&mut self) -> Vec<String> {
        self.sayings.append(&mut self.pairs.lint.take());
        self.sayings.extend(self.pairs.take_sayings().map(str::to_owned));
        std::mem::take(&mut self.sayings)
    }

    /// Writes down what the host and its sockets are told from now on: before the first turn, all of it.
    pub fn record(&mut self, recorder: Recorder) {
        self.live.host_mut().program.keep_log();
        self.live.record(recorder);
    }

    /// Tells the sockets something, which a record has.
    fn tell<R>(&mut self, act: impl FnOnce(&mut Pairs, &Poll, &mut Station<Sockets>, Instant) -> R) -> R {
        let (pairs, poll) = (&mut self.pairs, &self.poll);
        tell(&mut self.live, |station, now| act(pairs, poll, station, now))
    }

    /// Lets nobody ask for a socket any more, and ends all associations: in order, and asked a second time, at once.
    pub fn stop(&mut self) {
        self.desk = None;
        // What they were told before stands before it in a record.
        self.tell(|_, _, _, _| ());
        self.live.command(STOP, Station::stop);
        self.is_host_touched = true;
    }

    /// Tells if it was stopped and no association is left.
    pub fn is_over(&self) -> bool {
        self.live.host().program.is_over()
    }

    /// Waits for something to do, at most for so long, and does a turn of it. Gives the numbers of others' descriptors
    /// that can be read.
    pub fn turn(&mut self, at_most: Option<Duration>) -> io::Result<&[u64]> {
        let is_busy = self.is_host_touched || self.pairs.is_busy();
        let timeout = if is_busy { Some(Duration::ZERO) } else { at_most };
        self.ready.clear();
        let mut guests = Vec::new();
        let mut is_desk_ready = false;
        self.poll.wait(timeout)?;
        for token in self.poll.ended().iter().filter(|token| **token & OTHER == SOCKET) {
            self.pairs.note_closed(SocketNumber(token >> KIND_BITS));
        }
        for token in self.poll.told() {
            match (token & OTHER, token >> KIND_BITS) {
                (SOCKET, number) => self.pairs.note_ready(SocketNumber(number)),
                (GUEST, number) => guests.push(number),
                (OTHER, number) => self.ready.push(number),
                _ if *token == DESK => is_desk_ready = true,
                _ => self.is_host_touched = true,
            }
        }
        if let Some(desk) = &mut self.desk {
            if is_desk_ready {
                self.sayings.extend(desk.let_in(&self.poll));
            }
            for guest in guests {
                let (live, pairs, poll, defaults) =
                    (&mut self.live, &mut self.pairs, &self.poll, &self.defaults);
                desk.serve(guest, |wish| {
                    let number = live.host_mut().program.open(wish, defaults);
                    let made = pairs.open(number, wish, poll);
                    if made.is_err() {
                        tell(live, |station, now| {
                            let killed = slantpath_sockets::Closing::Killed;
                            station.program.close(now, &mut station.host, number, killed);
                        });
                    }
                    made
                });
            }
        }
        self.note_news();
        if self.pairs.is_busy() {
            let program = &mut self.live.host_mut().program;
            let asking: Vec<SocketNumber> = self.pairs.asking().collect();
            program.foresee(&asking);
            self.claim();
            if self.tell(|pairs, poll, station, now| pairs.serve_closed(station, now, poll)) {
                self.pass_packets()?;
            }
            self.tell(|pairs, poll, station, now| pairs.serve(station, now, poll));
            self.is_host_touched = true;
        }
        self.claim();
        if std::mem::take(&mut self.is_host_touched) {
            // What is left to do its descriptor tells of.
            self.live.turn()?;
            self.note_news();
        }
        if self.pairs.has_late() {
            self.settle()?;
        }
        if self.pairs.has_to_write() {
            self.tell(|pairs, poll, station, now| pairs.write_all(station, now, poll));
            self.live.note_deadline()?;
        }
        self.note_news();
        Ok(&self.ready)
    }

    /// Has packets to this machine itself pass: Linux carries them within the call that sends them, and programs with
    /// both ends find what became of it at once.
    fn pass_packets(&mut self) -> io::Result<()> {
        for _ in 0..SETTLING_TURNS {
            let woken = self.live.turn()?;
            self.note_news();
            if woken != Woken::Worked {
                break;
            }
        }
        Ok(())
    }

    /// Has packets to this machine itself pass before calls are answered that do not wait.
    fn settle(&mut self) -> io::Result<()> {
        for _ in 0..SETTLING_TURNS {
            let woken = self.live.turn()?;
            self.note_news();
            self.tell(|pairs, poll, station, now| pairs.serve(station, now, poll));
            if woken != Woken::Worked {
                break;
            }
        }
        self.pairs.answer_late(&self.poll);
        self.is_host_touched = true;
        Ok(())
    }

    /// Hands on what is told of sockets.
    fn note_news(&mut self) {
        while let Some((number, news)) = self.live.host_mut().program.poll_news() {
            self.pairs.note_news(number, news, &self.poll);
        }
    }

    /// Claims ports that sockets want, and gives those back that nobody has.
    fn claim(&mut self) {
        for _ in 0..CLAIMS_IN_A_ROW {
            let program = &mut self.live.host_mut().program;
            let ports: Vec<u16> = std::iter::from_fn(|| program.poll_claim()).collect();
            let released: Vec<u16> = std::iter::from_fn(|| program.poll_release()).collect();
            for port in released {
                self.live.remove_port(port);
            }
            if ports.is_empty() {
                return;
            }
            let outcomes = self.live.add_ports(&ports);
            let errors = outcomes.iter().filter_map(|outcome| outcome.as_ref().err().map(refused));
            errors.for_each(|error| self.pairs.note_error(error));
            self.tell(|_, _, station, now| {
                for (port, outcome) in ports.into_iter().zip(outcomes) {
                    let outcome = outcome.map_err(|error| refused(&error));
                    station.program.port_claimed(now, &mut station.host, port, outcome);
                }
            });
            self.is_host_touched = true;
        }
    }
}

/// Tells the sockets of a host something, which a record has.
fn tell<R>(live: &mut Live<Station<Sockets>>, act: impl FnOnce(&mut Station<Sockets>, Instant) -> R) -> R {
    live.tell(SERVE, act, |station| station.program.take_log())
}

/// Batches of claims before other work has its turn: others may have all ports that are tried.
const CLAIMS_IN_A_ROW: usize = 8;

/// Turns that a handshake with this machine itself takes, and some more.
const SETTLING_TURNS: usize = 8;

/// Error for a port that is not claimed.
fn refused(error: &OpenError) -> Errno {
    match error {
        OpenError::System { error, .. } => {
            let number = error.raw_os_error().and_then(|number| u16::try_from(number).ok());
            number.map_or(Errno::EIO, Errno)
        }
        _ => Errno::EADDRINUSE,
    }
}
