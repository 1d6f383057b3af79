//! `slantpath gateway` on raw sockets, as SCTP has IP to itself: two points in network namespaces, with two links of
//! IPv4 or of both versions between them.

use std::process::{Command, Stdio};

use slantpath_testkit::skip;

use crate::gateway::{LAB, Live};
use crate::gateway_reload::assert_up_once;
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
    /// The networks of both, up to the number of the host: two of either version of IP.
    const NETWORKS: [[&'static str; 2]; 2] = [["10.83.1.", "fd83:1::"], ["10.83.2.", "fd83:2::"]];

    fn new(name: &str) -> Option<Self> {
        let end = |end: &str| Namespace::new(&format!("{name}-{end}"));
        let ends = [end("near")?, end("far")?];
        for (number, own) in ["one", "two"].into_iter().enumerate() {
            let veth = ["link", "add", own, "netns", &ends[0].0, "type", "veth", "peer", "name", own];
            assert!(ip(&[&veth[..], &["netns", &ends[1].0]].concat()), "{own}");
            for (end, host) in ends.iter().zip(1..) {
                for network in Self::NETWORKS[number] {
                    let bits = if network.contains(':') { 64 } else { 24 };
                    end.address(own, &format!("{network}{host}/{bits}"));
                }
            }
        }
        Some(Self(ends))
    }

    /// A point at one of the ends, with its addresses in these networks.
    fn start(&self, place: &Place, end: usize, point: &str, networks: &[&str], more: &[&str]) -> Live {
        let at = |node: &str, host: usize| format!("{node}={}", addresses(networks, host).join(","));
        let (near, far) = (at("exchange", 1), at("london", 2));
        self.run(place, end, &[&["--point", point, "--at", &near, "--at", &far][..], more].concat())
    }

    /// A point at one of the ends, as its file and these arguments say.
    fn run(&self, place: &Place, end: usize, arguments: &[&str]) -> Live {
        let program = place.command(&[&["gateway", "lab.toml"][..], arguments].concat());
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0[end].0]).arg(program.get_program());
        command.args(program.get_args()).current_dir(place.path());
        Live::of(command)
    }
}

/// Addresses of a host in these networks.
fn addresses(networks: &[&str], host: usize) -> Vec<String> {
    networks.iter().map(|network| format!("{network}{host}")).collect()
}

/// Links, where they can be made here.
fn links(name: &str) -> Option<Links> {
    if !nix::unistd::geteuid().is_root() {
        skip("raw sockets in network namespaces need root");
        return None;
    }
    let links = Links::new(name);
    if links.is_none() {
        skip("no network namespaces can be made here");
    }
    links
}

/// The lab whose load ends at the gateway, with the addresses of both points in these networks.
fn lab_in(near: &[&str], far: &[&str]) -> String {
    let dynamic = "[sctp.default]\nextensions = [\"authentication\", \"dynamic-addresses\"]";
    let lab = LAB.replace("to = [\"register\"]", "to = [\"london\"]").replace("[sctp.default]", dynamic);
    let live = [("exchange", near, 1), ("london", far, 2), ("boston", &near[..1], 3)].map(
        |(node, networks, host)| format!("\n[live.{node}]\naddresses = {:?}\n", addresses(networks, host)),
    );
    [lab, live.concat()].concat()
}

#[test]
fn an_own_address_comes_and_another_goes_on_raw_sockets_by_either_version_of_ip() {
    let Some(links) = links("moves") else { return };
    for version in 0..2 {
        let [first, second] = Links::NETWORKS.map(|networks| networks[version]);
        let place = Place::new(&format!("gateway-raw-addresses-{version}"));
        let at = |networks: &[&str]| place.write("lab.toml", &lab_in(&[first, second], networks));
        at(&[first]);
        let london = links.run(&place, 1, &["--point", "london"]);
        let exchange = links.run(&place, 0, &["--point", "exchange", "--load", "there"]);
        london.until("link=trunk event=available");
        let told = |network: &str, event: &str| format!("association=trunk address={network}2 event={event}");
        at(&[first, second]);
        london.hang_up();
        london.until(&told(second, "address-added"));
        exchange.until(&format!("association=trunk path={second}2 event=active"));
        at(&[second]);
        london.hang_up();
        london.until(&told(first, "address-removed"));
        exchange.until(&told(first, "peer-address-removed"));
        assert_up_once(&exchange.end()[0], &["trunk"]);
        assert_up_once(&london.end()[0], &["trunk"]);
    }
}

#[test]
fn points_on_raw_sockets_have_two_paths_of_either_version_of_ip() {
    let Some(links) = links("paths") else { return };
    let place = Place::new("gateway-raw");
    place.write("lab.toml", &LAB.replace("to = [\"register\"]", "to = [\"london\"]"));
    let [[first, _], [second, sixth]] = Links::NETWORKS;
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
