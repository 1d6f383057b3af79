//! The network of the tests: us, a router, a guest kernel that is a peer and a second router, and a peer behind it.
//!
//! Three links of each kind lie side by side:
//!
//! ```text
//!  us ── v0 ── router ── k0 ── guest ── b0, w0 ── usrsctp
//!     ── v1 ──        ── k1 ──       ── b1, w1 ──
//!     ── v2 ──        ── k2 ──       ── b2, w2 ── another, which none of the faults touch
//! ```
//!
//! Link `n` has 10.82.n.0/24 and fd82:n::/48. What faults there are is the guest's doing (netem), and the router's, who
//! knows how long a packet may be. The machine's own kernel needs no SCTP and no netem.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use slantpath_testkit::{needs_program, skip};
use socket2::{Domain, Protocol, SockFilter, Socket, Type};

use crate::cases::Underlay;

/// Number of links that lie side by side.
const LINKS: usize = 3;
/// Address that the guest connects to: the router's end of the link that has no faults.
const CONTROL: &str = "10.82.2.66";

/// Direction of packets on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    ToPeer,
    ToUs,
}

/// Place at which a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Us,
    Router,
    Usrsctp,
    OtherUsrsctp,
}

/// The network; it goes with its value.
pub(crate) struct Network {
    name: String,
    scripts: PathBuf,
    commands: Mutex<Commands>,
    outputs: TcpListener,
    shell: Child,
    /// So that the kernels of the namespaces have somebody for protocol 132 while nobody is at home.
    _at_home: Vec<Socket>,
}

/// The connection to the guest.
struct Commands {
    requests: TcpStream,
    answers: BufReader<TcpStream>,
}

impl Network {
    /// Starts it; nothing, loudly, where a guest cannot run.
    pub(crate) fn start(underlay: Underlay) -> Option<Self> {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/peers/linux-sctp");
        let Ok(scripts) = scripts.canonicalize() else {
            skip("there is no shared peers/linux-sctp here");
            return None;
        };
        if !nix::unistd::geteuid().is_root() || !Path::new("/dev/net/tun").exists() {
            skip("a guest kernel needs root and /dev/net/tun");
            return None;
        }
        let name = format!("sp-interop-{}-{}", std::process::id(), underlay.name());
        let links = (0..LINKS).map(|n| {
            let [router, guest] = ["66", "67"].map(|last| format!("10.82.{n}.{last}/26"));
            format!("k{n},{router}+fd82:{n}:0:2::2/64,{guest}+fd82:{n}:0:2::3/64")
        });
        let behind = (0..LINKS).map(|n| format!("u{n},@b{n},10.82.{n}.130/26+fd82:{n}:0:3::3/64"));
        let mut up =
            Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/user-mode-linux/up"));
        up.arg(&scripts).args([name.clone(), namespace(&name, Place::Router)]).args(links).args(behind);
        // It ends by itself, if this is killed.
        let up = up.env("GUEST_LIFE", "1800").output().expect("a script that starts");
        if !up.status.success() {
            let said = String::from_utf8_lossy(&up.stderr).trim().to_owned();
            needs_program(&std::io::Error::other(said), "apt-get install user-mode-linux");
            return None;
        }
        let network = Self::join(name, scripts);
        if underlay == Underlay::Udp {
            // A burst that the guest's kernel leaves to its driver to cut gets lost there if it is in UDP.
            let devices = (0..LINKS).map(|n| format!("vec{n}")).collect::<Vec<_>>().join(" ");
            network.guest(&format!("for d in {devices}; do ip link set $d gso_max_size 1400; done"));
            network.guest("sysctl -qw net.sctp.udp_port=9899 net.sctp.encap_port=9899");
        }
        Some(network)
    }

    /// The namespaces around a guest that runs.
    fn join(name: String, scripts: PathBuf) -> Self {
        let of = |place| namespace(&name, place);
        let [us, router] = [of(Place::Us), of(Place::Router)];
        for place in [Place::Us, Place::Usrsctp, Place::OtherUsrsctp] {
            ip(&["netns", "add", &of(place)]);
            ip(&["-n", &of(place), "link", "set", "lo", "up"]);
        }
        let forwarding = ["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"];
        run("ip", &[&["netns", "exec", &router, "sysctl", "-qw"], &forwarding[..]].concat());
        for n in 0..LINKS {
            let v = format!("v{n}");
            let pair =
                ["link", "add", &v, "netns", &us, "type", "veth", "peer", "name", &v, "netns", &router];
            ip(&pair);
            address(&us, &v, &format!("10.82.{n}.1/26"), &format!("fd82:{n}:0:1::1/64"));
            address(&router, &v, &format!("10.82.{n}.2/26"), &format!("fd82:{n}:0:1::2/64"));
            route(&us, &format!("10.82.{n}.0/24"), &format!("10.82.{n}.2"));
            route(&us, &format!("fd82:{n}::/48"), &format!("fd82:{n}:0:1::2"));
            route(&router, &format!("10.82.{n}.128/26"), &format!("10.82.{n}.67"));
            route(&router, &format!("fd82:{n}:0:3::/64"), &format!("fd82:{n}:0:2::3"));

            let peer = of(if n == 2 { Place::OtherUsrsctp } else { Place::Usrsctp });
            let w = format!("w{n}");
            let pair =
                ["link", "add", &w, "netns", &router, "type", "veth", "peer", "name", &w, "netns", &peer];
            ip(&pair);
            ip(&["-n", &router, "link", "set", &w, "master", &format!("b{n}")]);
            ip(&["-n", &router, "link", "set", &w, "up"]);
            address(&peer, &w, &format!("10.82.{n}.131/26"), &format!("fd82:{n}:0:3::4/64"));
            route(&peer, &format!("10.82.{n}.0/25"), &format!("10.82.{n}.130"));
            route(&peer, &format!("fd82:{n}::/48"), &format!("fd82:{n}:0:3::3"));
        }
        let mut at_home = Vec::new();
        for place in [Place::Us, Place::Usrsctp, Place::OtherUsrsctp] {
            enter(&of(place));
            for domain in [Domain::IPV4, Domain::IPV6] {
                at_home.push(at_home_for(domain));
            }
        }
        enter(&router);
        let listener = TcpListener::bind((CONTROL, 0)).expect("an address of the router");
        let outputs = TcpListener::bind((CONTROL, 0)).expect("an address of the router");
        let port = listener.local_addr().expect("it is bound").port().to_string();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/guest.sh");
        let mut shell = Command::new(scripts.join("run-in-guest"));
        shell.args([&name, "bash", script.to_str().expect("a path of text")]);
        let shell = shell.args([&LINKS.to_string(), CONTROL, &port]).stdout(Stdio::null()).spawn();
        let shell = shell.expect("a script that starts");
        let (requests, _) = listener.accept().expect("the guest's script connects");
        requests.set_nodelay(true).expect("a TCP socket");
        let answers = BufReader::new(requests.try_clone().expect("a socket"));
        let commands = Mutex::new(Commands { requests, answers });
        enter(&us);
        Self { name, scripts, commands, outputs, shell, _at_home: at_home }
    }

    /// Lets this thread act where we are: what it opens belongs there for good.
    pub(crate) fn enter(&self) {
        enter(&namespace(&self.name, Place::Us));
    }

    /// Has the guest's shell do something, and gives what it prints.
    pub(crate) fn guest(&self, line: &str) -> String {
        self.commands.lock().expect("no thread has failed with it").tell(line)
    }

    /// Starts a program in the guest: its number there, and what it prints.
    pub(crate) fn start_in_guest(&self, line: &str) -> (String, TcpStream) {
        let port = self.outputs.local_addr().expect("it is bound").port();
        let mut commands = self.commands.lock().expect("no thread has failed with it");
        let number = commands.tell(&format!("{line} <>/dev/tcp/{CONTROL}/{port} >&0 2>&1 & echo $!"));
        let (output, _) = self.outputs.accept().expect("the guest's shell connects");
        (number, output)
    }

    /// A program in a namespace.
    pub(crate) fn command(&self, place: Place, program: &Path) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &namespace(&self.name, place)]).arg(program);
        command
    }

    /// Damages what goes over a link, in netem's words.
    pub(crate) fn damage(&self, link: usize, way: Way, netem: &str) {
        let device = match way {
            Way::ToPeer => format!("ifb{link}"),
            Way::ToUs => format!("vec{link}"),
        };
        self.guest(&format!("tc qdisc replace dev {device} root netem limit 10000 {netem}"));
    }

    /// Loses all that goes over a link, in one direction.
    pub(crate) fn cut(&self, link: usize, way: Way) {
        self.damage(link, way, "loss 100%");
    }

    /// Ends all damage; the guest forgets what it has heard of small links.
    pub(crate) fn heal(&self) {
        let all = (0..LINKS).map(|n| format!("ifb{n} vec{n}")).collect::<Vec<_>>().join(" ");
        self.guest(&format!(
            "for d in {all}; do tc qdisc del dev $d root 2>/dev/null; done; \
             ip route flush cache; ip -6 route flush cache"
        ));
    }

    /// Has the router carry no more than so many bytes between us and an address of the guest, or one behind it, and,
    /// if it is to be a black hole, say nothing of it.
    pub(crate) fn narrow(
        &self,
        link: usize,
        is_guest: bool,
        peer: IpAddr,
        mtu: u16,
        is_black_hole: bool,
    ) -> Narrow {
        let router = namespace(&self.name, Place::Router);
        let (version, ours, guest) = match peer {
            IpAddr::V4(_) => ("-4", format!("10.82.{link}.1"), format!("10.82.{link}.67")),
            IpAddr::V6(_) => ("-6", format!("fd82:{link}:0:1::1"), format!("fd82:{link}:0:2::3")),
        };
        let (peer, mtu) = (&*peer.to_string(), mtu.to_string());
        let mut undo = Vec::new();
        let mut add = |what: &str, words: &[&str]| {
            let words = |verb| [&["-n", &router, version, what, verb][..], words].concat();
            ip(&words("add"));
            undo.push(words("del").into_iter().map(str::to_owned).collect());
        };
        let (peers_link, we) = (format!("k{link}"), format!("v{link}"));
        if is_guest {
            add("route", &[peer, "dev", &peers_link, "mtu", "lock", &mtu]);
        } else {
            add("route", &[peer, "via", &guest, "mtu", "lock", &mtu]);
        }
        add("route", &[&ours, "dev", &we, "mtu", "lock", &mtu]);
        if is_black_hole {
            // What the router itself sends has no interface that it came in by.
            add("rule", &["iif", "lo", "to", &ours, "blackhole"]);
            add("rule", &["iif", "lo", "to", peer, "blackhole"]);
        }
        Narrow { undo }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let down = Command::new(self.scripts.join("down")).arg(&self.name).output();
        if !down.is_ok_and(|output| output.status.success()) {
            skip(&format!("the guest {} has not ended", self.name));
        }
        if let Err(error) = self.shell.wait() {
            skip(&format!("the guest's shell: {error}"));
        }
        for place in [Place::Us, Place::Usrsctp, Place::OtherUsrsctp] {
            ip(&["netns", "del", &namespace(&self.name, place)]);
        }
    }
}

/// A small link; it is as large as before once this is dropped.
pub(crate) struct Narrow {
    undo: Vec<Vec<String>>,
}

impl Drop for Narrow {
    fn drop(&mut self) {
        for words in &self.undo {
            ip(&words.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}

impl Commands {
    fn tell(&mut self, line: &str) -> String {
        writeln!(self.requests, "{line}").expect("the guest listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("the guest answers");
        let (status, said) = answer.trim_end().split_once(' ').unwrap_or((answer.trim_end(), ""));
        assert_eq!(status, "0", "{line}: {said}");
        said.to_owned()
    }
}

fn namespace(name: &str, place: Place) -> String {
    let end = match place {
        Place::Us => "us",
        Place::Router => "router",
        Place::Usrsctp => "usrsctp",
        Place::OtherUsrsctp => "other",
    };
    format!("{name}-{end}")
}

/// A socket that takes nothing in: a kernel answers what nobody takes with "protocol unreachable", which ends
/// associations, and so it does where the buffers of all others are full.
fn at_home_for(domain: Domain) -> Socket {
    let socket = Socket::new(domain, Type::RAW, Some(Protocol::from(132))).expect("root");
    // BPF_RET | BPF_K: keep so many bytes.
    socket.attach_filter(&[SockFilter::new(0x06, 0, 0, 0)]).expect("a filter");
    socket
}

fn enter(namespace: &str) {
    let file = File::open(Path::new("/run/netns").join(namespace)).expect("a namespace with a name");
    nix::sched::setns(file, nix::sched::CloneFlags::CLONE_NEWNET).expect("root");
}

fn address(namespace: &str, device: &str, v4: &str, v6: &str) {
    ip(&["-n", namespace, "address", "add", v4, "dev", device]);
    // Its uniqueness is not waited for.
    ip(&["-n", namespace, "address", "add", v6, "dev", device, "nodad"]);
    ip(&["-n", namespace, "link", "set", device, "up"]);
}

fn route(namespace: &str, to: &str, via: &str) {
    ip(&["-n", namespace, "route", "add", to, "via", via]);
}

fn ip(words: &[&str]) {
    run("ip", words);
}

fn run(program: &str, words: &[&str]) {
    let output = Command::new(program).args(words).output().expect("a program that starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {}: {}", words.join(" "), said.trim());
}
