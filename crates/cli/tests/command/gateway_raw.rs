//! `slantpath gateway` on raw sockets, as SCTP has IP to itself: two points in network namespaces, with two links of
//! IPv4 or of both versions between them.

use std::process::{Command, Stdio};

use slantpath_testkit::skip;

use crate::gateway::{LAB, Live};
use crate::place::Place;

/// A namespace, which goes with its value.
struct Namespace(String);

impl Namespace {
    fn new(name: &str) -> Option<Self> {
        let own = Self(format!("sp-{}-{name}", std::process::id()));
        if !ip(&["netns", "add", &own.0]) {
            return None;
        }
        assert!(ip(&["-n", &own.0, "link", "set", "lo", "up"]));
        Some(own)
    }

    fn address(&self, device: &str, address: &str) {
        assert!(ip(&["-n", &self.0, "address", "add", address, "dev", device, "nodad"]), "{address}");
        assert!(ip(&["-n", &self.0, "link", "set", device, "up"]), "{device}");
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        ip(&["netns", "delete", &self.0]);
    }
}

fn ip(arguments: &[&str]) -> bool {
    let done = Command::new("ip").args(arguments).stderr(Stdio::null()).status();
    done.is_ok_and(|status| status.success())
}

/// Two namespaces with two links between them.
struct Links([Namespace; 2]);

impl Links {
    /// The networks of both, up to the number of the host.
    const NETWORKS: [&'static str; 3] = ["10.83.1.", "10.83.2.", "fd83:2::"];

    fn new() -> Option<Self> {
        let ends = [Namespace::new("near")?, Namespace::new("far")?];
        for (number, own) in ["one", "two"].into_iter().enumerate() {
            let veth = ["link", "add", own, "netns", &ends[0].0, "type", "veth", "peer", "name", own];
            assert!(ip(&[&veth[..], &["netns", &ends[1].0]].concat()), "{own}");
            for (end, host) in ends.iter().zip(1..) {
                for network in &Self::NETWORKS[number..=2 * number] {
                    let bits = if network.contains(':') { 64 } else { 24 };
                    end.address(own, &format!("{network}{host}/{bits}"));
                }
            }
        }
        Some(Self(ends))
    }

    /// A point at one of the ends, with its addresses in these networks.
    fn start(&self, place: &Place, end: usize, point: &str, networks: &[&str], more: &[&str]) -> Live {
        let addresses =
            |host: usize| networks.iter().map(|network| format!("{network}{host}")).collect::<Vec<_>>();
        let at = |node: &str, host: usize| format!("{node}={}", addresses(host).join(","));
        let (near, far) = (at("exchange", 1), at("london", 2));
        let point = ["gateway", "lab.toml", "--point", point, "--at", &near, "--at", &far];
        let program = place.command(&[&point[..], more].concat());
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0[end].0]).arg(program.get_program());
        command.args(program.get_args()).current_dir(place.path());
        Live::of(command)
    }
}

#[test]
fn points_on_raw_sockets_have_two_paths_of_either_version_of_ip() {
    if !nix::unistd::geteuid().is_root() {
        skip("raw sockets in network namespaces need root");
        return;
    }
    let Some(links) = Links::new() else {
        skip("no network namespaces can be made here");
        return;
    };
    let place = Place::new("gateway-raw");
    place.write("lab.toml", &LAB.replace("to = [\"register\"]", "to = [\"london\"]"));
    let [first, second, sixth] = Links::NETWORKS;
    for networks in [[first, second], [first, sixth]] {
        let london = links.start(&place, 1, "london", &networks, &[]);
        let exchange = links.start(&place, 0, "exchange", &networks, &["--load", "there"]);
        // Who was called confirms the other path first.
        let line = london.until("association=trunk path=");
        let told = line.split_once(" path=").expect("it was looked for").1;
        let second = format!("{}1 event=active", networks[1]);
        assert_eq!(told, second, "the second path is confirmed");
        london.until("event=first-message");
        let [out, _] = exchange.end();
        assert!(out.contains(", in IP; Ctrl-C stops\n"), "{out}");
        london.end();
    }
}
