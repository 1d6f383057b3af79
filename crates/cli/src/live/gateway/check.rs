//! Command `slantpath gateway check`: what a point would do, without doing it.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::net::IpAddr;

use slantpath_gateway::SignallingEntity;
use slantpath_live::{Carriage, ProgramConfig};

use super::prepared::Prepared;
use crate::table::TextTable;

/// Prints what would be done.
pub(super) fn tell(prepared: &Prepared, out: &mut impl Write) -> io::Result<()> {
    let Prepared { request, associations, loads, .. } = prepared;
    let what = match request.entity {
        SignallingEntity::Point(_) => "signalling point",
        SignallingEntity::Process(_) => "application server process",
    };
    writeln!(out, "{what} `{}` at node `{}`", request.name, request.node)?;
    let text = |addresses: &[IpAddr], port: u16| {
        let addresses: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
        format!("{} port {port}", addresses.join(" and "))
    };
    let mut table = TextTable::default();
    table.row(["association", "from", "to", ""].map(str::to_owned));
    for association in associations {
        let ProgramConfig { local_addresses, local_port, peer, .. } = &association.port;
        let peer = peer.as_ref().map_or_else(|| "anyone".to_owned(), |peer| text(&peer.addresses, peer.port));
        let does = if association.opens { "opens it" } else { "waits for it" };
        table.row([association.name.clone(), text(local_addresses, *local_port), peer, does.to_owned()]);
    }
    table.print(4, out)?;
    if let Carriage::Udp { local_port, .. } = prepared.carriage {
        write!(out, "in UDP port {local_port}")?;
        let far: BTreeSet<u16> = prepared.udp_ports.iter().map(|(_, _, port)| *port).collect();
        let far: Vec<String> = far.iter().map(u16::to_string).collect();
        writeln!(out, "{}", if far.is_empty() { String::new() } else { format!(", to {}", far.join(", ")) })?;
    }
    for name in loads.keys() {
        writeln!(out, "sends load `{name}`")?;
    }
    for (key, at) in &prepared.operation {
        writeln!(out, "{key} at {at}")?;
    }
    writeln!(out, "scenario {}", &prepared.hash[..12])
}
