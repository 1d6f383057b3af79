//! Imports run downwards only: every edge of the workspace is in the table, or the check fails.

use serde_json::Value;

use super::manifests::is_for_features;
use crate::finding::Finding;

/// A crate of the workspace and the crates of the workspace that it may import. Every crate may import `base`,
/// and `testkit` for its tests; no other edge is allowed for the sake of tests either.
const FLOORS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("wire", &[]),
    ("cc", &[]),
    ("orbit", &[]),
    ("results", &[]),
    ("reader", &[]),
    // The only crate that starts threads for work.
    ("workers", &[]),
    // Calls of Linux for programs that are attached to a network: it knows nothing of ours.
    ("system", &[]),
    // What a program's SCTP descriptor and its daemon say to each other: no system call.
    ("requests", &[]),
    // What a program's side does with the pair of such a descriptor.
    ("door", &["requests", "system"]),
    // A program's side as functions of the C library.
    ("preload", &["door", "requests"]),
    // Its bytes, for whoever starts programs. The edge stands in no build: it has packages bring what they need.
    ("carried", &["preload"]),
    // Its unsafe calls are system's.
    ("notifier", &["door", "requests", "system"]),
    // The topology file and its answer: it knows no packets.
    ("topology", &["orbit", "reader", "results", "workers"]),
    // Formulas and the planner that needs no simulator.
    ("plan", &["reader"]),
    // Lines of JSON by which a running network is asked and changed: it knows neither a network nor a socket.
    ("control", &["reader"]),
    ("des", &[]),
    ("ss7", &["wire"]),
    ("sctp", &["wire", "cc"]),
    ("tcp", &["wire", "cc"]),
    ("sigtran", &["wire", "ss7"]),
    // Layers that no scenario uses yet, outside the default build.
    ("user-parts", &["wire", "ss7"]),
    ("sigtran-adaptations", &["wire", "ss7", "sigtran"]),
    // What a host and whoever moves its packets know of each other.
    ("interface", &["wire"]),
    ("net", &["wire", "des", "interface"]),
    // Its tests send packets.
    ("sat", &["wire", "net", "orbit"]),
    // Addresses and IP headers, which a host reads and writes, are wire's.
    ("host", &["wire", "interface", "sctp", "tcp"]),
    // What loads a host's sockets: it sees them, and no packet.
    ("applications", &["wire", "interface", "sctp", "host"]),
    // A signalling point knows neither what carries its associations nor the simulator, so that a gateway runs it, too.
    ("signalling", &["ss7", "sigtran"]),
    // Loads on points, whoever drives them.
    ("traffic", &["ss7", "signalling"]),
    // Points of a file, which a run and a gateway have alike: it knows neither the simulator nor a node of the network.
    ("points", &["reader", "profiles", "ss7", "sigtran", "signalling", "traffic"]),
    ("simulation", &["net", "sctp", "sigtran", "ss7", "host", "applications", "signalling", "traffic"]),
    ("live", &["wire", "interface", "sctp", "host", "applications"]),
    // RFC 6458's sockets of programs: it knows neither a pair nor a process.
    ("sockets", &["live", "requests", "sctp"]),
    // Attached devices: it knows bytes and instants, never what the network between them is modelled by.
    ("emulate", &["system", "wire"]),
    // Sockets of whoever operates a program: it knows the words of control, and not what runs.
    ("operation", &["control", "system"]),
    // Sockets of this machine at the ends of a network: its hosts have a TCP, and it knows no model.
    ("relay", &["emulate", "interface", "system", "tcp", "wire"]),
    // Programs that measure a path, above what drives their host.
    ("instruments", &["wire", "interface", "sctp", "host", "applications", "live"]),
    // Points and processes above what drives their host. Several hosts behind one set of sockets are one end system.
    (
        "gateway",
        &[
            "control",
            "wire",
            "interface",
            "host",
            "applications",
            "live",
            "sctp",
            "signalling",
            "sigtran",
            "ss7",
            "traffic",
        ],
    ),
    // A live host with the sockets of programs, and their pairs: it knows pieces, and no command.
    ("daemon", &["live", "requests", "sockets", "system"]),
    // Sockets of programs at attached nodes, in virtual time: hosts of relays and of live endpoints, and no model.
    ("testbed", &["interface", "live", "relay", "tcp", "wire"]),
    // Live associations for programs on tokio, which nothing else here needs.
    ("tokio", &["live", "sctp"]),
    // The file of what SCTP has decided, and its explanation: it knows no simulator.
    ("trace", &["sctp"]),
    // Reads captures of real networks with the codecs of their protocols, and tells what SCTP did in traces' words.
    ("capture", &["wire", "sctp", "tcp", "ss7", "sigtran", "trace"]),
    // Settings of the transports: it knows neither a network nor a flow.
    ("profiles", &["wire", "cc", "reader", "sctp", "tcp"]),
    (
        "scenario",
        &[
            "wire",
            "orbit",
            "results",
            "reader",
            "workers",
            "profiles",
            "topology",
            "sctp",
            "tcp",
            "sigtran",
            "net",
            "sat",
            "host",
            "applications",
            "signalling",
            "points",
            "simulation",
        ],
    ),
    // Judges values when they are settled, and the network that is built of them.
    (
        "advice",
        &["scenario", "profiles", "reader", "cc", "orbit", "ss7", "sctp", "tcp", "sigtran", "net", "host"],
    ),
    // Runs, and what they give: models are known by what `scenario` builds.
    (
        "runner",
        &[
            "advice",
            "scenario",
            "wire",
            "orbit",
            "ss7",
            "results",
            "reader",
            "workers",
            "topology",
            "sctp",
            "sigtran",
            "net",
            "sat",
            "host",
            "applications",
            "signalling",
            "simulation",
            "trace",
        ],
    ),
    (
        "cli",
        &[
            "capture",
            "carried",
            "control",
            "daemon",
            "notifier",
            "profiles",
            "runner",
            "topology",
            "results",
            "orbit",
            "plan",
            "live",
            "instruments",
            "gateway",
            "operation",
            "trace",
            // Places and doors of an emulation, and what the system says of them.
            "emulate",
            "interface",
            // Ways without places.
            "relay",
            "system",
            // Packets between both.
            "wire",
        ],
    ),
    // pip's `slantpath` is the same program, so py calls cli as main.rs does.
    ("py", &["cc", "profiles", "runner", "topology", "results", "plan", "live", "testbed", "cli"]),
    ("effects", &["reader"]),
    ("testkit", &["wire"]),
    (
        "fuzz-bodies",
        &[
            "wire",
            "capture",
            "emulate",
            "door",
            "requests",
            "sctp",
            "tcp",
            "trace",
            "sigtran",
            "sigtran-adaptations",
            "ss7",
            "user-parts",
            "orbit",
            "applications",
            "runner",
            "topology",
        ],
    ),
    (
        "benches",
        // `results` for the tables of runs, of which a peer repeats what they list.
        &[
            "cc",
            "wire",
            "net",
            "sctp",
            "tcp",
            "sigtran",
            "ss7",
            "host",
            "applications",
            "signalling",
            "simulation",
            "runner",
            "topology",
            "results",
        ],
    ),
    // A program of somebody else: what it brings along, and the command.
    ("own-controller", &["cc", "net", "cli", "runner"]),
    ("xtask", &[]),
];

/// Packages from outside, each with the crates that alone may import it: it would otherwise spread.
const RESERVED: &[(&str, &[&str])] = &[
    ("tokio", &["tokio"]),
    ("nix", &["cli", "live", "system", "tokio"]),
    ("rustix", &["carried", "door", "live", "notifier", "preload", "system"]),
    ("httparse", &["operation"]),
    ("mio", &["relay"]),
    ("socket2", &["live", "relay"]),
    ("pyo3", &["py"]),
    ("arrow-array", &["py"]),
    ("arrow-schema", &["py"]),
    ("parquet", &["results"]),
    ("rayon", &["workers"]),
    ("miette", &["cli"]),
    ("clap", &["cli"]),
    ("dcsctp", &["benches"]),
    ("m2pa", &["benches"]),
    ("mtp3", &["benches"]),
    ("sctp-proto", &["benches"]),
    ("sccp", &["benches"]),
    ("m3ua", &["benches"]),
];

/// Development dependencies beyond `testkit`, each with the reason that it is needed.
const FOR_TESTS: &[(&str, &str, &str)] = &[
    ("applications", "slantpath-net", "hosts are tried on a network"),
    ("applications", "slantpath-tcp", "flows are tried with settings of TCP"),
    ("signalling", "slantpath-sctp", "the oracles judge every codec, in the packets that carry it"),
    ("signalling", "slantpath-sigtran-adaptations", "the oracles judge every codec"),
    ("signalling", "slantpath-user-parts", "the oracles judge every codec"),
    ("signalling", "slantpath-wire", "the oracles judge every codec, in the packets that carry it"),
    ("carried", "slantpath-requests", "a daemon of the test stands behind the library"),
    ("carried", "slantpath-system", "a daemon of the test stands behind the library"),
    ("gateway", "slantpath-net", "seats are tried on a network"),
    ("gateway", "slantpath-simulation", "seats are held to a run"),
    ("sockets", "slantpath-wire", "its tests carry packets between two hosts"),
    ("daemon", "slantpath-door", "its pairs are tried from the side of programs"),
    ("live", "slantpath-instruments", "its sockets are tried under load"),
    ("sctp", "dcsctp", "a foreign peer judges the association"),
    ("sctp", "sctp-proto", "a foreign peer judges the association"),
];

/// Crates outside the default build, each with the reason: `cargo build` alone leaves them out.
const OUTSIDE: &[(&str, &str)] = &[
    ("user-parts", "no scenario uses them yet"),
    ("sigtran-adaptations", "no scenario uses them yet"),
    ("fuzz-bodies", "they are for tests, and import the layers that no scenario uses"),
    ("benches", "they are measurements"),
    ("own-controller", "it is an example"),
    ("xtask", "it judges the project"),
];

const PREFIX: &str = "slantpath-";
const TABLES: &str = "xtask/src/tidy/floors.rs";

/// Checks the answer of `cargo metadata --no-deps`.
pub(crate) fn check(metadata: &Value) -> Result<Vec<Finding>, String> {
    let crates = crates(metadata)?;
    Ok([climbing(&crates), unused(&crates), outside(&crates)].concat())
}

/// A crate of the workspace.
#[derive(Debug)]
struct Crate<'a> {
    /// Name without the project's prefix.
    name: &'a str,
    manifest: String,
    edges: Vec<Edge<'a>>,
    is_in_default_build: bool,
}

fn crates(metadata: &Value) -> Result<Vec<Crate<'_>>, String> {
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let default =
        metadata["workspace_default_members"].as_array().ok_or("cargo metadata lists no default")?;
    let mut crates = Vec::new();
    for package in packages {
        let name = package["name"].as_str().ok_or("a package has no name")?;
        let name = name.strip_prefix(PREFIX).unwrap_or(name);
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        crates.push(Crate {
            name,
            manifest: manifest_path(metadata, package),
            edges: dependencies.map(|dependency| Edge::of(name, dependency)).collect::<Result<_, _>>()?,
            is_in_default_build: default.contains(&package["id"]),
        });
    }
    Ok(crates)
}

/// Edges that the tables do not have.
fn climbing(crates: &[Crate<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Crate { name, manifest, edges, .. } in crates {
        let Some((_, allowed)) = FLOORS.iter().find(|(floor, _)| floor == name) else {
            let message = format!("the crate {name} stands on no floor: add it to FLOORS in {TABLES}");
            findings.push(Finding::on_file(manifest, message));
            continue;
        };
        for edge in edges {
            let is_for_features = edge.is_optional && is_for_features(manifest, edge.to);
            if !is_for_features && !edge.is_allowed(allowed) {
                findings.push(Finding::on_file(manifest, edge.complaint(allowed)));
            }
        }
    }
    findings
}

/// Edges of the tables that no manifest has, and crates of the tables that are not there.
fn unused(crates: &[Crate<'_>]) -> Vec<Finding> {
    let floors =
        FLOORS.iter().flat_map(|(from, allowed)| allowed.iter().map(|to| (*from, format!("{PREFIX}{to}"))));
    let tests = FOR_TESTS.iter().map(|(from, to, _)| (*from, (*to).to_owned()));
    let reserved =
        RESERVED.iter().flat_map(|(to, owners)| owners.iter().map(|from| (*from, (*to).to_owned())));
    let permitted = floors.chain(tests).chain(reserved).filter_map(|(from, to)| {
        // A crate that is gone is told once, below.
        let Crate { edges, .. } = crates.iter().find(|other| other.name == from)?;
        let is_used = edges.iter().any(|edge| edge.to == to);
        (!is_used).then(|| format!("{from} may import {to}, and does not: take the edge away"))
    });
    let gone = FLOORS.iter().filter(|(name, _)| crates.iter().all(|other| other.name != *name));
    let gone = gone.map(|(name, _)| format!("there is no crate {name}: take its floor away"));
    permitted.chain(gone).map(|message| Finding::on_file(TABLES, message)).collect()
}

/// Crates that are in the default build or outside of it, and should not be.
fn outside(crates: &[Crate<'_>]) -> Vec<Finding> {
    let judge = |Crate { name, is_in_default_build, .. }: &Crate<'_>| {
        let reason = OUTSIDE.iter().find(|(outside, _)| outside == name).map(|(_, reason)| reason);
        let message = match (is_in_default_build, reason) {
            (true, Some(reason)) => {
                format!("default-members has {name}, outside the default build because {reason}")
            }
            (false, None) => {
                format!("default-members lacks {name}: add it, or list it in OUTSIDE in {TABLES}")
            }
            (true, None) | (false, Some(_)) => return None,
        };
        Some(Finding::on_file("Cargo.toml", message))
    };
    crates.iter().filter_map(judge).collect()
}

#[derive(Clone, Copy, Debug)]
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
    for_tests_only: bool,
    is_optional: bool,
}

impl<'a> Edge<'a> {
    fn of(from: &'a str, dependency: &'a Value) -> Result<Self, String> {
        let to = dependency["name"].as_str().ok_or("a dependency has no name")?;
        let for_tests_only = dependency["kind"].as_str() == Some("dev");
        Ok(Self { from, to, for_tests_only, is_optional: dependency["optional"] == true })
    }

    fn is_allowed(self, allowed: &[&str]) -> bool {
        if self.for_tests_only && FOR_TESTS.iter().any(|(from, to, _)| (*from, *to) == (self.from, self.to)) {
            return true;
        }
        match self.to.strip_prefix(PREFIX) {
            Some("base") => self.from != "base",
            Some("effects") => self.for_tests_only,
            Some("testkit") => self.for_tests_only || self.from == "benches",
            Some(to) => allowed.contains(&to),
            None => reserved_for(self.to).is_none_or(|owners| owners.contains(&self.from)),
        }
    }

    fn complaint(self, allowed: &[&str]) -> String {
        let Self { from, to, .. } = self;
        match reserved_for(to) {
            Some(owners) => format!("{from} imports {to}, which is kept to {}", owners.join(", ")),
            None if matches!(to, "slantpath-effects" | "slantpath-testkit") => {
                format!("{from} imports {to} outside of its tests")
            }
            None => format!("{from} imports {to}; it may import base, {}", allowed.join(", ")),
        }
    }
}

fn reserved_for(package: &str) -> Option<&'static [&'static str]> {
    RESERVED.iter().find(|(reserved, _)| *reserved == package).map(|(_, owners)| *owners)
}

fn manifest_path(metadata: &Value, package: &Value) -> String {
    let path = package["manifest_path"].as_str().unwrap_or_default();
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    path.strip_prefix(root).unwrap_or(path).trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn complaints(name: &str, dependencies: &[(&str, Option<&str>)]) -> Vec<String> {
        let dependencies: Vec<Value> =
            dependencies.iter().map(|(name, kind)| json!({"name": name, "kind": kind})).collect();
        complaints_of("Cargo.toml", name, &dependencies)
    }

    fn complaints_of(manifest: &str, name: &str, dependencies: &[Value]) -> Vec<String> {
        told(climbing, &metadata(manifest, name, dependencies))
    }

    /// A workspace of one crate, which is in the default build.
    fn metadata(manifest: &str, name: &str, dependencies: &[Value]) -> Value {
        let path = format!("/p/{manifest}");
        json!({
            "workspace_root": "/p",
            "workspace_default_members": [name],
            "packages": [{"name": name, "id": name, "manifest_path": path, "dependencies": dependencies}],
        })
    }

    fn told(rule: fn(&[Crate<'_>]) -> Vec<Finding>, metadata: &Value) -> Vec<String> {
        let crates = crates(metadata).expect("well-formed");
        rule(&crates).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn a_permission_that_no_manifest_uses_is_found() {
        let found = |dependencies: &[&str]| {
            let dependencies: Vec<Value> = dependencies.iter().map(|name| json!({"name": name})).collect();
            told(unused, &metadata("Cargo.toml", "slantpath-sctp", &dependencies))
        };
        let all = ["slantpath-wire", "slantpath-cc", "dcsctp", "sctp-proto"];
        let of_sctp = |mut found: Vec<String>| {
            found.retain(|message| message.starts_with("sctp may"));
            found
        };
        assert_eq!(of_sctp(found(&all)), [""; 0]);
        for (at, missing) in all.iter().enumerate() {
            let rest: Vec<&str> = [&all[..at], &all[at + 1..]].concat();
            let expected = format!("sctp may import {missing}, and does not: take the edge away");
            assert_eq!(of_sctp(found(&rest)), [expected]);
        }
    }

    #[test]
    fn an_owner_that_does_not_import_its_package_is_found() {
        let found = told(unused, &metadata("Cargo.toml", "slantpath-workers", &[]));
        assert!(found.contains(&"workers may import rayon, and does not: take the edge away".to_owned()));
    }

    #[test]
    fn a_floor_without_a_crate_is_found() {
        let found = told(unused, &metadata("Cargo.toml", "slantpath-sctp", &[]));
        assert!(found.contains(&"there is no crate cc: take its floor away".to_owned()));
        assert!(!found.iter().any(|message| message.contains("no crate sctp")));
    }

    #[test]
    fn the_default_build_has_every_crate_but_those_that_are_listed() {
        let found = |name: &str, is_default: bool| {
            let mut metadata = metadata("Cargo.toml", name, &[]);
            if !is_default {
                metadata["workspace_default_members"] = json!([]);
            }
            told(outside, &metadata)
        };
        assert_eq!(found("slantpath-sctp", true), [""; 0]);
        assert_eq!(found("slantpath-user-parts", false), [""; 0]);
        assert_eq!(
            found("slantpath-sctp", false),
            ["default-members lacks sctp: add it, or list it in OUTSIDE in xtask/src/tidy/floors.rs"]
        );
        assert_eq!(
            found("slantpath-user-parts", true),
            ["default-members has user-parts, outside the default build because no scenario uses them yet"]
        );
    }

    #[test]
    fn a_dependency_for_the_sake_of_its_features_is_no_import() {
        let told = |manifest, name, optional: bool| {
            complaints_of(manifest, "py", &[json!({"name": name, "kind": null, "optional": optional})]).len()
        };
        assert_eq!(told("crates/py/Cargo.toml", "rustix", true), 0);
        assert_eq!(told("crates/py/Cargo.toml", "rustix", false), 1);
        assert_eq!(told("crates/py/Cargo.toml", "slantpath-net", true), 1);
        assert_eq!(told("crates/other/Cargo.toml", "rustix", true), 1);
    }

    #[test]
    fn an_edge_of_the_table_passes() {
        assert!(complaints("slantpath-sctp", &[("slantpath-base", None), ("slantpath-cc", None)]).is_empty());
    }

    #[test]
    fn an_edge_that_climbs_is_found() {
        let found = complaints("slantpath-sctp", &[("slantpath-net", None)]);
        assert_eq!(found, ["sctp imports slantpath-net; it may import base, wire, cc"]);
    }

    #[test]
    fn an_edge_that_climbs_is_found_in_tests_too() {
        assert_eq!(complaints("slantpath-net", &[("slantpath-host", Some("dev"))]).len(), 1);
    }

    #[test]
    fn testkit_is_for_tests_only() {
        assert!(complaints("slantpath-sctp", &[("slantpath-testkit", Some("dev"))]).is_empty());
        assert_eq!(complaints("slantpath-sctp", &[("slantpath-testkit", None)]).len(), 1);
    }

    #[test]
    fn reserved_packages_stay_with_their_owners() {
        assert!(complaints("slantpath-py", &[("pyo3", None)]).is_empty());
        assert_eq!(
            complaints("slantpath-scenario", &[("pyo3", None)]),
            ["scenario imports pyo3, which is kept to py"]
        );
        assert_eq!(complaints("slantpath-net", &[("tokio", None), ("rayon", None)]).len(), 2);
    }

    #[test]
    fn foreign_peers_judge_in_tests_and_are_never_built_upon() {
        assert!(complaints("slantpath-sctp", &[("dcsctp", Some("dev"))]).is_empty());
        assert_eq!(complaints("slantpath-sctp", &[("dcsctp", None)]).len(), 1);
    }

    #[test]
    fn a_crate_without_a_floor_is_found() {
        assert!(complaints("slantpath-attic", &[])[0].contains("stands on no floor"));
    }
}
