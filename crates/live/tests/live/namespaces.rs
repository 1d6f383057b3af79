//! Network namespaces with links between them, or a router: a machine of its own for each end of an association.

use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;

use slantpath_testkit::{needs_program, skip};

/// Two namespaces, joined by links; they go with their value.
pub(crate) struct Namespaces {
    names: [String; 2],
    /// One between them.
    router: Option<String>,
}

impl Namespaces {
    /// Two namespaces with so many links. The ends of link `n` are called `vn` and have the addresses `10.82.n.1` and
    /// `10.82.n.2`, `fd82:n::1` and `fd82:n::2`. Nothing, loudly, without root.
    pub(crate) fn new(test: &str, links: usize) -> Option<Self> {
        if !Path::new("/proc/self/ns/net").exists() || !nix::unistd::geteuid().is_root() {
            let missing = io::Error::from(io::ErrorKind::PermissionDenied);
            needs_program(&missing, "network namespaces need root");
            return None;
        }
        let own = std::process::id();
        let names = ["a", "b"].map(|end| format!("slantpath-{test}-{own}-{end}"));
        for name in &names {
            if let Err(error) = ip(&["netns", "add", name]) {
                needs_program(&error, "apt-get install iproute2, and run as root");
                return None;
            }
        }
        let own = Self { names, router: None };
        for name in &own.names {
            ip(&["-n", name, "link", "set", "lo", "up"]).unwrap();
            // As those of IPv4, addresses stay with a link that goes down.
            set(name, "ipv6/conf/all/keep_addr_on_down");
        }
        for link in 0..links {
            let device = format!("v{link}");
            let [first, second] = &own.names;
            let pair = [
                "link", "add", &device, "netns", first, "type", "veth", "peer", "name", &device, "netns",
                second,
            ];
            ip(&pair).unwrap();
            for (end, name) in own.names.iter().enumerate() {
                for address in Self::addresses(link) {
                    let address = address.replace('*', &(end + 1).to_string());
                    let mut words = vec!["-n", name, "address", "add", &address, "dev", &device];
                    // Its uniqueness is not waited for.
                    words.extend(address.contains(':').then_some("nodad"));
                    ip(&words).unwrap();
                }
                ip(&["-n", name, "link", "set", &device, "up"]).unwrap();
            }
        }
        for link in 0..links {
            own.names.iter().for_each(|name| wait_until_up(name, &format!("v{link}")));
        }
        Some(own)
    }

    /// Two namespaces with a router between them, whose link to the second carries `mtu` bytes. The addresses are
    /// `10.83.n.1` and `fd83:n::1`, where `n` is 1 and 2; nobody has those with 9 in the last place.
    pub(crate) fn routed(test: &str, mtu: u16) -> Option<Self> {
        let mut own = Self::new(test, 0)?;
        let router = format!("slantpath-{test}-{}-r", std::process::id());
        ip(&["netns", "add", &router]).unwrap();
        for setting in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
            set(&router, setting);
        }
        for (name, n) in own.names.iter().zip(1..) {
            let device = format!("r{n}");
            ip(&[
                "link", "add", "v", "netns", name, "type", "veth", "peer", "name", &device, "netns", &router,
            ])
            .unwrap();
            for (place, device, last) in [(name, "v", "1"), (&router, &device[..], "2")] {
                ip(&["-n", place, "address", "add", &format!("10.83.{n}.{last}/24"), "dev", device]).unwrap();
                let address = format!("fd83:{n}::{last}/64");
                ip(&["-n", place, "address", "add", &address, "dev", device, "nodad"]).unwrap();
                ip(&["-n", place, "link", "set", device, "up"]).unwrap();
            }
            wait_until_up(name, "v");
            wait_until_up(&router, &device);
            for via in [format!("10.83.{n}.2"), format!("fd83:{n}::2")] {
                let family = if via.contains(':') { "-6" } else { "-4" };
                ip(&["-n", name, family, "route", "add", "default", "via", &via]).unwrap();
            }
        }
        for (place, device) in [(&router, "r2"), (&own.names[1], "v")] {
            ip(&["-n", place, "link", "set", device, "mtu", &mtu.to_string()]).unwrap();
        }
        own.router = Some(router);
        Some(own)
    }

    fn addresses(link: usize) -> [String; 2] {
        [format!("10.82.{link}.*/24"), format!("fd82:{link}::*/64")]
    }

    /// Takes a link up or down.
    pub(crate) fn set_link(&self, link: usize, state: &str) {
        ip(&["-n", &self.names[0], "link", "set", &format!("v{link}"), state]).unwrap();
    }

    /// Takes an address of the first namespace away, or gives it back.
    pub(crate) fn set_address(&self, address: IpAddr, link: usize, verb: &str) {
        let length = if address.is_ipv4() { 24 } else { 64 };
        let (address, device) = (format!("{address}/{length}"), format!("v{link}"));
        let mut words = vec!["-n", &self.names[0], "address", verb, &address, "dev", &device];
        words.extend((verb == "add" && address.contains(':')).then_some("nodad"));
        ip(&words).unwrap();
    }

    /// Has `ip` act in the first namespace or the second.
    pub(crate) fn ip(&self, end: usize, words: &str) {
        let words: Vec<&str> = ["-n", &self.names[end]].into_iter().chain(words.split(' ')).collect();
        ip(&words).unwrap();
    }

    /// Sets what a link carries, at both ends.
    pub(crate) fn set_link_mtu(&self, link: usize, mtu: u16) {
        for name in &self.names {
            ip(&["-n", name, "link", "set", &format!("v{link}"), "mtu", &mtu.to_string()]).unwrap();
        }
    }

    /// Lets this thread act in the first namespace or the second: what it opens belongs there for good.
    pub(crate) fn enter(&self, end: usize) {
        enter(&self.names[end]);
    }
}

/// Held while a program runs: it begins with copies of all that is open here, sockets of other tests among them, whose
/// ports stay taken until it has closed them.
static PROGRAM: Mutex<()> = Mutex::new(());

/// Lets this thread act in a namespace with a name, with all ports free that it has closed.
pub(crate) fn enter(name: &str) {
    drop(PROGRAM.lock());
    let file = File::open(Path::new("/run/netns").join(name)).unwrap();
    nix::sched::setns(file, nix::sched::CloneFlags::CLONE_NEWNET).unwrap();
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in self.names.iter().chain(&self.router) {
            if let Err(error) = ip(&["netns", "del", name]) {
                skip(&format!("the end of {name}: {error}"));
            }
        }
    }
}

/// Turns a setting of a namespace's network on.
fn set(name: &str, setting: &str) {
    let write = format!("echo 1 > /proc/sys/net/{setting}");
    ip(&["netns", "exec", name, "sh", "-c", &write]).unwrap();
}

fn ip(arguments: &[&str]) -> io::Result<()> {
    let output = output_of_ip(arguments)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("ip {}: {}", arguments.join(" "), said.trim())))
}

fn output_of_ip(arguments: &[&str]) -> io::Result<Output> {
    let _alone = PROGRAM.lock();
    Command::new("ip").args(arguments).output()
}

/// The system tells of a link up to a second after it has come up, and not at all if it is down again by then.
fn wait_until_up(name: &str, device: &str) {
    for _ in 0..100_000 {
        let said = output_of_ip(&["-n", name, "-brief", "link", "show", "dev", device]).unwrap();
        // Its name, then its state.
        if String::from_utf8_lossy(&said.stdout).split_whitespace().nth(1) == Some("UP") {
            return;
        }
    }
    panic!("{device} of {name} does not come up");
}
