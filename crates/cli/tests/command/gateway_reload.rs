//! `slantpath gateway` and SIGHUP, or a command in its place: its file is read anew, and taken as a whole or not at all.

use crate::gateway::{LAB, Live};
use crate::live::free_port;
use crate::place::Place;

/// Further tables of the lab: another link, and a title.
const MORE: &str = r#"
[signalling.links.trunk-2]
between = ["exchange", "london"]
slc = 1
carrier = { kind = "m2pa", proving = "omitted" }

[[signalling.translations]]
at = "london"
digits = "49*"
to = ["exchange"]
to_subsystem = 6
"#;

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

    place.write("lab.toml", &[&lab, MORE].concat());
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
    let [out, _] = boston.end();
    assert!(out.contains("\nassociation first: ") && out.contains("; up 1 times, "), "{out}");
    let [out, _] = london.end();
    for name in ["first", "trunk", "trunk-2"] {
        let line = out.lines().find(|line| line.starts_with(&format!("association {name}: ")));
        assert!(line.is_some_and(|line| line.contains("; up 1 times, ")), "{name}: {out}");
    }
}
