//! `slantpath gateway` and SIGHUP, or a command in its place: its file is read anew, and taken as a whole or not.

use crate::gateway::{LAB, Live};
use crate::live::free_port;
use crate::place::Place;

/// Another link of the lab.
const LINK: &str = r#"
[signalling.links.trunk-2]
between = ["exchange", "london"]
slc = 1
carrier = { kind = "m2pa", proving = "omitted" }
"#;

/// A title of the lab, which goes to that point.
pub(crate) fn title(to: &str) -> String {
    format!(
        "\n[[signalling.translations]]\nat = \"london\"\ndigits = \"49*\"\nto = [\"{to}\"]\nto_subsystem = 6\n"
    )
}

/// Holds that a program that has ended says of each of these associations that it came up once.
pub(crate) fn assert_up_once(out: &str, names: &[&str]) {
    for name in names {
        let line = out.lines().find(|line| line.starts_with(&format!("association {name}: ")));
        assert!(line.is_some_and(|line| line.contains("; up 1 times, ")), "{name}: {out}");
    }
}

#[test]
fn a_running_gateway_takes_a_good_file_and_leaves_a_bad_one() {
    let place = Place::new("gateway-reload");
    let lab = LAB.replace("point_code = \"2-15-1\"", "point_code = \"2-15-1\"\nsubsystems = [6]");
    place.write("lab.toml", &lab);
    let udp = free_port();
    let london = Live::start(&place, udp, "london", &["--control", "london.sock"]);
    let boston = Live::start(&place, udp, "boston", &[]);
    let exchange = Live::start(&place, udp, "exchange", &["--load", "there"]);
    london.until("server=register event=as-active");
    boston.until("event=first-message");

    place.write(
        "lab.toml",
        &[&lab, "\n[signalling.points.rome]\npoint_code = \"2-15-3\"\nnode = \"boston\"\n"].concat(),
    );
    london.hang_up();
    let line = london.until("event=reload-refused");
    let code = lab.lines().count() + 3;
    assert!(line.contains(&format!("lab.toml:{code}:")), "{line}");
    assert!(line.contains("help: give every point a code of its own"), "{line}");
    place.write("lab.toml", &lab.replace("\"2-15-3\"", "\"2-15-4\""));
    london.hang_up();
    let line = london.until("event=reload-refused");
    assert!(
        line.contains("another point code of MTP3 cannot be taken while it runs: restart for this"),
        "{line}"
    );

    place.write("lab.toml", &[&lab, LINK, &title("exchange")].concat());
    exchange.hang_up();
    let asked = place.run(&["set", "london.sock", "--reload"]);
    assert_eq!((asked.status, asked.err.as_str()), (Some(0), ""), "{}", asked.out);
    let line = london.until("event=reloaded");
    for wanted in ["association trunk-2 added", "link trunk-2 added", "; translation "] {
        assert!(line.contains(wanted), "{line}");
    }
    for one in [&london, &exchange] {
        one.until("link=trunk-2 event=available");
    }
    let [out, _] = exchange.end();
    assert!(out.contains("\nassociation trunk-2: "), "{out}");
    assert_up_once(&boston.end()[0], &["first"]);
    assert_up_once(&london.end()[0], &["first", "trunk", "trunk-2"]);
}

/// The lab with its addresses in the file, and with an association whose ends may change them.
pub(crate) fn lab_at(addresses_of_london: &str) -> String {
    let plain = LAB.replace("proving = \"omitted\"", "proving = \"omitted\", profile = \"plain\"");
    let profiles = "[sctp.plain]\nrto_min = \"300 ms\"\n\n[sctp.default]\n\
                    extensions = [\"authentication\", \"dynamic-addresses\"]";
    let live = [("exchange", "\"127.0.0.1\""), ("london", addresses_of_london), ("boston", "\"127.0.0.3\"")]
        .map(|(node, addresses)| format!("\n[live.{node}]\naddresses = [{addresses}]\n"));
    [plain.replace("[sctp.default]", profiles), live.concat()].concat()
}

/// A point of a lab whose addresses are in the file.
pub(crate) fn start(place: &Place, udp: u16, point: &str, more: &[&str]) -> Live {
    let udp = format!("--udp={udp}");
    Live::of(place.command(&[&["gateway", "lab.toml", "--point", point, &udp][..], more].concat()))
}

#[test]
fn an_own_address_and_a_port_come_by_a_reload_that_is_recorded_captured_and_traced() {
    let place = Place::new("gateway-reload-address");
    let more = LINK.replace("proving = \"omitted\"", "proving = \"omitted\", profile = \"plain\"");
    place.write("lab.toml", &lab_at("\"127.0.0.2\""));
    let udp = free_port();
    let kept = ["--record", "london.record", "--capture", "london.pcapng", "--trace", "traces"];
    let london = start(&place, udp, "london", &kept);
    let boston = start(&place, udp, "boston", &[]);
    let exchange = start(&place, udp, "exchange", &["--load", "there"]);
    boston.until("event=first-message");
    // A reload that is refused once its associations are known leaves no trace of them.
    let nowhere = [&lab_at("\"127.0.0.2\", \"192.0.2.1\""), &more.replace("trunk-2", "trunk-9")[..]].concat();
    place.write("lab.toml", &nowhere);
    london.hang_up();
    london.until("event=reload-refused");
    let next = [&lab_at("\"127.0.0.2\", \"127.0.0.4\""), &more[..]].concat();
    place.write("lab.toml", &next);
    london.hang_up();
    london.until("event=reload-begun");
    let line = london.until("association=trunk address=127.0.0.4 event=address-not-offered");
    assert!(line.contains("the ends have not agreed to `dynamic-addresses`"), "{line}");
    let line = london.until("event=reloaded");
    let told = "reason=\"association trunk-2 added; own address 127.0.0.4 added; link trunk-2 added\"";
    assert!(line.ends_with(told), "{line}");
    boston.until("association=first address=127.0.0.4 event=peer-address-added");
    london.until("association=first address=127.0.0.4 event=address-added");
    boston.until("association=first path=127.0.0.4 event=active");
    // Whoever has the peer's further address in its file, too, goes on with it.
    exchange.hang_up();
    boston.hang_up();
    for one in [&london, &exchange] {
        one.until("link=trunk-2 event=available");
    }
    boston.until("event=reloaded");
    exchange.end();
    assert_up_once(&boston.end()[0], &["first"]);
    assert_up_once(&london.end()[0], &["first", "trunk", "trunk-2"]);
    assert!(!place.path().join("traces/trunk-9.trace").exists());
    place.write("lab.toml", "");
    let replayed = place.run(&["replay", "london.record", "--pcap", "again.pcapng", "--trace", "again"]);
    assert_eq!(replayed.status, Some(0), "{}{}", replayed.out, replayed.err);
    assert!(replayed.out.ends_with("\nthe same as that of the live run\n"), "{}", replayed.out);
    let read = |name: &str| std::fs::read(place.path().join(name)).expect("it was written");
    assert!(read("again.pcapng") == read("london.pcapng"));
    for name in ["first", "trunk", "trunk-2"] {
        let [live, again] = ["traces", "again"].map(|directory| {
            let explained = place.run(&["explain", &format!("{directory}/{name}.trace")]);
            // The repetition ends with the last entry of the record, the run a little later.
            let lines = explained.out.lines().filter(|line| !line.starts_with("told up to"));
            lines.collect::<Vec<_>>().join("\n")
        });
        assert!(live.contains("closed in order at"), "{name}: {live}");
        assert_eq!(live, again, "{name}");
    }
}

#[test]
fn an_own_address_goes_and_comes_back_by_reloads_and_all_associations_stay() {
    let place = Place::new("gateway-reload-away");
    let (both, second) = (lab_at("\"127.0.0.2\", \"127.0.0.4\""), lab_at("\"127.0.0.4\""));
    place.write("lab.toml", &both);
    let udp = free_port();
    let london = start(&place, udp, "london", &["--record", "london.record"]);
    let boston = start(&place, udp, "boston", &[]);
    let exchange = start(&place, udp, "exchange", &["--load", "there"]);
    boston.until("event=first-message");
    place.write("lab.toml", &second);
    london.hang_up();
    let line = london.until("association=trunk address=127.0.0.2 event=address-not-withdrawn");
    assert!(line.contains("the ends have not agreed to `dynamic-addresses`"), "{line}");
    assert!(london.until("event=reloaded").ends_with("reason=\"own address 127.0.0.2 removed\""));
    boston.until("association=first address=127.0.0.2 event=peer-address-removed");
    london.until("association=first address=127.0.0.2 event=address-removed");
    // Whoever has the peer's lesser addresses in its file, too, goes on with it.
    for one in [&boston, &exchange] {
        one.hang_up();
        one.until("event=reloaded");
    }
    place.write("lab.toml", &both);
    london.hang_up();
    london.until("association=first address=127.0.0.2 event=address-added");
    boston.until("association=first path=127.0.0.2 event=active");
    exchange.end();
    assert_up_once(&boston.end()[0], &["first"]);
    assert_up_once(&london.end()[0], &["first", "trunk"]);
    let replayed = place.run(&["replay", "london.record"]);
    assert_eq!(replayed.status, Some(0), "{}{}", replayed.out, replayed.err);
    assert!(replayed.out.ends_with("\nthe same as that of the live run\n"), "{}", replayed.out);
}
