//! Programs within a network.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;

use slantpath_system::SystemStep;
use slantpath_system::netlink::{Netlink, NetlinkError, Veth};
use slantpath_system::network::NetNamespace;
use slantpath_system::process::{Identity, NetworkProgram, ProgramCommand, StandardStream, wait_any};
use slantpath_system::reentry::{Entered, variables};
use slantpath_system::signals::{Signal, Signals};

use crate::outside::{CASE, MARKER, PASSED, end_of, wait_for};

/// Case that a program of another case runs: it tries to add links.
pub(crate) const POWERLESS: &str = "powerless";
/// Exit code of a program that may not add a link.
const REFUSED: i32 = 40;
/// Ids that no user of the test has.
const CALLER: Identity = Identity::Caller { uid: 1_234, gid: 2_345 };

pub(crate) fn program(network: &NetNamespace, command: ProgramCommand) -> NetworkProgram<'_> {
    NetworkProgram {
        command,
        network,
        identity: CALLER,
        hosts: None,
        environment: Vec::new(),
        stdin: StandardStream::Null,
        stdout: StandardStream::Pipe,
        stderr: StandardStream::Inherit,
        has_own_group: false,
    }
}

fn shell(text: &str) -> ProgramCommand {
    ProgramCommand::Shell(text.into())
}

/// Output of a program that succeeds.
fn output(program: &NetworkProgram<'_>) -> String {
    let mut running = program.spawn().unwrap();
    let mut text = String::new();
    running.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let status = end_of(&running).unwrap();
    assert!(status.success(), "{program:?}: {status}: {text}");
    text
}

pub(crate) fn surroundings(_: &Entered) -> u8 {
    let network = NetNamespace::new().unwrap();
    let link = || format!("net:[{}]\n", network.number().unwrap());
    let mut seen = program(&network, shell("id -u; id -g; readlink /proc/self/ns/net"));
    assert_eq!(output(&seen), format!("1234\n2345\n{}", link()));
    seen.identity = Identity::NamespaceRoot;
    assert_eq!(output(&seen), format!("0\n0\n{}", link()));
    // A file of hosts that only the program sees.
    let machine_s = std::fs::read_to_string("/etc/hosts").unwrap();
    let hosts = "10.9.0.1 one\n".repeat(10_000);
    let line = ["cat", "/etc/hosts"].map(OsString::from).to_vec();
    let mut cat = program(&network, ProgramCommand::Line(line));
    assert_eq!(output(&cat), machine_s);
    for identity in [CALLER, Identity::NamespaceRoot] {
        (cat.hosts, cat.identity) = (Some(hosts.as_str()), identity);
        assert_eq!(output(&cat), hosts);
    }
    assert_eq!(std::fs::read_to_string("/etc/hosts").unwrap(), machine_s);
    // The variables of the environment that it is given, and no descriptors but its streams.
    let mut seen =
        program(&network, shell("echo $SET; env | grep -c SLANTPATH_SYSTEM_INSIDE; echo /proc/self/fd/*"));
    let removed = variables(MARKER).map(|name| (name.into(), None));
    seen.environment = [&removed[..], &[("SET".into(), Some("a value".into()))]].concat();
    let text = output(&seen);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["a value", "0"]);
    // The last is the directory itself.
    assert!(!lines[2].contains("/4"), "{text}");
    // The directory that the file was made in is as it was.
    let listed =
        output(&NetworkProgram { hosts: Some(&hosts), ..program(&network, shell("ls /mnt /run /opt")) });
    let plain = output(&program(&network, shell("ls /mnt /run /opt")));
    assert_eq!(listed, plain);
    PASSED
}

pub(crate) fn rights(_: &Entered) -> u8 {
    let network = NetNamespace::new().unwrap();
    for (identity, code) in [(CALLER, REFUSED), (Identity::NamespaceRoot, 0)] {
        let mut own = program(&network, ProgramCommand::Line(vec!["/proc/self/exe".into()]));
        own.identity = identity;
        own.environment = vec![(CASE.into(), Some(POWERLESS.into()))];
        let status = end_of(&own.spawn().unwrap()).unwrap();
        assert_eq!(status.code(), Some(code), "{identity:?}");
    }
    PASSED
}

pub(crate) fn powerless() -> u8 {
    use std::os::fd::AsFd as _;
    let own = NetNamespace::own().unwrap();
    let veth = Veth {
        name: "one",
        address: crate::frames::NEAR,
        peer: "other",
        peer_address: crate::frames::FAR,
        peer_namespace: own.as_fd(),
        mtu: 1_500,
        gso_max_size: 65_536,
    };
    match Netlink::open().unwrap().add_veth(&veth) {
        Ok(()) => 0,
        Err(NetlinkError::Refused { source, .. })
            if source.kind() == std::io::ErrorKind::PermissionDenied =>
        {
            u8::try_from(REFUSED).unwrap()
        }
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn missing(_: &Entered) -> u8 {
    let network = NetNamespace::new().unwrap();
    for (line, told) in [
        (
            &["no-such-program", "argument"][..],
            "cannot start the program: `no-such-program` is in no directory of PATH",
        ),
        (&["/etc"], "cannot start the program: `/etc`: Permission denied (os error 13)"),
        (&[], "cannot start the program: the command line is empty"),
    ] {
        let line = line.iter().map(OsString::from).collect();
        let failure = program(&network, ProgramCommand::Line(line)).spawn().unwrap_err();
        assert_eq!((failure.step, failure.to_string().as_str()), (SystemStep::Exec, told));
    }
    assert!(wait_any().unwrap().is_none());
    PASSED
}

pub(crate) fn ends(_: &Entered) -> u8 {
    let network = NetNamespace::new().unwrap();
    let status = end_of(&program(&network, shell("exit 3")).spawn().unwrap()).unwrap();
    assert_eq!(status.code(), Some(3));
    // Signals that are held back here are not held back there.
    let signals = Signals::open(&[Signal::SIGTERM]).unwrap();
    let sleeping = program(&network, ProgramCommand::Line(["sleep", "60"].map(OsString::from).to_vec()));
    let running = sleeping.spawn().unwrap();
    running.signal(Signal::SIGTERM).unwrap();
    assert_eq!(end_of(&running).unwrap().signal(), Some(15));
    running.signal(Signal::SIGTERM).unwrap();
    assert!(signals.read().unwrap().is_none());
    // A group ends as one, and its orphans come to process 1.
    let mut group = program(&network, shell("sleep 60 & echo $!; sleep 60"));
    group.has_own_group = true;
    let mut running = group.spawn().unwrap();
    let mut octets = [0; 32];
    let len = running.stdout.as_mut().unwrap().read(&mut octets).unwrap();
    let orphan: u32 = std::str::from_utf8(&octets[..len]).unwrap().trim().parse().unwrap();
    running.signal(Signal::SIGKILL).unwrap();
    assert_eq!(end_of(&running).unwrap().signal(), Some(9));
    // All of them write to the pipe, which ends with the last.
    let mut output = running.stdout.take().unwrap();
    wait_for(&output);
    assert_eq!(output.read(&mut octets).unwrap(), 0);
    while let Ok(Some((_, status))) = rustix::process::wait(rustix::process::WaitOptions::empty())
        .map(|ended| ended.map(|(pid, status)| (pid.as_raw_pid().unsigned_abs(), status)))
    {
        assert_eq!(status.terminating_signal(), Some(9));
    }
    // Whoever has waited for it: nobody is left.
    assert!(!std::path::Path::new(&format!("/proc/{orphan}")).exists());
    PASSED
}
