//! A live endpoint for Python's event loop: one descriptor to wait for, and commands that never wait.
//!
//! Whatever sends or reads on sockets runs with the interpreter free for other threads.

use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict};
use slantpath_live::{
    AssociationId, Carriage, Concern, Duration, EndpointConfig, Extension, Host, Instant, Live, Lost,
    MessageOptions, Notification, OpenPort, Peer, PortAssociations, Received, Reliability, ResetDirection,
    Sctp, SendRefused, Severity, SharedKey, SocketId, Station, StreamId, Value, Woken,
};

use slantpath_profiles::Profile;
use slantpath_testbed::{PortsId, SctpCarriage};

use crate::controller::{ControllerFailure, begin_run, taken};
use crate::guard::guarded;
use crate::live_settings::{set_all, time};
use crate::mib;
use crate::testbed::Shared;

pyo3::import_exception!(slantpath.errors, AssociationLost);
pyo3::import_exception!(slantpath.errors, LiveError);

/// Number of batches of packets that are taken in before the interpreter has its turn.
const TURNS: usize = 16;

/// Message as Python gets it: its stream, its protocol, whether it is unordered, its bytes, and its hop limit, DSCP and
/// ECN field.
type Message<'py> = (u16, u32, bool, Bound<'py, PyBytes>, [u8; 3]);

/// Notification as Python gets it: what has happened, to which address, how many were missed, in which direction to
/// which streams, and the fields of the event.
type Told<'py> =
    (&'static str, Option<String>, u64, Option<&'static str>, Option<Vec<u16>>, Bound<'py, PyDict>);

/// Sockets of an endpoint that are open, with their host; other endpoints share them.
struct Open {
    live: Live<Station<PortAssociations>>,
    readiness: OwnedFd,
    /// True if there is something to send for the sake of a command.
    is_touched: bool,
    /// True if a port may have a controller in Python.
    has_controllers: bool,
    /// First exception of a controller: the next turn raises it.
    failure: Option<ControllerFailure>,
}

impl Open {
    fn new(live: Live<Station<PortAssociations>>, readiness: OwnedFd, has_controllers: bool) -> Box<Self> {
        Box::new(Self { live, readiness, is_touched: true, has_controllers, failure: None })
    }

    /// Does what may call controllers, and keeps what one of them has raised.
    fn watching<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> R {
        if !self.has_controllers {
            return act(self);
        }
        begin_run();
        let done = act(self);
        self.failure = self.failure.take().or_else(taken);
        self.is_touched |= self.failure.is_some();
        done
    }
}

/// State of the sockets that an endpoint shares with others.
enum State {
    Open(Box<Open>),
    /// The sockets are closed: what came before can still be received.
    Closed {
        station: Box<Station<PortAssociations>>,
        at: Instant,
    },
    /// Being closed, or given up after a panic.
    Closing,
    /// Ports of a network that is simulated.
    Simulated {
        network: Arc<Mutex<Shared>>,
        ports: PortsId,
        is_touched: bool,
    },
}

impl State {
    /// Asks the host at the present, also once its sockets have been closed.
    fn ask<R>(&mut self, ask: impl FnOnce(&mut Station<PortAssociations>, Instant) -> R) -> PyResult<R> {
        match self {
            Self::Open(open) => {
                let now = open.live.now();
                guarded(|| open.watching(|open| ask(open.live.host_mut(), now)))
            }
            Self::Closed { station, at } => guarded(|| ask(station, *at)),
            Self::Closing => Err(closed()),
            Self::Simulated { network, ports, .. } => {
                let mut network = network.lock().unwrap_or_else(PoisonError::into_inner);
                let now = network.now;
                let ports = network.sockets.sctp_mut(*ports).ok_or_else(closed)?;
                guarded(|| ask(&mut ports.station, now))
            }
        }
    }
}

fn closed() -> PyErr {
    LiveError::new_err("the endpoint has been closed")
}

/// Outcome of a turn: whether there may be more to do, whether an association has ended, and the numbers of
/// associations, each with its concern.
type Turned = (bool, bool, Vec<(u32, &'static str)>);

/// One SCTP port on some of the machine's addresses.
#[pyclass(module = "slantpath._native", frozen)]
pub(crate) struct LiveEndpoint {
    state: Arc<Mutex<State>>,
    port: OpenPort,
    profile: Profile,
}

impl LiveEndpoint {
    /// Locks the state. Who has it may wait for the interpreter, to call a controller: it is free meanwhile.
    fn lock(&self) -> MutexGuard<'_, State> {
        match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            Err(TryLockError::WouldBlock) => {
                Python::attach(|py| self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner))
            }
        }
    }

    /// Acts on what is open.
    fn with<R>(&self, act: impl FnOnce(&mut Open) -> R) -> PyResult<R> {
        let mut state = self.lock();
        let State::Open(open) = &mut *state else {
            return Err(closed());
        };
        guarded(|| open.watching(|open| act(open))).inspect_err(|_| *state = State::Closing)
    }

    /// Asks the host, also once its sockets have been closed.
    fn ask<R>(&self, ask: impl FnOnce(&mut Station<PortAssociations>, Instant) -> R) -> PyResult<R> {
        let mut state = self.lock();
        let asked = state.ask(ask);
        if asked.as_ref().is_err_and(|_| !matches!(*state, State::Closing)) {
            *state = State::Closing;
        }
        asked
    }

    /// Has SCTP itself do something with an association that is up.
    fn command<R>(
        &self,
        number: u32,
        act: impl FnOnce(&mut Sctp, AssociationId, Instant) -> R,
    ) -> PyResult<R> {
        self.act(|program, host, now| program.command(host, SocketId(number), |sctp, id| act(sctp, id, now)))?
            .ok_or_else(|| LiveError::new_err("the association is not up"))
    }

    /// Acts on the associations and their host.
    fn act<R>(&self, act: impl FnOnce(&mut PortAssociations, &mut Host, Instant) -> R) -> PyResult<R> {
        let (result, has_touched) = self.ask(|station, now| {
            let Station { host, program } = station;
            let result = act(program, host, now);
            (result, program.take_touched())
        })?;
        match &mut *self.lock() {
            State::Open(open) => open.is_touched |= has_touched,
            State::Simulated { is_touched, .. } => *is_touched |= has_touched,
            State::Closed { .. } | State::Closing => {}
        }
        Ok(result)
    }

    /// Exception that a controller has raised, once.
    fn failure(&self, py: Python<'_>) -> Option<PyErr> {
        match &mut *self.lock() {
            State::Open(open) => open.failure.take().map(|failure| failure.raised_live(py)),
            _ => None,
        }
    }

    /// Ports of a simulated network that this is, if it is any.
    fn simulated(&self) -> Option<(Arc<Mutex<Shared>>, PortsId)> {
        match &*self.lock() {
            State::Simulated { network, ports, .. } => Some((Arc::clone(network), *ports)),
            _ => None,
        }
    }

    /// Opens a port among those of a simulated network.
    pub(crate) fn open_simulated(
        network: &Arc<Mutex<Shared>>,
        ports: PortsId,
        (number, backlog, read_ahead_bytes): (u16, usize, usize),
        settings: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let mut of_network = network.lock().unwrap_or_else(PoisonError::into_inner);
        let carriage = match of_network.sockets.sctp_mut(ports).ok_or_else(closed)?.carriage() {
            SctpCarriage::Ip => Carriage::Raw,
            SctpCarriage::Udp { local_port, remote_port } => Carriage::Udp { local_port, remote_port },
        };
        let mut config = EndpointConfig::new(Vec::new(), carriage);
        (config.associations.backlog, config.associations.read_ahead_bytes) = (backlog, read_ahead_bytes);
        let profile = set_all(&mut config, settings)?;
        let mut findings = config.sctp.check().into_iter();
        if let Some(error) = findings.find(|finding| finding.severity() == Severity::Error) {
            return Err(failed(&error));
        }
        let opened = of_network.sockets.open_sctp(ports, number, config.sctp, config.associations);
        let (id, number) = opened.map_err(|error| failed(&error))?;
        drop(of_network);
        let state = State::Simulated { network: Arc::clone(network), ports, is_touched: true };
        let port = OpenPort { id, number };
        Ok(Self { state: Arc::new(Mutex::new(state)), port, profile })
    }
}

#[pymethods]
impl LiveEndpoint {
    #[new]
    #[pyo3(signature = (addresses, port, udp, settings, backlog, read_ahead_bytes))]
    fn new(
        addresses: Vec<Address>,
        port: u16,
        udp: Option<(u16, u16)>,
        settings: &Bound<'_, PyDict>,
        backlog: usize,
        read_ahead_bytes: usize,
    ) -> PyResult<Self> {
        let carriage = match udp {
            None => Carriage::Raw,
            Some((local_port, remote_port)) => Carriage::Udp { local_port, remote_port },
        };
        let mut config = if addresses.is_empty() {
            EndpointConfig::of_machine(carriage)
        } else {
            EndpointConfig::new(every(addresses), carriage)
        };
        config.port = port;
        (config.associations.backlog, config.associations.read_ahead_bytes) = (backlog, read_ahead_bytes);
        let profile = set_all(&mut config, settings)?;
        let (mut live, port) = config.open().map_err(|error| failed(&error))?;
        let readiness = live.readiness().map_err(|error| failed(&error))?;
        let open = State::Open(Open::new(live, readiness, settings.contains("controllers")?));
        Ok(Self { state: Arc::new(Mutex::new(open)), port, profile })
    }

    /// Opens another SCTP port on the same sockets.
    fn beside(
        &self,
        port: u16,
        settings: &Bound<'_, PyDict>,
        backlog: usize,
        read_ahead_bytes: usize,
    ) -> PyResult<Self> {
        if let Some((network, ports)) = self.simulated() {
            let mut beside =
                Self::open_simulated(&network, ports, (port, backlog, read_ahead_bytes), settings)?;
            beside.state = Arc::clone(&self.state);
            return Ok(beside);
        }
        if settings.contains("socket_buffer_bytes")? {
            return Err(PyValueError::new_err("socket_buffer_bytes: the sockets have been opened already"));
        }
        let (port, profile) = self.with(|open| {
            let of_sockets = open.live.config();
            let mut config = EndpointConfig::new(of_sockets.addresses.clone(), of_sockets.carriage);
            config.port = port;
            (config.associations.backlog, config.associations.read_ahead_bytes) = (backlog, read_ahead_bytes);
            let profile = set_all(&mut config, settings)?;
            open.is_touched = true;
            open.has_controllers |= settings.contains("controllers")?;
            let port = config.open_beside(&mut open.live).map_err(|error| failed(&error))?;
            Ok::<_, PyErr>((port, profile))
        })??;
        Ok(Self { state: Arc::clone(&self.state), port, profile })
    }

    /// The SCTP port.
    #[getter]
    fn port(&self) -> u16 {
        self.port.number
    }

    /// Settings of SCTP by their names in scenarios, without secrets, as JSON.
    fn settings(&self) -> String {
        self.profile.table().settings().to_string()
    }

    /// The descriptor that can be read when there is something to do.
    fn fileno(&self) -> PyResult<i32> {
        if let Some((_, PortsId(number))) = self.simulated() {
            // It is none of the system's: the loop of a simulated network knows it.
            return Ok(-2 - i32::try_from(number).unwrap_or(i32::MAX - 2));
        }
        self.with(|open| open.readiness.as_raw_fd())
    }

    /// The address of each socket, with its UDP port, or zero.
    fn addresses(&self) -> PyResult<Vec<(String, u16)>> {
        let bound = match self.simulated() {
            None => self.with(|open| open.live.bound())??,
            Some((network, ports)) => {
                let mut network = network.lock().unwrap_or_else(PoisonError::into_inner);
                network.sockets.sctp_mut(ports).ok_or_else(closed)?.bound()
            }
        };
        Ok(bound.into_iter().map(|address| (address.ip().to_string(), address.port())).collect())
    }

    /// Does some of what there is to do: whether there may be more, whether an association has ended, and whom what
    /// concerns.
    fn turn(&self, py: Python<'_>) -> PyResult<Turned> {
        if let State::Simulated { network, ports, is_touched } = &mut *self.lock() {
            *is_touched = false;
            let mut network = network.lock().unwrap_or_else(PoisonError::into_inner);
            network.sockets.take_news(*ports);
            let ports = network.sockets.sctp_mut(*ports).ok_or_else(closed)?;
            return Ok(concerns(&mut ports.station.program, false));
        }
        py.detach(|| {
            self.with(|open| {
                open.is_touched = false;
                let mut woken = Woken::Worked;
                for _ in 0..TURNS {
                    woken = open.live.turn()?;
                    if woken == Woken::Idle {
                        break;
                    }
                }
                Ok(concerns(&mut open.live.host_mut().program, woken == Woken::Worked))
            })?
        })
        .and_then(|turned| self.failure(py).map_or(Ok(turned), Err))
    }

    /// Tells if a command has left something to do, which the descriptor does not tell.
    fn is_touched(&self) -> PyResult<bool> {
        if let State::Simulated { is_touched, .. } = &*self.lock() {
            return Ok(*is_touched);
        }
        self.with(|open| open.is_touched)
    }

    /// Begins an association; `None` while one with that peer has not ended that is on its way to its end.
    fn connect(&self, addresses: Vec<Address>, port: u16, udp_port: Option<u16>) -> PyResult<Option<u32>> {
        let peer = Peer { addresses: every(addresses), port };
        match self.act(|program, host, now| program.connect(now, host, self.port.id, &peer))? {
            Err(refused) if refused.is_ending() => Ok(None),
            Err(refused) => Err(failed(&refused)),
            Ok(number) => {
                if let Some((network, ports)) = self.simulated() {
                    let mut network = network.lock().unwrap_or_else(PoisonError::into_inner);
                    let ports = network.sockets.sctp_mut(ports).ok_or_else(closed)?;
                    ports.set_udp_port(&peer.addresses, peer.port, udp_port);
                } else {
                    self.with(|open| open.live.set_udp_port(&peer, self.port.number, udp_port))?;
                }
                Ok(Some(number.0))
            }
        }
    }

    /// The next association that has come.
    fn accept(&self) -> PyResult<Option<u32>> {
        self.act(|program, _, _| program.accept(self.port.id).map(|number| number.0))
    }

    /// Tells if an association is up or has ended; raises how it was lost.
    fn is_settled(&self, number: u32) -> PyResult<bool> {
        match self.act(|program, _, _| program.standing(SocketId(number)))? {
            None => Ok(false),
            Some(Ok(())) => Ok(true),
            Some(Err(lost)) => Err(raised(&lost)),
        }
    }

    /// Tells if an association has ended; raises how it was lost.
    fn is_ended(&self, number: u32) -> PyResult<bool> {
        self.act(|program, _, _| program.is_ended(SocketId(number)))
            .and_then(|is_ended| if is_ended { self.is_settled(number).map(|_| true) } else { Ok(false) })
    }

    /// The peer's first address and its port.
    fn peer(&self, number: u32) -> PyResult<Option<(String, u16)>> {
        let peer = self.act(|program, _, _| program.peer(SocketId(number)))?;
        Ok(peer.map(|peer| (peer.ip().to_string(), peer.port())))
    }

    /// The names of the extensions that an association uses.
    fn extensions(&self, number: u32) -> PyResult<Vec<&'static str>> {
        let extensions = self.ask(|station, _| station.host.sctp_extensions(SocketId(number)))?;
        Ok(extensions.iter().map(Extension::name).collect())
    }

    /// Number of messages that had not been acknowledged when an association ended.
    fn unacknowledged(&self, number: u32) -> PyResult<u64> {
        self.act(|program, _, _| program.unacknowledged(SocketId(number)))
    }

    /// Number of streams that can be sent on.
    fn outbound_streams(&self, number: u32) -> PyResult<u16> {
        self.act(|program, _, _| program.outbound_streams(SocketId(number)))
    }

    /// Hands a message over; `False` if the send buffer has no room.
    #[expect(clippy::too_many_arguments, reason = "they are Python's")]
    fn send(
        &self,
        number: u32,
        stream: u16,
        payload: &[u8],
        payload_protocol: u32,
        unordered: bool,
        lifetime_s: Option<f64>,
        sack_immediately: bool,
        destination: Option<Address>,
    ) -> PyResult<bool> {
        let lifetime = lifetime_s.map(|seconds| time("lifetime_s", seconds)).transpose()?;
        let reliability = lifetime.map_or(Reliability::Full, Reliability::Lifetime);
        let options = MessageOptions {
            payload_protocol,
            is_unordered: unordered,
            reliability,
            sack_immediately,
            destination: destination.map(|Address(address)| address),
        };
        let message = options.message(stream, payload.to_vec().into());
        let sent = self.act(|program, host, now| program.send(now, host, SocketId(number), message))?;
        match sent {
            Ok(()) => Ok(true),
            Err(refused) if refused.is_full() => Ok(false),
            Err(SendRefused::Ended(Some(lost))) => Err(raised(&lost)),
            Err(refused) => Err(LiveError::new_err(refused.to_string())),
        }
    }

    /// The next message and whether there will be others: without one, it has to be waited for, or the association has
    /// ended. Raises how it was lost.
    fn receive<'py>(&self, py: Python<'py>, number: u32) -> PyResult<(Option<Message<'py>>, bool)> {
        match self.act(|program, host, now| program.receive(now, host, SocketId(number)))? {
            Received::Nothing => Ok((None, true)),
            Received::Ended(None) => Ok((None, false)),
            Received::Ended(Some(lost)) => Err(raised(&lost)),
            Received::Message(message) => {
                let payload = PyBytes::new(py, &message.payload);
                let ip = message.ip.unwrap_or_default();
                let ip = [ip.hop_limit, ip.dscp.number(), ip.ecn as u8];
                let fields = (message.stream, message.payload_protocol, message.is_unordered, payload, ip);
                Ok((Some(fields), true))
            }
        }
    }

    /// The next notification: what has happened, to which address, how many were missed, to which streams in which
    /// direction, and the fields of the event.
    fn notification<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Option<Told<'py>>> {
        let notification = self.act(|program, _, _| program.poll_notification(SocketId(number)))?;
        let as_tuple = |notification: Notification| {
            let missed = if let Notification::Missed(count) = notification { count } else { 0 };
            let (what, address) = notification.what();
            let streams = notification.streams();
            let direction = streams.as_ref().map(|(direction, _)| *direction);
            let streams = streams.map(|(_, streams)| streams.iter().map(|stream| stream.0).collect());
            let fields = fields(py, &notification)?;
            Ok((what, address.map(|address| address.to_string()), missed, direction, streams, fields))
        };
        notification.map(as_tuple).transpose()
    }

    /// The paths of an association.
    fn paths<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let paths = self.ask(|station, now| station.host.sctp_paths(now, SocketId(number)))?;
        let as_dict = |path: &slantpath_live::PathSnapshot| {
            let dict = PyDict::new(py);
            dict.set_item("destination", path.destination.to_string())?;
            dict.set_item("source", path.source.to_string())?;
            dict.set_item("state", format!("{:?}", path.state))?;
            dict.set_item("is_primary", path.is_primary)?;
            dict.set_item("srtt_s", path.srtt.map(Duration::as_secs_f64))?;
            dict.set_item("rto_s", path.rto.as_secs_f64())?;
            dict.set_item("cwnd_bytes", path.cwnd)?;
            dict.set_item("flight_bytes", path.flight_size)?;
            dict.set_item("mtu_bytes", path.mtu)?;
            dict.set_item("data_chunks", path.stats.data_chunks_sent)?;
            dict.set_item("retransmissions", path.stats.retransmissions)?;
            Ok(dict)
        };
        paths.iter().map(as_dict).collect()
    }

    /// The counters of the SCTP MIB (RFC 3873), by name.
    fn mib<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mib = self.ask(|station, _| station.host.sctp_mib())?;
        let dict = PyDict::new(py);
        for (name, value) in mib.named() {
            dict.set_item(name, value)?;
        }
        Ok(dict)
    }

    /// Values of an association in the tables of the SCTP MIB, by name; `None` once it has ended.
    fn mib_association<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Option<Bound<'py, PyDict>>> {
        let row = self.ask(|station, _| station.host.sctp_mib_association(SocketId(number)))?;
        row.map(|row| mib::association(py, &row)).transpose()
    }

    /// Has streams begin anew: those listed, or all that this end sends on.
    fn reset_streams(&self, number: u32, streams: Vec<u16>) -> PyResult<()> {
        let streams: Vec<_> = streams.into_iter().map(StreamId).collect();
        let ours = ResetDirection::Outbound;
        self.command(number, |sctp, id, now| sctp.reset_streams(now, id, ours, &streams))?
            .map_err(|error| failed(&error))
    }

    /// Asks for more streams: so many to send on, and so many for the peer.
    fn add_streams(&self, number: u32, outbound: u16, inbound: u16) -> PyResult<()> {
        self.command(number, |sctp, id, now| sctp.add_streams(now, id, outbound, inbound))?
            .map_err(|error| failed(&error))
    }

    /// Tells the peer of another address of the endpoint's.
    fn add_address(&self, number: u32, address: Address) -> PyResult<()> {
        self.command(number, |sctp, id, now| sctp.add_address(now, id, address.0))?
            .map_err(|error| failed(&error))
    }

    /// Tells the peer that an address of the endpoint's is none of the association's any more.
    fn delete_address(&self, number: u32, address: Address) -> PyResult<()> {
        self.command(number, |sctp, id, now| sctp.remove_address(now, id, address.0))?
            .map_err(|error| failed(&error))
    }

    /// Asks the peer to send to this address of the endpoint's.
    fn request_peer_primary(&self, number: u32, address: Address) -> PyResult<()> {
        self.command(number, |sctp, id, now| sctp.request_peer_primary(now, id, address.0))?
            .map_err(|error| failed(&error))
    }

    /// Adds a key by which chunks may be authenticated, or replaces it.
    fn add_key(&self, number: u32, key: u16, secret: &[u8]) -> PyResult<()> {
        let secret = SharedKey::new(secret.to_vec());
        self.command(number, |sctp, id, _| sctp.add_key(id, key, &secret))?.map_err(|error| failed(&error))
    }

    /// Authenticates what is sent by another key.
    fn activate_key(&self, number: u32, key: u16) -> PyResult<()> {
        self.command(number, |sctp, id, _| sctp.activate_key(id, key))?.map_err(|error| failed(&error))
    }

    /// Takes a key away.
    fn delete_key(&self, number: u32, key: u16) -> PyResult<()> {
        self.command(number, |sctp, id, _| sctp.delete_key(id, key))?.map_err(|error| failed(&error))
    }

    /// Makes an address of the peer's the primary one; `False` if it is none, or not confirmed.
    fn set_primary(&self, number: u32, address: Address) -> PyResult<bool> {
        self.command(number, |sctp, id, now| sctp.set_primary(now, id, address.0))
    }

    /// Probes an address of the peer's now; `False` if it is none.
    fn request_heartbeat(&self, number: u32, address: Address) -> PyResult<bool> {
        self.command(number, |sctp, id, now| sctp.request_heartbeat(now, id, address.0))
    }

    /// Ends an association in order.
    fn shut_down(&self, number: u32) -> PyResult<()> {
        self.act(|program, host, now| program.shut_down(now, host, SocketId(number)))
    }

    /// Ends an association at once.
    fn abort(&self, number: u32, reason: &[u8]) -> PyResult<()> {
        let reason = reason.to_vec().into();
        self.act(|program, host, now| program.abort(now, host, SocketId(number), reason))
    }

    /// Releases an association with which its user has no more to do.
    fn release(&self, number: u32) -> PyResult<()> {
        self.act(|program, host, now| program.release(now, host, SocketId(number)))
    }

    /// Begins nothing more, and ends all associations: in order, or at once.
    fn close(&self, at_once: bool) -> PyResult<()> {
        self.act(|program, host, now| {
            let port = self.port.id;
            if at_once { program.abort_all(now, host, port) } else { program.close(now, host, port) }
        })
    }

    /// Number of associations that are not over.
    fn alive(&self) -> PyResult<usize> {
        self.ask(|station, _| station.program.alive(self.port.id))
    }

    /// Gives the sockets back, of all endpoints on them.
    fn close_sockets(&self) {
        let mut state = self.lock();
        *state = match std::mem::replace(&mut *state, State::Closing) {
            State::Open(open) => {
                let at = open.live.now();
                State::Closed { station: Box::new(open.live.into_host()), at }
            }
            State::Simulated { network, ports, .. } => {
                let mut network = network.lock().unwrap_or_else(PoisonError::into_inner);
                match network.sockets.remove_sctp(ports) {
                    Some(ports) => State::Closed { station: Box::new(ports.station), at: network.now },
                    None => State::Closing,
                }
            }
            closed => closed,
        };
    }
}

/// Concerns of associations, and whether one has ended.
fn concerns(program: &mut PortAssociations, may_be_more: bool) -> Turned {
    let mut concerns = Vec::new();
    while let Some((SocketId(number), concern)) = program.poll_concern() {
        concerns.push((number, name(concern)));
    }
    (may_be_more, program.take_ended(), concerns)
}

/// An IP address, as text or as Python's own. What is none is named.
struct Address(IpAddr);

impl<'py> FromPyObject<'_, 'py> for Address {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let address = object.extract::<IpAddr>();
        address.map(Self).map_err(|_| PyValueError::new_err(format!("{} is no IP address", *object)))
    }
}

fn every(addresses: Vec<Address>) -> Vec<IpAddr> {
    addresses.into_iter().map(|Address(address)| address).collect()
}

fn name(concern: Concern) -> &'static str {
    match concern {
        Concern::Caller => "caller",
        Concern::Notified => "notified",
        Concern::Readable => "readable",
        Concern::Standing => "standing",
        Concern::Writable => "writable",
    }
}

/// Fields of an event by their names; one that says nothing is left out.
fn fields<'py>(py: Python<'py>, notification: &Notification) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in notification.fields() {
        match value {
            Value::Nothing => {}
            Value::Flag(flag) => dict.set_item(name, flag)?,
            Value::Number(number) => dict.set_item(name, number)?,
            Value::Text(text) => dict.set_item(name, text)?,
            Value::Address(address) => dict.set_item(name, address.to_string())?,
            Value::Streams(streams) => dict.set_item(name, streams)?,
        }
    }
    Ok(dict)
}

fn failed(error: &dyn std::fmt::Display) -> PyErr {
    LiveError::new_err(error.to_string())
}

fn raised(lost: &Lost) -> PyErr {
    AssociationLost::new_err(lost.to_string())
}
