//! Emulation without namespaces, on any system: attached nodes are hosts of ours, which relays join to ports of this
//! machine.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::sync::atomic::AtomicBool;

use slantpath_base::{Duration, Instant, Seed};
#[cfg(target_os = "linux")]
use slantpath_emulate::EndedProgram;
use slantpath_interface::InterfaceId;
#[cfg(target_os = "linux")]
use slantpath_operation::ControlSocket;
use slantpath_profiles::default::DEFAULT_PROFILE;
use slantpath_relay::{HostConfig, HostInterface, RelayConfig, RelayDoors, RelayProtocol, Relays, TcpConfig};
use slantpath_runner::schema::{NodeKind, TcpProfile};
use slantpath_runner::{
    Attachment, InterfaceReport, Outside, OwnKinds, Scenario, SkyHandover, Turn, Work, suggest,
};
use slantpath_wire::Packet;

#[cfg(target_os = "linux")]
use super::control::Control;
use super::machine_program::MachineProgram;
use super::state::EmulationState;
use super::{GRACE, beside, descriptors, quick, run, told};
use crate::arguments::EmulateArguments;
use crate::failure::Failure;
use crate::terminal::Visible;
use crate::{interrupt, terminal};

/// Node at which programs enter the network of an emulation without a file.
const NEAR: &str = "near";
/// Descriptors that are no relay's: files, clients and clocks.
const OTHER_DESCRIPTORS: usize = 64;
/// Time between two looks at programs, at clients and at Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(20);

pub(super) fn main(arguments: &EmulateArguments, own: &OwnKinds) -> Result<(), Failure> {
    let scenario = quick::scenario(arguments, own)?;
    for warning in scenario.warnings() {
        terminal::warn(warning)?;
    }
    let configs = configs(arguments, &scenario)?;
    let mut emulation = Relayed::new(configs, &scenario, arguments, interrupt::flag());
    #[cfg(target_os = "linux")]
    if let Some(path) = &arguments.control {
        let socket =
            ControlSocket::open(path).map_err(|error| Failure::Misused(format!("--control: {error}")))?;
        emulation.state.control = Some(Control::new(socket, &scenario));
    }
    #[cfg(not(target_os = "linux"))]
    if arguments.control.is_some() {
        return Err(Failure::Misused(
            "--control needs Linux: its socket is one of the file system".to_owned(),
        ));
    }
    run(arguments, &scenario, &mut emulation)?;
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
    doors: Option<RelayDoors>,
    /// Program that is to be started, with its arguments.
    planned: Vec<OsString>,
    program: Option<MachineProgram>,
    /// Exit code of the program, once it has ended.
    outcome: Option<u8>,
    /// True once the program was asked to end.
    is_asked: bool,
    /// Instant at which programs and clients were looked at last.
    looked: Instant,
    state: EmulationState<'a>,
}

impl<'a> Relayed<'a> {
    fn new(
        configs: Vec<RelayConfig>,
        scenario: &Scenario,
        arguments: &EmulateArguments,
        stop: &'a AtomicBool,
    ) -> Self {
        Self {
            configs,
            tcp: scenario.tcp.find(DEFAULT_PROFILE).map(TcpProfile::config).unwrap_or_default(),
            seed: Seed::new(*scenario.scenario.seed, 0),
            limit: arguments.late,
            spin: arguments.spin,
            doors: None,
            planned: arguments.program.clone(),
            program: None,
            outcome: None,
            is_asked: false,
            looked: Instant::START,
            state: EmulationState::new(scenario, arguments.late, stop, !arguments.program.is_empty()),
        }
    }

    /// Tells if the run is over: the program has ended, or has had its time to.
    fn is_over(&mut self, now: Instant) -> io::Result<bool> {
        if let Some(program) = &mut self.program
            && let Some(code) = program.ended()?
        {
            self.outcome = Some(code);
            self.program = None;
            #[cfg(target_os = "linux")]
            self.state.tell_ended(now, vec![EndedProgram { node: self.configs[0].from.clone(), code }]);
        }
        let Some(since) = self.state.ending(now, self.outcome.is_some()) else { return Ok(false) };
        let Some(program) = &mut self.program else { return Ok(true) };
        if !std::mem::replace(&mut self.is_asked, true) {
            program.ask_to_end()?;
        }
        Ok(now >= since + GRACE)
    }

    /// Says where programs find the network, and what is not theirs.
    fn tell_relays(&self, doors: &RelayDoors) -> io::Result<()> {
        let mut out = Visible(io::stderr().lock());
        for (config, bound) in self.configs.iter().zip(doors.bound()) {
            let RelayConfig { protocol, from, to, server, .. } = config;
            let is_attached = self.state.attachments.iter().any(|node| node.node == *to);
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
        // It had its time.
        self.program = None;
        self.state.conclude(had_program.then_some("the program was ended"), self.outcome.map(Ok))
    }
}

impl Outside for Relayed<'_> {
    fn changes_links(&self) -> bool {
        self.state.changes_links()
    }

    fn begin(&mut self, attachments: &[Attachment]) -> io::Result<()> {
        self.state.attachments = attachments.to_vec();
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
            self.program = Some(MachineProgram::start(name, rest)?);
        }
        let sockets: usize = self.configs.iter().map(RelayConfig::sockets_max).sum();
        descriptors::allow(sockets + OTHER_DESCRIPTORS);
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
        let state = &mut self.state;
        state.status.tell(doors, &state.attachments, turn)?;
        state.note_void(present, doors.void());
        #[cfg(target_os = "linux")]
        if let Some(control) = &mut state.control {
            control.tell_events(present);
            if is_to_look {
                control.answer(turn, doors, &state.attachments, state.void.as_deref());
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
        beside(work);
    }

    fn handed_over(&mut self, handovers: Vec<SkyHandover>) {
        let Some(doors) = &self.doors else { return };
        self.state.handed_over(doors.now(), handovers);
    }

    fn fail(&mut self, at: Instant, reason: String) {
        self.state.fail(at, reason);
    }

    fn end(&mut self) -> io::Result<Vec<InterfaceReport>> {
        let Some(doors) = &mut self.doors else { return Ok(Vec::new()) };
        let end = doors.now();
        let reports = self.state.tell_reports(&doors.reports());
        told::print_relays(doors.relays().counters());
        self.state.note_void(end, doors.void());
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
