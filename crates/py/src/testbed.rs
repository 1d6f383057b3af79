//! A network in virtual time for Python's event loop: it runs as far as it is told, and stops where something has
//! happened to a socket.
//!
//! The network has a thread of its own, since a run is one call. Only one of both is ever at work: that thread, or the
//! interpreter's. So what happens depends on neither.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration as RealDuration;

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use slantpath_profiles::default::DEFAULT_PROFILE;
use slantpath_runner::schema::TcpProfile;
use slantpath_runner::{
    AskedChange, Attachment, Diagnostics, InterfaceReport, Outside, RunError as Failed, RunOptions,
    RunOutput, Scenario as Checked, SkyHandover, Turn, run_attached_collected,
};
use slantpath_testbed::{
    Bytes, Duration, HostConfig, HostInterface, Instant, InterfaceId, Packet, ResetCause, SctpCarriage, Seed,
    SocketError, TcpConfig, Testbed as Sockets, TestbedEvent, TestbedStream,
};

use crate::controller::{ControllerFailure, begin_run, failure, has_failed, taken};
use crate::guard::guarded;
use crate::live::LiveEndpoint;
use crate::run::heed_signals;
use crate::scenario::Scenario;
use crate::source::scenario_error;
use crate::table::Table;

pyo3::import_exception!(slantpath.errors, RunError);

/// Real time between two looks at signals while the network runs.
const BETWEEN_SIGNALS: RealDuration = RealDuration::from_millis(100);
/// Numbers of errors as Linux has them.
const EADDRINUSE: i32 = 98;
const EMSGSIZE: i32 = 90;
const ENETUNREACH: i32 = 101;
const ENOTCONN: i32 = 107;

/// Sockets and the present, which the network and the interpreter use in turn.
pub(crate) struct Shared {
    pub(crate) sockets: Sockets,
    pub(crate) now: Instant,
    attachments: Vec<Attachment>,
    /// Handovers that have happened and have not been taken.
    handovers: Vec<SkyHandover>,
    /// True if the interpreter wants its turn, though nothing has happened to a socket.
    is_woken: bool,
}

/// Word to the network.
enum Command {
    /// Go on, to this instant at most. If nobody waits for it, only as long as there is something to happen.
    Advance { until: Instant, is_awaited: bool },
    /// Change links at an instant as an event of the script does.
    Change(Instant, Vec<(String, String)>),
    /// End the run.
    End,
}

/// Word of the network.
enum Report {
    /// Something has happened to a socket.
    Event,
    /// The instant has come.
    Until,
    /// Nothing will ever happen by itself.
    Rest,
    Changed(Result<(), Box<Diagnostics>>),
}

/// Outside of the network: sockets of the interpreter's programs.
struct Programs {
    shared: Arc<Mutex<Shared>>,
    commands: Receiver<Command>,
    reports: SyncSender<Report>,
    until: Instant,
    is_awaited: bool,
    tcp: TcpConfig,
    seed: Seed,
    /// Reason for which the run says nothing any more.
    failure: Option<String>,
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Programs {
    /// Gives the network what leaves. True if there was something.
    fn settle(shared: &mut Shared, turn: &mut Turn<'_>) -> bool {
        let mut has_left = false;
        while let Some((interface, packet)) = shared.sockets.poll_packet(turn.now) {
            // A host sends IP packets, or frames where the link carries those.
            let _ = turn.inject(turn.now, interface, packet);
            has_left = true;
        }
        has_left
    }
}

impl Outside for Programs {
    fn changes_links(&self) -> bool {
        true
    }

    fn begin(&mut self, attachments: &[Attachment]) -> io::Result<()> {
        let mut shared = lock(&self.shared);
        shared.sockets = Sockets::new(attachments.iter().map(host).collect(), self.tcp, self.seed);
        shared.attachments = attachments.to_vec();
        Ok(())
    }

    fn wait(&mut self, turn: &mut Turn<'_>) -> io::Result<Option<Instant>> {
        if let Some(reason) = self.failure.take() {
            return Err(io::Error::other(reason));
        }
        if has_failed() {
            return Err(io::Error::other("a controller has failed"));
        }
        let now = turn.now;
        let mut next = turn.next;
        loop {
            let report = {
                let mut shared = lock(&self.shared);
                shared.now = now;
                shared.sockets.handle_deadline(now);
                if Self::settle(&mut shared, turn) {
                    next = Some(now);
                }
                let due = [next, shared.sockets.deadline()].into_iter().flatten().min();
                if shared.sockets.has_event() | std::mem::take(&mut shared.is_woken) {
                    Report::Event
                } else if self.until <= now {
                    Report::Until
                } else if due.is_none() && !self.is_awaited {
                    Report::Rest
                } else {
                    return Ok(Some(due.unwrap_or(self.until).min(self.until).max(now)));
                }
            };
            let mut is_told = self.reports.send(report).is_ok();
            loop {
                match self.commands.recv() {
                    Ok(Command::Advance { until, is_awaited }) if is_told => {
                        (self.until, self.is_awaited) = (until, is_awaited);
                        break;
                    }
                    Ok(Command::Change(at, event)) if is_told => {
                        let changed = turn.change(at, &AskedChange::Event(&event)).map(drop);
                        // It is among what happens.
                        next = Some(next.map_or(at, |next| next.min(at)).max(now));
                        is_told = self.reports.send(Report::Changed(changed.map_err(Box::new))).is_ok();
                    }
                    _ => return Ok(None),
                }
            }
        }
    }

    fn depart(&mut self, at: Instant, interface: InterfaceId, packet: Packet) -> io::Result<()> {
        lock(&self.shared).sockets.handle_packet(at, interface, packet);
        Ok(())
    }

    fn handed_over(&mut self, handovers: Vec<SkyHandover>) {
        lock(&self.shared).handovers.extend(handovers);
    }

    fn fail(&mut self, _at: Instant, reason: String) {
        self.failure = Some(reason);
    }

    fn end(&mut self) -> io::Result<Vec<InterfaceReport>> {
        let shared = lock(&self.shared);
        let interfaces = shared.attachments.iter().map(|node| node.interfaces.len()).sum();
        Ok(vec![InterfaceReport::default(); interfaces])
    }
}

/// A host in the place of an attached node.
fn host(attachment: &Attachment) -> HostConfig {
    let interfaces = attachment.interfaces.iter().map(|own| HostInterface {
        id: own.id,
        addresses: own.addresses.clone(),
        mtu_bytes: u32::try_from(own.mtu.as_bytes()).unwrap_or(u32::MAX),
        carries_frames: own.carries_frames,
    });
    HostConfig {
        name: attachment.node.clone(),
        interfaces: interfaces.collect(),
        reaches: attachment.reaches.clone(),
    }
}

/// The run's thread, and how it is told what to do.
struct Running {
    commands: SyncSender<Command>,
    reports: Receiver<Report>,
    thread: JoinHandle<Result<RunOutput, Stopped>>,
}

/// Why the network's thread has no results.
enum Stopped {
    /// A controller has raised something there.
    Controller(ControllerFailure),
    Run(String),
}

impl Stopped {
    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Controller(failure) => failure.raised(py),
            Self::Run(failure) => RunError::new_err(failure),
        }
    }
}

/// A fault that nobody but Slantpath can have.
fn own_fault() -> PyErr {
    PyRuntimeError::new_err("a fault of Slantpath itself, please report it")
}

/// A network with sockets at its attached nodes, in virtual time.
#[pyclass(module = "slantpath._native", frozen)]
pub(crate) struct Testbed {
    pub(crate) shared: Arc<Mutex<Shared>>,
    running: Mutex<Option<Running>>,
}

impl Testbed {
    /// Acts on the sockets.
    fn with<R>(&self, act: impl FnOnce(&mut Sockets, Instant) -> R) -> PyResult<R> {
        let mut shared = lock(&self.shared);
        let now = shared.now;
        let done = guarded(|| act(&mut shared.sockets, now))?;
        // A controller of these sockets is called by either thread.
        Python::attach(failure).map_or(Ok(done), Err)
    }

    /// Tells the network to do something, and waits until it has.
    fn tell(&self, py: Python<'_>, command: Command) -> PyResult<Report> {
        py.detach(|| {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(run) = &*running else { return Err(over()) };
            let mut answer = run
                .commands
                .send(command)
                .map_err(|_| RecvTimeoutError::Disconnected)
                .and_then(|()| run.reports.recv_timeout(BETWEEN_SIGNALS));
            loop {
                match answer {
                    Ok(report) => return Ok(report),
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(raised) = heed_signals() {
                            // What it does now nobody hears of.
                            *running = None;
                            return Err(raised);
                        }
                        answer = run.reports.recv_timeout(BETWEEN_SIGNALS);
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            let failed = running.take().map(|run| run.thread.join());
            Err(match failed {
                Some(Ok(Err(stopped))) => Python::attach(|py| stopped.raised(py)),
                Some(Err(_)) => own_fault(),
                _ => over(),
            })
        })
    }
}

fn over() -> PyErr {
    RunError::new_err("the network is over")
}

#[pymethods]
impl Testbed {
    #[new]
    #[pyo3(signature = (scenario, seed, run, captures))]
    fn new(
        py: Python<'_>,
        scenario: &Bound<'_, Scenario>,
        seed: Option<u64>,
        run: u64,
        captures: Vec<String>,
    ) -> PyResult<Self> {
        let given = &scenario.get().checked;
        let read = py.detach(|| guarded(|| given.without_end()))?;
        let checked: Checked = read.map_err(|faults| scenario_error(&faults))?;
        let tcp = checked.tcp.find(DEFAULT_PROFILE).map(TcpProfile::config).unwrap_or_default();
        let seed_number = seed.unwrap_or(*checked.scenario.seed);
        let streams = Seed::new(seed_number, run);
        let sockets = Sockets::new(Vec::new(), tcp, streams);
        let (now, attachments, handovers) = (Instant::START, Vec::new(), Vec::new());
        let shared = Arc::new(Mutex::new(Shared { sockets, now, attachments, handovers, is_woken: false }));
        let (commands, for_network) = sync_channel(1);
        let (from_network, reports) = sync_channel(1);
        let of_network = Arc::clone(&shared);
        let work = move || {
            let mut outside = Programs {
                shared: of_network,
                commands: for_network,
                reports: from_network,
                until: Instant::START,
                is_awaited: true,
                tcp,
                seed: streams,
                failure: None,
            };
            let options = RunOptions { seed, run, captures };
            let done = run_attached_collected(&checked, &options, &mut outside);
            match taken() {
                Some(failure) => Err(Stopped::Controller(failure)),
                None => done.map_err(|error: Failed| Stopped::Run(error.to_string())),
            }
        };
        begin_run();
        let thread = std::thread::Builder::new().name("slantpath-testbed".to_owned()).spawn(work)?;
        let running = Mutex::new(Some(Running { commands, reports, thread }));
        let testbed = Self { shared, running };
        // It stands at its start: what fails has failed by then.
        py.detach(|| {
            let mut running = testbed.running.lock().unwrap_or_else(PoisonError::into_inner);
            let is_up = running.as_ref().is_some_and(|run| run.reports.recv().is_ok());
            if is_up {
                return Ok(());
            }
            let failed = running.take().map(|run| run.thread.join());
            Err(match failed {
                Some(Ok(Err(stopped))) => Python::attach(|py| stopped.raised(py)),
                _ => own_fault(),
            })
        })?;
        Ok(testbed)
    }

    /// Nodes at which programs stand: name, own addresses with their links, and the addresses that they reach, with the
    /// name of the node that has each.
    #[expect(clippy::type_complexity, reason = "it is Python's")]
    fn nodes(&self) -> Vec<(String, Vec<(String, String)>, Vec<(String, String)>)> {
        let shared = lock(&self.shared);
        let node = |node: &Attachment| {
            let own = node
                .interfaces
                .iter()
                .flat_map(|one| one.addresses.iter().map(|address| (address.to_string(), one.link.clone())));
            let reaches = node.reaches.iter().map(|(address, name, _)| (address.to_string(), name.clone()));
            (node.node.clone(), own.collect(), reaches.collect())
        };
        shared.attachments.iter().map(node).collect()
    }

    /// The present, in nanoseconds since the start.
    fn now(&self) -> u64 {
        lock(&self.shared).now.since_start().as_nanos()
    }

    /// Runs until something happens to a socket, or until this instant: `event`, `until`; or `rest`: nothing will ever
    /// happen, and nobody awaits that instant.
    fn advance(&self, py: Python<'_>, until_ns: u64, is_awaited: bool) -> PyResult<&'static str> {
        // A controller of an association is called by this thread, too.
        if let Some(error) = failure(py) {
            return Err(error);
        }
        Ok(match self.tell(py, Command::Advance { until: instant(until_ns), is_awaited })? {
            Report::Event | Report::Changed(_) => "event",
            Report::Until => "until",
            Report::Rest => "rest",
        })
    }

    /// Ends the call of `advance` that is under way as if something had happened: a signal's handler has work.
    fn wake(&self) {
        lock(&self.shared).is_woken = true;
    }

    /// Has links change at an instant as an event of the script does: its keys, each with its value as TOML.
    fn change(&self, py: Python<'_>, at_ns: u64, event: Vec<(String, String)>) -> PyResult<()> {
        match self.tell(py, Command::Change(instant(at_ns), event))? {
            Report::Changed(Err(faults)) => Err(scenario_error(&faults)),
            _ => Ok(()),
        }
    }

    /// Events of sockets, in their order.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let mut shared = lock(&self.shared);
        std::iter::from_fn(|| shared.sockets.poll_event()).map(|event| told(py, event)).collect()
    }

    /// Handovers that have happened: when, of which antenna, from which satellite to which.
    fn handovers(&self) -> Vec<(u64, String, Option<String>, Option<String>)> {
        let taken = std::mem::take(&mut lock(&self.shared).handovers);
        let one = |one: SkyHandover| (one.at.since_start().as_nanos(), one.antenna, one.from, one.to);
        taken.into_iter().map(one).collect()
    }

    /// Opens a port of UDP.
    fn open_udp(&self, node: usize, port: u16) -> PyResult<u16> {
        self.with(|sockets, _| sockets.open_udp(node, port))?.map_err(raised)
    }

    /// Closes a port of UDP.
    fn close_udp(&self, node: usize, port: u16) -> PyResult<()> {
        self.with(|sockets, _| sockets.close_udp(node, port))
    }

    /// Sends a datagram: its address, and the number by which it is known when it comes; IPv6 has none.
    fn send_datagram(
        &self,
        node: usize,
        local: (Option<IpAddr>, u16),
        remote: (IpAddr, u16),
        payload: &[u8],
    ) -> PyResult<(String, Option<u16>)> {
        let (remote, payload) = (SocketAddr::from(remote), Bytes::copy_from_slice(payload));
        let sent = self.with(|sockets, _| sockets.send_datagram(node, local, remote, payload))?;
        sent.map(|(source, number)| (source.to_string(), number)).map_err(raised)
    }

    /// Accepts connections to a port of TCP.
    fn listen(&self, node: usize, port: u16) -> PyResult<u16> {
        self.with(|sockets, _| sockets.listen(node, port))?.map_err(raised)
    }

    /// Accepts no more of them.
    fn stop_listening(&self, node: usize, port: u16) -> PyResult<()> {
        self.with(|sockets, _| sockets.stop_listening(node, port))
    }

    /// Calls a port of TCP: the connection, and its own address and port.
    fn connect(
        &self,
        node: usize,
        local: (Option<IpAddr>, u16),
        remote: (IpAddr, u16),
    ) -> PyResult<(u64, (String, u16))> {
        let called = self.with(|sockets, now| sockets.connect(now, node, local, SocketAddr::from(remote)))?;
        called.map(|(TestbedStream(stream), local)| (stream, place(local))).map_err(raised)
    }

    /// Number of bytes that a connection takes.
    fn room(&self, stream: u64) -> PyResult<u64> {
        self.with(|sockets, _| sockets.room(TestbedStream(stream)))
    }

    /// Appends to the stream of a connection.
    fn write(&self, stream: u64, data: &[u8]) -> PyResult<()> {
        let bytes = Bytes::copy_from_slice(data);
        self.with(|sockets, now| sockets.write(now, TestbedStream(stream), bytes))?.map_err(raised)
    }

    /// Ends the own stream of a connection.
    fn close(&self, stream: u64) -> PyResult<()> {
        self.with(|sockets, now| sockets.close(now, TestbedStream(stream)))
    }

    /// Breaks a connection off.
    fn abort(&self, stream: u64) -> PyResult<()> {
        self.with(|sockets, now| sockets.abort(now, TestbedStream(stream)))
    }

    /// Delivers no more of a connection's data, or does so once more.
    fn hold(&self, stream: u64, is_held: bool) -> PyResult<()> {
        self.with(|sockets, now| sockets.hold(now, TestbedStream(stream), is_held))
    }

    /// Opens a port of SCTP at a host of its own.
    #[expect(clippy::too_many_arguments, reason = "they are Python's")]
    fn open_sctp(
        &self,
        node: usize,
        addresses: Vec<IpAddr>,
        port: u16,
        udp: Option<(u16, u16)>,
        settings: &Bound<'_, PyDict>,
        backlog: usize,
        read_ahead_bytes: usize,
    ) -> PyResult<LiveEndpoint> {
        let carriage = match udp {
            None => SctpCarriage::Ip,
            Some((local_port, remote_port)) => SctpCarriage::Udp { local_port, remote_port },
        };
        let ports = self.with(|sockets, _| sockets.add_sctp(node, addresses, carriage))?.map_err(raised)?;
        let opened =
            LiveEndpoint::open_simulated(&self.shared, ports, (port, backlog, read_ahead_bytes), settings);
        if opened.is_err() {
            self.with(|sockets, _| sockets.remove_sctp(ports))?;
        }
        opened
    }

    /// Ends the run: the seed that was used, the digest, the tables, and pcapng files by link.
    fn end<'py>(&self, py: Python<'py>) -> PyResult<(u64, String, Vec<Table>, Bound<'py, PyDict>)> {
        let run = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Running { commands, reports, thread }) = run else { return Err(over()) };
        let output = py.detach(|| {
            // One that has failed tells it below.
            let _ = commands.send(Command::End);
            drop((commands, reports));
            thread.join()
        });
        let output = output.map_err(|_| own_fault())?.map_err(|stopped| stopped.raised(py))?;
        let captured = PyDict::new(py);
        for capture in &output.captures {
            captured.set_item(&capture.link, PyBytes::new(py, &capture.pcapng))?;
        }
        Ok((output.seed, output.digest, output.tables.into_iter().map(Table).collect(), captured))
    }
}

fn instant(ns: u64) -> Instant {
    Instant::START.saturating_add(Duration::from_nanos(ns))
}

/// An address and port as Python has it.
fn place(address: SocketAddr) -> (String, u16) {
    (address.ip().to_string(), address.port())
}

/// An event as Python gets it: its kind, the socket, and what belongs to it.
fn told(py: Python<'_>, event: TestbedEvent) -> PyResult<Bound<'_, PyTuple>> {
    match event {
        TestbedEvent::Accepted { node, stream, local, remote } => {
            ("accepted", node, stream.0, place(local), place(remote)).into_pyobject(py)
        }
        TestbedEvent::Associations(id) => ("associations", id.0).into_pyobject(py),
        TestbedEvent::Closed(stream) => ("closed", stream.0).into_pyobject(py),
        TestbedEvent::Connected(stream) => ("connected", stream.0).into_pyobject(py),
        TestbedEvent::Data(stream, bytes) => ("data", stream.0, PyBytes::new(py, &bytes)).into_pyobject(py),
        TestbedEvent::Datagram { node, local, remote, identification, payload } => {
            let payload = PyBytes::new(py, &payload);
            ("datagram", node, place(local), place(remote), identification, payload).into_pyobject(py)
        }
        TestbedEvent::PeerClosed(stream) => ("peer closed", stream.0).into_pyobject(py),
        TestbedEvent::Reset(stream, cause) => ("reset", stream.0, word(cause)).into_pyobject(py),
        TestbedEvent::Writable(stream) => ("writable", stream.0).into_pyobject(py),
    }
}

const fn word(cause: ResetCause) -> &'static str {
    match cause {
        ResetCause::ByPeer => "by peer",
        ResetCause::Refused => "refused",
        ResetCause::TimedOut => "timed out",
    }
}

/// An error of a socket as the operating system's would be.
pub(crate) fn raised(error: SocketError) -> PyErr {
    let number = match &error {
        SocketError::InUse { .. } | SocketError::NoPort { .. } => EADDRINUSE,
        SocketError::Stream(_) => ENOTCONN,
        SocketError::Unreachable { .. } => ENETUNREACH,
        SocketError::Unsent(_) => EMSGSIZE,
    };
    PyOSError::new_err((number, error.to_string()))
}
