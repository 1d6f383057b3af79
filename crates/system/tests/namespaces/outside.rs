//! Runs every case, as every user, and holds that nothing is left of it.

use std::env;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use slantpath_system::poll::Poll;
use slantpath_system::reentry::{self, Entered};
use slantpath_system::{SystemFailure, process};

use crate::{frames, lives, networks, programs};

/// Variable that names the case that a process is to run.
pub(crate) const CASE: &str = "SLANTPATH_SYSTEM_CASE";
/// Variable that says that the process has been started anew.
pub(crate) const MARKER: &str = "SLANTPATH_SYSTEM_INSIDE";
/// Variable with the ids that the user has outside.
const IDS: &str = "SLANTPATH_SYSTEM_IDS";
/// Variable with the namespaces outside.
const NAMESPACES: &str = "SLANTPATH_SYSTEM_NAMESPACES";
/// A user and group without rights.
const UNPRIVILEGED: u32 = 1_000;
/// Exit code of a case that has come to its end, and of nothing else.
pub(crate) const PASSED: u8 = 33;
/// Exit code of a case that is skipped.
const SKIPPED: i32 = 77;
/// Longer than any case takes that does not hang.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// Case that runs in namespaces of its own, as process 1.
type Inside = (&'static str, fn(&Entered) -> u8);

const INSIDE: &[Inside] = &[
    ("a frame is received as it was sent, with the kernel's time", frames::arrive),
    ("an offload header and a tag pass", frames::offload),
    ("frames without room are counted", frames::drops),
    ("datagrams pass between two networks", networks::datagrams),
    ("what cannot be is refused with its reason", networks::refusals),
    ("offloads of SCTP are switched off and no others", networks::offloads),
    ("a refusal names the setting that is to be changed", networks::limits),
    ("work is done within a network", networks::work),
    ("a program sees its network, its hosts and its ids", programs::surroundings),
    ("a program without rights has none over its network", programs::rights),
    ("a program that does not exist is named", programs::missing),
    ("the end of a program and of its children is told", programs::ends),
    ("process 1 knows from where it came", lives::origin),
    // Of the cases of `lives`.
    (lives::SEVEN, lives::seven),
    (lives::SLEEPER, lives::sleeper),
];

/// User by whom cases are run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct User {
    name: &'static str,
    /// Ids that are taken on, if they are not those of the test.
    ids: Option<u32>,
}

impl User {
    /// This program with a case.
    pub(crate) fn command(self, case: &str) -> Command {
        let mut command = Command::new("/proc/self/exe");
        let own = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        let (uid, gid) = self.ids.map_or(own, |id| (id, id));
        if let Some(id) = self.ids {
            command.uid(id).gid(id);
        }
        command.env(CASE, case).env(IDS, format!("{uid} {gid}")).stdin(Stdio::null());
        command.env(NAMESPACES, own_namespaces().join(" "));
        command
    }
}

pub(crate) fn main() {
    if let Ok(case) = env::var(CASE) {
        std::process::exit(run_case(&case).into());
    }
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if env::args().any(|word| word == "--list") {
        return;
    }
    let is_chosen = |case: &str| words.iter().all(|word| case.contains(word.as_str()));
    // Orphans come to this process, which then knows if any is left.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
    let mut users = vec![User { name: "the user of the test", ids: None }];
    if rustix::process::geteuid().is_root() {
        users.push(User { name: "a user without rights", ids: Some(UNPRIVILEGED) });
    }
    let before = Machine::now();
    let mut passed = 0;
    for user in users {
        // In a container the other user may be none, or may not be taken on.
        let why = match user.command(lives::SEVEN).status() {
            Ok(status) if is_skipped(status) => "refused".to_owned(),
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        if !why.is_empty() {
            eprintln!("skipped: namespaces, as {}: {why}", user.name);
            continue;
        }
        let inside = INSIDE.iter().filter(|(case, _)| !lives::OWN.contains(case) && is_chosen(case));
        for (case, _) in inside {
            let status = user.command(case).status().unwrap();
            assert_eq!(status.code(), Some(PASSED.into()), "{case}, as {}: {status}", user.name);
            assert_nothing_is_left(&before);
            passed += 1;
        }
        for (_, run) in lives::OUTSIDE.iter().filter(|(case, _)| is_chosen(case)) {
            run(user);
            assert_nothing_is_left(&before);
            passed += 1;
        }
    }
    eprintln!("{passed} cases of namespaces have passed");
}

fn is_skipped(status: ExitStatus) -> bool {
    status.code() == Some(SKIPPED)
}

/// The case in this process: anew, or in it if that has been done.
fn run_case(case: &str) -> u8 {
    if case == programs::POWERLESS {
        return programs::powerless();
    }
    match reentry::entered(MARKER).unwrap() {
        Some(origin) => {
            let (_, run) = INSIDE.iter().find(|(name, _)| *name == case).expect("a case of the list");
            run(&origin)
        }
        None => match reentry::reenter(MARKER) {
            Ok(code) => code,
            Err(failure) => refused(&failure),
        },
    }
}

fn refused(failure: &SystemFailure) -> u8 {
    let setting = failure.setting().expect("no other reason than a setting of the machine");
    eprintln!("skipped: {failure} ({setting})");
    u8::try_from(SKIPPED).unwrap()
}

/// Ids of the user outside.
pub(crate) fn ids() -> String {
    env::var(IDS).unwrap()
}

/// Namespaces outside, as [`own_namespaces`] gives them there.
pub(crate) fn namespaces() -> Vec<String> {
    env::var(NAMESPACES).unwrap().split(' ').map(str::to_owned).collect()
}

/// Namespaces of this process that are to be its own.
pub(crate) fn own_namespaces() -> Vec<String> {
    let link = |kind| std::fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
    ["ipc", "mnt", "net", "pid"].map(|kind| link(kind).into_os_string().into_string().unwrap()).to_vec()
}

/// State of the machine that cases must not change.
#[derive(Debug, PartialEq, Eq)]
struct Machine {
    mounts: String,
    links: Vec<String>,
    descriptors: usize,
    network: PathBuf,
}

impl Machine {
    fn now() -> Self {
        let names = |directory: &str| {
            let entries = std::fs::read_dir(directory).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        Self {
            mounts: std::fs::read_to_string("/proc/self/mountinfo").unwrap(),
            links: names("/proc/sys/net/ipv4/conf"),
            descriptors: names("/proc/self/fd").len(),
            network: std::fs::read_link("/proc/self/ns/net").unwrap(),
        }
    }
}

fn assert_nothing_is_left(before: &Machine) {
    assert_eq!(*before, Machine::now());
    let children = rustix::process::wait(rustix::process::WaitOptions::NOHANG);
    assert_eq!(children.err(), Some(rustix::io::Errno::CHILD), "a process is left");
}

/// Waits until a descriptor is ready, but not for ever.
pub(crate) fn wait_for(descriptor: impl std::os::fd::AsFd) {
    let mut poll = Poll::new().unwrap();
    poll.add(descriptor, 1).unwrap();
    assert_eq!(poll.wait(Some(LIMIT)).unwrap(), [1], "nothing has come");
}

/// Waits until a child has ended, and gives its status; others that end are reaped.
pub(crate) fn end_of(running: &process::Running) -> io::Result<ExitStatus> {
    wait_for(running);
    loop {
        match process::wait_any()? {
            Some((pid, status)) if pid == running.pid => return Ok(status),
            Some(_) => {}
            None => return Err(io::ErrorKind::NotFound.into()),
        }
    }
}
