//! NodePrograms of an emulation, as the command line names them.

use std::ffi::OsString;

use slantpath_emulate::{NodeProgram, Terminal};
use slantpath_runner::schema::NodeKind;
use slantpath_runner::{Scenario, suggest};

use slantpath_system::process::{Identity, ProgramCommand};
use slantpath_system::reentry::Entered;

use crate::arguments::EmulateArguments;
use crate::failure::Failure;

/// Node in which the program behind `--` runs, of an emulation without a file.
const NEAR: &str = "near";

/// The programs in the order in which they are started. At the end of the last one all is over.
pub(super) fn of(
    arguments: &EmulateArguments,
    scenario: &Scenario,
    origin: &Entered,
) -> Result<Vec<NodeProgram>, Failure> {
    let (attached, ports) = attached(scenario);
    if attached.is_empty() && ports.is_empty() {
        let message = "the scenario has no attached node: give one `kind = \"attached\"`";
        return Err(Failure::Misused(message.to_owned()));
    }
    let mut programs = Vec::new();
    for pair in arguments.commands.chunks_exact(2) {
        programs.push((
            known("--in", &pair[0], &attached)?,
            ProgramCommand::Shell(pair[1].clone().into()),
            Terminal::Apart,
        ));
    }
    if let Some(node) = &arguments.shell {
        let shell = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
        let command = ProgramCommand::Line(vec![shell]);
        programs.push((known("--shell", node, &attached)?, command, Terminal::Whole));
    }
    if !arguments.program.is_empty() {
        if arguments.scenario.is_some() {
            let message = format!(
                "say in which node it runs: --in NODE '{}'; nodes: {}",
                words(&arguments.program),
                attached.join(", ")
            );
            return Err(Failure::Misused(message));
        }
        let command = ProgramCommand::Line(arguments.program.clone());
        programs.push((NEAR.to_owned(), command, Terminal::Input));
    }
    // What exists already needs none: it ends by Ctrl-C.
    let has_own_users = !ports.is_empty() || scenario.nodes.iter().any(|(_, node)| node.namespace.is_some());
    if programs.is_empty() && !has_own_users {
        let message =
            format!("name a program: --in NODE 'COMMAND', or --shell NODE; nodes: {}", attached.join(", "));
        return Err(Failure::Misused(message));
    }
    for node in &arguments.root {
        known("--root", node, &attached)?;
    }
    let ready =
        arguments.ready.iter().map(|ready| ready_at(ready, &attached)).collect::<Result<Vec<_>, _>>()?;
    let last_of = |node: &str| programs.iter().rposition(|(own, ..)| own == node);
    let mut configs = Vec::new();
    for (place, (node, command, terminal)) in programs.iter().enumerate() {
        let after = ready.iter().filter(|(node, _)| last_of(node).is_some_and(|last| last < place));
        configs.push(NodeProgram {
            node: node.clone(),
            command: command.clone(),
            after: after.cloned().collect(),
            terminal: *terminal,
            identity: identity(arguments.root.contains(node), origin),
        });
    }
    if let Some((node, port)) = ready.iter().find(|(node, _)| last_of(node).is_none()) {
        return Err(Failure::Misused(format!(
            "--ready {node}:{port}: no program runs in `{node}` that could listen"
        )));
    }
    Ok(configs)
}

fn words(program: &[OsString]) -> String {
    program.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// A program is whoever has called, unless it is to be root. Who has called as root is that anyway.
fn identity(is_root: bool, origin: &Entered) -> Identity {
    match (is_root, origin.uid) {
        (true, _) | (false, 0) => Identity::NamespaceRoot,
        (false, uid) => Identity::Caller { uid, gid: origin.gid },
    }
}

/// Names of the attached nodes of a scenario, and of those that are ports: no program of this machine runs there.
fn attached(scenario: &Scenario) -> (Vec<&str>, Vec<&str>) {
    let attached = scenario.nodes.iter().filter(|(_, node)| *node.kind == NodeKind::Attached);
    let (ports, places): (Vec<_>, Vec<_>) = attached.partition(|(_, node)| node.device.is_some());
    let [places, ports] = [places, ports].map(|nodes| nodes.into_iter().map(|(name, _)| name).collect());
    (places, ports)
}

fn known(flag: &str, node: &str, attached: &[&str]) -> Result<String, Failure> {
    if attached.contains(&node) {
        return Ok(node.to_owned());
    }
    let help = suggest(node, "attached nodes", attached);
    Err(Failure::Misused(format!("{flag} {node}: there is no attached node `{node}`: {help}")))
}

/// Reads a node and a port, `NODE:PORT`.
fn ready_at(text: &str, attached: &[&str]) -> Result<(String, u16), Failure> {
    let split = text.rsplit_once(':').and_then(|(node, port)| Some((node, port.parse::<u16>().ok()?)));
    match split {
        Some((node, port)) if port > 0 => Ok((known("--ready", node, attached)?, port)),
        _ => Err(Failure::Misused(format!("--ready {text}: write a node and a port, like `far:5201`"))),
    }
}
