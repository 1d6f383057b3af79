//! The sources and servers of sessions at the hosts of a run.

use slantpath_applications::{HostSessions as _, SessionSourceId, SessionsConfig};
use slantpath_base::{Instant, Seed};
use slantpath_host::{Peer, SocketId, TransportConfig};
use slantpath_net::NodeId;

use crate::build_error::BuildError;
use crate::checked::Checked;
use crate::network::site::Site;

/// Sessions of one table, and where they begin and end.
pub struct PlannedSessions {
    /// Name of the table.
    pub name: String,
    /// Node of the openers.
    pub from: NodeId,
    /// Node of the server.
    pub to: NodeId,
    /// Source of the sessions, at the openers' host.
    pub source: SessionSourceId,
    /// Socket of the server, at its host.
    pub server: SocketId,
}

/// Adds a source and a server for each table, in the order of names.
pub(crate) fn place(
    scenario: &Checked,
    seed: Seed,
    site: &mut Site<'_>,
) -> Result<Vec<PlannedSessions>, BuildError> {
    let mut planned = Vec::new();
    for (name, sessions) in scenario.sessions.iter() {
        let [opener, listener] = *sessions.hosts;
        if !site.are_simulated(*sessions.hosts) {
            continue;
        }
        site.join_both(*sessions.hosts)?;
        let [sender, receiver] = site.addresses(&sessions.primary, *sessions.hosts)?;
        let path = format!("sessions/{name}");
        let transport = |node: &str, local_addresses, local_port, peer| TransportConfig {
            protocol: sessions.settings.protocol(&scenario.nodes, node, sessions.dscp, 1),
            local_addresses,
            local_port,
            peer,
        };
        let port = sessions.ports.server;
        let peer = Peer { addresses: receiver.clone(), port };
        let config = SessionsConfig {
            transport: transport(&sessions.from, sender, 0, Some(peer)),
            ports: sessions.ports.sources.clone(),
            load: sessions.load.0.clone(),
            start: Instant::START + *sessions.start,
            stop: sessions.end.map(|end| Instant::START + *end),
            message: *sessions.message_size,
            requests: sessions.requests.as_ref().map(|requests| requests.0.config()),
            admission: sessions.admission.as_ref().map(|admission| admission.0.config()),
        };
        let source = site.host(opener).add_session_source(config, seed, &path);
        let server = transport(&sessions.to, receiver, port, None);
        let server = match &sessions.requests {
            Some(_) => site.host(listener).add_request_server(server, *sessions.message_size, seed, &path),
            None => site.host(listener).add_session_server(server, seed, &path),
        };
        let (from, to) = (site.node(opener), site.node(listener));
        planned.push(PlannedSessions { name: name.to_owned(), from, to, source, server });
    }
    Ok(planned)
}
