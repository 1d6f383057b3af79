//! Emulation without namespaces, on any system: attached nodes are hosts of ours, which relays join to ports of this
//! machine.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};

use slantpath_base::{Duration, Instant, Seed};
use slantpath_emulate::DepartureLateness;
#[cfg(target_os = "linux")]
use slantpath_emulate::EndedProgram;
use slantpath_interface::InterfaceId;
#[cfg(target_os = "linux")]
use slantpath_operation::ControlSocket;
use slantpath_profiles::default::DEFAULT_PROFILE;
use slantpath_relay::{HostConfig, HostInterface, RelayConfig, RelayDoors, RelayProtocol, Relays, TcpConfig};
use slantpath_runner::schema::{NodeKind, TcpProfile};
use slantpath_runner::{
    Attachment, EmulationRecording, InterfaceReport, Outside, RunOptions, Scenario, SkyHandover, SkyInPieces,
    Turn, Work, suggest,
};
use slantpath_wire::Packet;

#[cfg(target_os = "linux")]
use super::control::Control;
use super::told::StatusLine;
use super::{GRACE, directory, made, quick, told};
use crate::arguments::EmulateArguments;
use crate::failure::Failure;
use crate::terminal::Visible;
use crate::{interrupt, terminal};

/// Node at which programs enter the network of an emulation without a file.
const NEAR: &str = "near";
/// Time between two looks at programs, at clients and at Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Exit code of a program that a signal has ended, less the signal.
#[cfg(unix)]
const SIGNALLED: i32 = 128;

pub(super) fn main(arguments: &EmulateArguments) -> Result<(), Failure> {
    let scenario = quick::scenario(arguments)?;
    for warning in scenario.warnings() {
        terminal::warn(warning)?;
    }
    let configs = configs(arguments, &scenario)?;
    let options = RunOptions { captures: arguments.pcap.clone(), ..RunOptions::default() };
    let mut emulation = Relayed::new(configs, &scenario, arguments, interrupt::flag());
    #[cfg(target_os = "linux")]
    if let Some(path) = &arguments.control {
        let socket =
            ControlSocket::open(path).map_err(|error| Failure::Misused(format!("--control: {error}")))?;
        emulation.control = Some(Control::new(socket, &scenario));
    }
    #[cfg(not(target_os = "linux"))]
    if arguments.control.is_some() {
        return Err(Failure::Misused(
            "--control needs Linux: its socket is one of the file system".to_owned(),
        ));
    }
    match &arguments.record {
        None => {
            made(arguments, &scenario, &options, &mut emulation)?;
        }
        Some(path) => {
            let file = File::create(path).map_err(Failure::of_file(path.clone()))?;
            let mut recording =
                EmulationRecording::begin(&scenario, &directory(arguments), file, &mut emulation)
                    .map_err(Failure::of_file(path.clone()))?;
            let digest = made(arguments, &scenario, &options, &mut recording)?;
            recording.finish(&digest).map_err(Failure::of_file(path.clone()))?;
        }
    }
    emulation.conclude()
}

/// Relays that the command line names, between nodes that there are.
fn configs(arguments: &EmulateArguments, scenario: &Scenario) -> Result<Vec<RelayConfig>, Failure> {
    let nodes = || scenario.nodes.iter();
    let attached: Vec<&str> =
        nodes().filter(|(_, node)| *node.kind == NodeKind::Attached).map(|(name, _)| name).collect();
    if attached.is_empty() {
        let message = "the scenario has no attached node: give one `kind = \"attached\"`";
        return Err(Failure::Misused(message.to_owned()));
    }
    if let Some((name, _)) = nodes().find(|(_, node)| node.device.is_some() || node.namespace.is_some()) {
        let message = format!(
            "--relay: `{name}` is a place that exists (`device`, `namespace`), and with relays all attached nodes are \
             ports of this machine"
        );
        return Err(Failure::Misused(message));
    }
    let all: Vec<&str> = nodes().map(|(name, _)| name).collect();
    let entry = arguments.scenario.is_none().then_some(NEAR);
    let config = |text: &String| {
        let misused = |reason: String| Failure::Misused(format!("--relay {text}: {reason}"));
        let config = RelayConfig::parse(text, entry).map_err(|error| misused(error.to_string()))?;
        if !attached.contains(&&*config.from) {
            let help = suggest(&config.from, "attached nodes", &attached);
            return Err(misused(format!("there is no attached node `{}`: {help}", config.from)));
        }
        if !all.contains(&&*config.to) {
            let help = suggest(&config.to, "nodes", &all);
            return Err(misused(format!("there is no node `{}`: {help}", config.to)));
        }
        Ok(config)
    };
    arguments.relay.iter().map(config).collect()
}

/// Outside of a network that has relays: sockets of this machine, and a program that uses them.
struct Relayed<'a> {
    configs: Vec<RelayConfig>,
    tcp: TcpConfig,
    seed: Seed,
    limit: Duration,
    spin: Duration,
    /// End of what is known of the sky.
    sky_end: Option<Instant>,
    attachments: Vec<Attachment>,
    doors: Option<RelayDoors>,
    /// Program that is to be started, with its arguments.
    planned: Vec<OsString>,
    program: Option<Child>,
    outcome: Option<ExitStatus>,
    stop: &'a AtomicBool,
    /// Instant at which the program was asked to end.
    ending: Option<Instant>,
    /// Instant at which programs and clients were looked at last.
    looked: Instant,
    void: Option<String>,
    status: StatusLine,
    #[cfg(target_os = "linux")]
    control: Option<Control>,
    /// Lateness of handovers of antennas.
    handovers: DepartureLateness,
}

impl<'a> Relayed<'a> {
    fn new(
        configs: Vec<RelayConfig>,
        scenario: &Scenario,
        arguments: &EmulateArguments,
        stop: &'a AtomicBool,
    ) -> Self {
        let span = SkyInPieces::OPEN_ENDED.whole.max(*scenario.scenario.duration);
        Self {
            configs,
            tcp: scenario.tcp.find(DEFAULT_PROFILE).map(TcpProfile::config).unwrap_or_default(),
            seed: Seed::new(*scenario.scenario.seed, 0),
            limit: arguments.late,
            spin: arguments.spin,
            sky_end: scenario.sky.is_some().then(|| Instant::START + span),
            attachments: Vec::new(),
            doors: None,
            planned: arguments.program.clone(),
            program: None,
            outcome: None,
            stop,
            ending: None,
            looked: Instant::START,
            void: None,
            status: StatusLine::new(!arguments.program.is_empty()),
            #[cfg(target_os = "linux")]
            control: None,
            handovers: DepartureLateness::new(arguments.late),
        }
    }

    /// Tells if the run is over: the program has ended, or has had its time to.
    fn is_over(&mut self, now: Instant) -> io::Result<bool> {
        if let Some(program) = &mut self.program
            && let Some(status) = program.try_wait()?
        {
            self.outcome = Some(status);
            self.program = None;
            #[cfg(target_os = "linux")]
            if let Some(control) = &mut self.control {
                let code = code(status);
                control.tell_ended(now, vec![EndedProgram { node: NEAR.to_owned(), code }]);
            }
        }
        let is_to_end = self.outcome.is_some()
            || self.is_to_stop()
            || self.stop.load(Ordering::Relaxed)
            || self.sky_end.is_some_and(|end| now >= end);
        if !is_to_end {
            return Ok(false);
        }
        if self.ending.is_none() {
            self.ending = Some(now);
            if let Some(program) = &mut self.program {
                end(program)?;
            }
        }
        let since = self.ending.unwrap_or(now);
        Ok(self.program.is_none() || now >= since + GRACE)
    }

    #[cfg(target_os = "linux")]
    fn is_to_stop(&self) -> bool {
        self.control.as_ref().is_some_and(Control::is_to_stop)
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "elsewhere clients ask for it")]
    const fn is_to_stop(&self) -> bool {
        false
    }

    /// Says at once that the run is void.
    fn note_void(&mut self, now: Instant) -> io::Result<()> {
        match self.doors.as_ref().and_then(RelayDoors::void) {
            Some(void) if self.void.is_none() => self.make_void(now, void.to_string()),
            _ => Ok(()),
        }
    }

    #[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "clients are told the instant"))]
    fn make_void(&mut self, now: Instant, void: String) -> io::Result<()> {
        terminal::warn(&format!("void: {void}; what is measured from now on says nothing"))?;
        #[cfg(target_os = "linux")]
        if let Some(control) = &mut self.control {
            control.tell_void(now, &void);
        }
        self.void = Some(void);
        Ok(())
    }

    /// Says where programs find the network, and what is not theirs.
    fn tell_relays(&self, doors: &RelayDoors) -> io::Result<()> {
        let mut out = Visible(io::stderr().lock());
        for (config, bound) in self.configs.iter().zip(doors.bound()) {
            let RelayConfig { protocol, from, to, server, .. } = config;
            let is_attached = self.attachments.iter().any(|node| node.node == *to);
            let end =
                if is_attached { format!(", to {server}") } else { format!(", port {}", server.port()) };
            writeln!(out, "relay: {bound} ({protocol}) enters at `{from}` and leads to `{to}`{end}")?;
        }
        if self.configs.iter().any(|config| config.protocol == RelayProtocol::Tcp) {
            writeln!(
                out,
                "a relay of TCP is three connections, and that across the network is ours: what is measured there is \
                 not the program's TCP"
            )?;
        }
        Ok(())
    }

    /// Ends the command, with what it has to say.
    fn conclude(mut self) -> Result<(), Failure> {
        let had_program = self.program.is_some() || self.outcome.is_some();
        if let Some(mut program) = self.program.take() {
            // It had its time.
            let _ = program.kill();
            let _ = program.wait();
        }
        if let Some(void) = &self.void {
            return Err(Failure::Void(format!("the run is void: {void}")));
        }
        if self.stop.load(Ordering::Relaxed) && had_program {
            return Err(Failure::Interrupted("interrupted: the program was ended".to_owned()));
        }
        match self.outcome {
            _ if self.is_to_stop() => Ok(()),
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(Failure::Ended(code(status))),
            // Nothing else ends it.
            None if self.stop.load(Ordering::Relaxed) => Ok(()),
            None => Err(Failure::Interrupted(
                "the sky of an emulation goes on for 30 days, and for no longer: all programs were ended"
                    .to_owned(),
            )),
        }
    }
}

impl Outside for Relayed<'_> {
    #[cfg(target_os = "linux")]
    fn changes_links(&self) -> bool {
        self.control.is_some()
    }

    fn begin(&mut self, attachments: &[Attachment]) -> io::Result<()> {
        self.attachments = attachments.to_vec();
        let relays = Relays::new(
            attachments.iter().map(host).collect(),
            &self.configs,
            self.tcp,
            self.seed.stream("relays"),
        );
        let interfaces = attachments.iter().zip(0..).flat_map(|(node, place)| {
            node.interfaces.iter().map(move |own| (place, own.id, own.carries_frames))
        });
        let relays = relays.map_err(io::Error::other)?;
        let mut doors = RelayDoors::open(relays, &self.configs, &interfaces.collect::<Vec<_>>(), self.limit)?;
        doors.spin_for(self.spin);
        self.tell_relays(&doors)?;
        if let Some((name, rest)) = self.planned.split_first() {
            let start = || Command::new(name).args(rest).spawn();
            #[cfg(target_os = "linux")]
            let started = slantpath_live::with_termination(start);
            #[cfg(not(target_os = "linux"))]
            let started = start();
            self.program = Some(started.map_err(|error| {
                io::Error::new(error.kind(), format!("cannot start `{}`: {error}", name.display()))
            })?);
        }
        doors.start();
        self.doors = Some(doors);
        Ok(())
    }

    fn wait(&mut self, turn: &mut Turn<'_>) -> io::Result<Option<Instant>> {
        let (present, next) = (turn.now, turn.next);
        let is_to_look = self.doors.as_ref().is_some_and(|doors| doors.now() >= self.looked + LOOK_EVERY);
        if is_to_look {
            self.looked = present;
            if self.is_over(present)? {
                return Ok(None);
            }
        }
        let Some(doors) = &mut self.doors else { return Ok(None) };
        let until = doors.turn(present, next, &mut |at, interface, packet| {
            // A host sends IP packets, or frames where the link carries those.
            let _ = turn.inject(at, interface, packet);
        })?;
        self.status.tell(doors, &self.attachments, &mut || turn.next_handover())?;
        self.note_void(present)?;
        #[cfg(target_os = "linux")]
        if let (Some(control), Some(doors)) = (&mut self.control, &mut self.doors) {
            control.tell_events(present);
            if is_to_look {
                control.answer(turn, doors, &self.attachments, self.void.as_deref());
            }
        }
        Ok(Some(until))
    }

    fn depart(&mut self, at: Instant, interface: InterfaceId, packet: Packet) -> io::Result<()> {
        if let Some(doors) = &mut self.doors {
            doors.depart(at, interface, packet);
        }
        Ok(())
    }

    fn beside(&mut self, work: Work) {
        // Without a thread the work is not done in time, which makes the run void.
        let _ = std::thread::Builder::new().name("sky".to_owned()).spawn(work);
    }

    fn handed_over(&mut self, handovers: Vec<SkyHandover>) {
        let Some(doors) = &self.doors else { return };
        let now = doors.now();
        for handover in handovers {
            self.handovers.record(now.saturating_since(handover.at));
            #[cfg(target_os = "linux")]
            if let Some(control) = &mut self.control {
                control.tell_handover(now, handover);
            }
        }
    }

    fn fail(&mut self, at: Instant, reason: String) {
        if self.void.is_none() {
            // Where nobody reads what is said, the exit status tells.
            let _ = self.make_void(at, reason);
        }
    }

    fn end(&mut self) -> io::Result<Vec<InterfaceReport>> {
        let Some(doors) = &mut self.doors else { return Ok(Vec::new()) };
        let end = doors.now();
        let reports: Vec<InterfaceReport> = doors.reports().iter().map(told::interface).collect();
        self.status.clear()?;
        told::print(&self.attachments, &reports)?;
        told::print_handovers(&self.handovers.summary())?;
        told::print_relays(doors.relays().counters())?;
        self.note_void(end)?;
        Ok(reports)
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

/// Asks a program to end: by SIGTERM, where there are signals.
#[cfg(unix)]
fn end(program: &mut Child) -> io::Result<()> {
    use nix::errno::Errno;
    use nix::sys::signal::{Signal, kill};
    // The number is its own until it has been waited for.
    let id = i32::try_from(program.id()).map_err(|_| io::ErrorKind::InvalidInput)?;
    match kill(nix::unistd::Pid::from_raw(id), Signal::SIGTERM) {
        // It has ended by itself.
        Err(Errno::ESRCH) => Ok(()),
        asked => Ok(asked?),
    }
}

#[cfg(not(unix))]
fn end(program: &mut Child) -> io::Result<()> {
    program.kill()
}

/// Exit code of a program as a shell tells it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code();
    #[cfg(unix)]
    let code = {
        use std::os::unix::process::ExitStatusExt as _;
        code.or_else(|| status.signal().map(|signal| SIGNALLED + signal))
    };
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
