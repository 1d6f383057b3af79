//! Processes that are started anew: how they end, and what ends with them.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};

use rustix::process::{Pid, PidfdFlags, Signal as RawSignal, WaitOptions};
use slantpath_system::network::NetNamespace;
use slantpath_system::process::{Identity, NetworkProgram, ProgramCommand, StandardStream};
use slantpath_system::reentry::Entered;
use slantpath_system::signals::{Signal, Signals};

use crate::outside::{PASSED, User, ids, namespaces, own_namespaces, wait_for};

/// Cases that others start.
pub(crate) const OWN: [&str; 2] = [SEVEN, SLEEPER];
pub(crate) const SEVEN: &str = "seven";
pub(crate) const SLEEPER: &str = "sleeper";
/// Exit code of a sleeper that was asked to end.
const ASKED: i32 = 42;

type Outside = (&'static str, fn(User));

pub(crate) const OUTSIDE: &[Outside] = &[
    ("the exit code passes", exit_code),
    ("a signal passes, and the program decides", forwarded),
    ("a killed program has the code of its signal", killed),
    ("with the caller all ends", all_ends),
    ("with the process in the middle all ends", all_ends_with_the_middle),
    ("nothing is left of twenty", twenty),
];

pub(crate) fn origin(origin: &Entered) -> u8 {
    assert_eq!(format!("{} {}", origin.uid, origin.gid), ids());
    assert_eq!(std::process::id(), 1);
    assert!(rustix::process::geteuid().is_root());
    for (own, outside) in own_namespaces().iter().zip(namespaces()) {
        assert_ne!(*own, outside);
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(" shared:") && !mounts.contains(" master:"), "{mounts}");
    // The caller's mask of signals, and not that with which it waits.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    assert!(status.contains("\nSigBlk:\t0000000000000000\n"), "{status}");
    // Processes of the namespace alone.
    let names = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name());
    let processes: Vec<u32> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    assert_eq!(processes, [1]);
    PASSED
}

pub(crate) fn seven(_: &Entered) -> u8 {
    7
}

/// Waits for SIGTERM, with a program beside it that sleeps.
pub(crate) fn sleeper(_: &Entered) -> u8 {
    let signals = Signals::open(&[Signal::SIGTERM, Signal::SIGINT]).unwrap();
    let network = NetNamespace::new().unwrap();
    let program = NetworkProgram {
        command: ProgramCommand::Shell("echo ready; sleep 60 & sleep 60".into()),
        network: &network,
        identity: Identity::Caller { uid: 1, gid: 1 },
        hosts: None,
        environment: Vec::new(),
        stdin: StandardStream::Null,
        stdout: StandardStream::Inherit,
        stderr: StandardStream::Inherit,
        has_own_group: true,
    };
    let _running = program.spawn().unwrap();
    wait_for(&signals);
    let signal = signals.read().unwrap().unwrap();
    assert!(signal.is_from_program);
    assert_eq!(signal.number, Signal::SIGTERM as i32);
    u8::try_from(ASKED).unwrap()
}

fn exit_code(user: User) {
    assert_eq!(user.command(SEVEN).status().unwrap().code(), Some(7));
}

/// A sleeper, once its program runs, and its descendants by their ids.
fn start(user: User) -> (Child, Vec<u32>) {
    let mut child = user.command(SLEEPER).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    assert_eq!(&ready, b"ready\n");
    let descendants = descendants(child.id());
    // The process in the middle, the inner one and the shell; its children may not be there yet.
    assert!((3..=5).contains(&descendants.len()), "{descendants:?}");
    (child, descendants)
}

/// Ids of the processes below one, parents first.
fn descendants(of: u32) -> Vec<u32> {
    let mut parents = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").unwrap() {
        let name = entry.unwrap().file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) else { continue };
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse::<u32>().ok());
        parents.extend(parent.map(|parent| (pid, parent)));
    }
    let mut found = vec![of];
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        found.extend(parents.iter().filter(|(_, of)| **of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.split_off(1)
}

fn handle(pid: u32) -> OwnedFd {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::pidfd_open(pid, PidfdFlags::empty()).unwrap()
}

/// Kills one of a sleeper's processes, and waits until all have ended.
fn kill(user: User, which: usize) -> std::process::ExitStatus {
    let (mut child, descendants) = start(user);
    let all: Vec<u32> = [&[child.id()][..], &descendants].concat();
    let handles: Vec<OwnedFd> = all.iter().map(|&pid| handle(pid)).collect();
    rustix::process::pidfd_send_signal(&handles[which], RawSignal::KILL).unwrap();
    for handle in &handles {
        wait_for(handle);
    }
    let status = child.wait().unwrap();
    // Orphans are this process's now.
    while rustix::process::wait(WaitOptions::empty()).is_ok() {}
    status
}

fn forwarded(user: User) {
    let (mut child, _) = start(user);
    rustix::process::pidfd_send_signal(handle(child.id()), RawSignal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(ASKED));
}

fn killed(user: User) {
    assert_eq!(kill(user, 2).code(), Some(128 + 9));
}

fn all_ends(user: User) {
    assert_eq!(kill(user, 0).signal(), Some(9));
}

fn all_ends_with_the_middle(user: User) {
    assert_eq!(kill(user, 1).code(), Some(128 + 9));
}

fn twenty(user: User) {
    for _ in 0..20 {
        exit_code(user);
    }
}
