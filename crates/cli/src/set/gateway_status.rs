//! State of a live point or process, in tables for a person.

use std::io::{self, Write};

use slantpath_control::Json;

use crate::table::TextTable;

/// Prints the state part by part; parts that the point does not have are left out.
pub(super) fn print(status: &Json, out: &mut impl Write) -> io::Result<()> {
    let at = status["at_s"].as_f64().unwrap_or_default();
    writeln!(out, "{at:.3} s: `{}`, {}", text(status, "gateway"), text(status, "phase"))?;
    links(status, out)?;
    routes(status, out)?;
    associations(status, out)?;
    servers(status, out)?;
    for (point, titles) in status["titles"].as_object().into_iter().flatten() {
        write!(out, "titles at `{point}`: {} translated", titles["translated"])?;
        writeln!(out, "{}", counts(&titles["untranslated"], ", not translated: "))?;
    }
    for (layer, own) in status["counters"].as_object().into_iter().flatten() {
        writeln!(out, "{}", counts(own, &format!("{layer}: ")))?;
    }
    for (layer, own) in status["discards"].as_object().into_iter().flatten() {
        writeln!(out, "{}", counts(own, &format!("discarded by {layer}: ")))?;
    }
    Ok(())
}

fn links(status: &Json, out: &mut impl Write) -> io::Result<()> {
    let row = |link: &Json| {
        let ends: Vec<&str> =
            link["inhibited"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        let inhibited =
            if ends.is_empty() { String::new() } else { format!(", inhibited {}", ends.join(" and ")) };
        [
            text(link, "link"),
            text(link, "link_set"),
            text(link, "adjacent"),
            text(link, "state") + &inhibited,
            number(link, "sent_msus"),
            number(link, "received_msus"),
            number(link, "queued_msus"),
        ]
    };
    table(status, "links", ["link", "link set", "to", "state", "MSUs sent", "received", "queued"], row, out)
}

fn routes(status: &Json, out: &mut impl Write) -> io::Result<()> {
    let row = |route: &Json| {
        let reached = if route["is_accessible"] == true { "accessible" } else { "inaccessible" };
        [
            text(route, "destination"),
            reached.to_owned(),
            text(route, "over"),
            number(route, "priority"),
            text(route, "state"),
        ]
    };
    table(status, "routes", ["destination", "", "over", "priority", "route"], row, out)
}

fn associations(status: &Json, out: &mut impl Write) -> io::Result<()> {
    let row = |end: &Json| {
        [
            text(end, "association"),
            text(end, "state"),
            number(end, "sent"),
            number(end, "received"),
            number(end, "waiting"),
            paths(end),
        ]
    };
    table(status, "associations", ["association", "", "sent", "received", "waiting", "paths"], row, out)
}

fn paths(association: &Json) -> String {
    let path = |path: &Json| {
        let primary = if path["is_primary"] == true { ", primary" } else { "" };
        let srtt = path["srtt_s"].as_f64();
        let srtt = srtt.map_or_else(String::new, |srtt| format!(", {:.1} ms", srtt * 1e3));
        format!("{} {}{primary}{srtt}", text(path, "path"), text(path, "state"))
    };
    association["paths"].as_array().into_iter().flatten().map(path).collect::<Vec<_>>().join("; ")
}

fn servers(status: &Json, out: &mut impl Write) -> io::Result<()> {
    let row = |server: &Json| {
        let process = |own: &Json| {
            format!("{} {} over {}", text(own, "asp"), text(own, "state"), text(own, "association"))
        };
        let processes = server["processes"].as_array().into_iter().flatten().map(process);
        [
            text(server, "application_server"),
            number(server, "routing_context"),
            text(server, "state"),
            processes.collect::<Vec<_>>().join("; "),
        ]
    };
    let heads = ["application server", "context", "", "processes"];
    table(status, "application_servers", heads, row, out)
}

fn table<const COLUMNS: usize>(
    status: &Json,
    part: &str,
    heads: [&str; COLUMNS],
    row: impl Fn(&Json) -> [String; COLUMNS],
    out: &mut impl Write,
) -> io::Result<()> {
    let rows = status[part].as_array().filter(|rows| !rows.is_empty());
    let Some(rows) = rows else { return Ok(()) };
    let mut table = TextTable::default();
    table.row(heads.map(str::to_owned));
    for own in rows {
        table.row(row(own));
    }
    table.print(COLUMNS, out)
}

/// NamedCounts by name behind a lead; nothing if there are none.
fn counts(table: &Json, lead: &str) -> String {
    let counts = table.as_object().into_iter().flatten().map(|(name, count)| format!("{name} {count}"));
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() { String::new() } else { format!("{lead}{}", counts.join(", ")) }
}

fn text(table: &Json, key: &str) -> String {
    table[key].as_str().unwrap_or_default().to_owned()
}

fn number(table: &Json, key: &str) -> String {
    table[key].as_u64().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use slantpath_control::{
        AssociationStatus, GatewayStatus, NamedCounts, PathStatus, ProcessStatus, RouteStatus, ServerStatus,
        SignallingLinkStatus, TitleStatus,
    };

    use super::*;

    #[test]
    fn a_gateway_is_told_part_by_part() {
        let name = str::to_owned;
        let status = GatewayStatus {
            at_s: 1.5,
            gateway: name("london"),
            phase: "serving",
            links: vec![SignallingLinkStatus {
                link: name("trunk"),
                link_set: name("to-exchange"),
                adjacent: name("exchange"),
                state: "available",
                inhibited: vec!["here"],
                sent_msus: 3,
                ..SignallingLinkStatus::default()
            }],
            routes: vec![RouteStatus {
                destination: name("exchange"),
                over: Some(name("to-exchange")),
                state: "allowed",
                ..RouteStatus::default()
            }],
            associations: vec![AssociationStatus {
                association: name("first"),
                state: "up",
                sent: 7,
                paths: vec![PathStatus {
                    path: [192, 0, 2, 1].into(),
                    source: [192, 0, 2, 2].into(),
                    state: "active",
                    is_primary: true,
                    srtt_s: Some(0.54),
                    rto_s: 1.0,
                }],
                ..AssociationStatus::default()
            }],
            application_servers: vec![ServerStatus {
                application_server: name("register"),
                routing_context: 100,
                state: Some("active"),
                processes: vec![ProcessStatus {
                    asp: name("boston"),
                    association: name("first"),
                    state: "active",
                }],
            }],
            titles: [(name("london"), TitleStatus { translated: 2, ..TitleStatus::default() })].into(),
            counters: [("mtp3", NamedCounts::from([(name("sent"), 3)]))].into(),
            discards: [("mtp3", NamedCounts::from([(name("restarting"), 1)]))].into(),
        };
        let mut out = Vec::new();
        print(&status.to_json(), &mut out).unwrap();
        let wanted = "\
1.500 s: `london`, serving
link   link set     to        state                      MSUs sent  received  queued
trunk  to-exchange  exchange  available, inhibited here  3          0         0
destination                over         priority  route
exchange     inaccessible  to-exchange  0         allowed
association      sent  received  waiting  paths
first        up  7     0         0        192.0.2.1 active, primary, 540.0 ms
application server  context          processes
register            100      active  boston active over first
titles at `london`: 2 translated
mtp3: sent 3
discarded by mtp3: restarting 1
";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }
}
