//! The sources and servers of sessions at the hosts of a run.

use std::ops::RangeInclusive;

use slantpath_applications::{Arrivals, SessionLoad, SessionSourceId, Sessions as _, SessionsConfig, Sizes};
use slantpath_base::{Instant, Seed};
use slantpath_host::{Peer, Protocol, SocketId, TransportConfig};
use slantpath_net::NodeId;

use super::schema;
use crate::build_error::BuildError;
use crate::checked::Checked;
use crate::flow::transport::protocol;
use crate::network::site::Site;
use crate::schema::Sessions;

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

/// Ports of servers, one a table. Flows have those from 20,000 to 29,999 and from 40,000 to 49,999.
const SERVER_PORTS: u16 = 30_000;
/// Ports from which sessions are opened: each table has an equal part of them.
const SOURCE_PORTS: RangeInclusive<u16> = 50_000..=64_999;

/// Adds a source and a server for each table, in the order of names.
pub(crate) fn place(
    scenario: &Checked,
    seed: Seed,
    site: &mut Site<'_>,
) -> Result<Vec<PlannedSessions>, BuildError> {
    let tables = u16::try_from(scenario.sessions.iter().len()).expect("a check limits their number");
    let mut planned = Vec::new();
    for (number, (name, sessions)) in (0..).zip(scenario.sessions.iter()) {
        let (from, to) = (site.nodes[sessions.from.as_str()], site.nodes[sessions.to.as_str()]);
        site.join_both(from, to)?;
        let [sender, receiver] = site.addresses(&sessions.primary, from, to);
        let path = format!("sessions/{name}");
        let transport = |node: &str, local_addresses, local_port, peer| TransportConfig {
            protocol: of(scenario, sessions, node),
            local_addresses,
            local_port,
            peer,
        };
        let port = SERVER_PORTS + number;
        let peer = Peer { addresses: receiver.clone(), port };
        let config = SessionsConfig {
            transport: transport(&sessions.from, sender, 0, Some(peer)),
            ports: ports(number, tables),
            load: load(scenario, sessions),
            start: Instant::START + *sessions.start,
            stop: sessions.end.map(|end| Instant::START + *end),
            message: *sessions.message_size,
            requests: sessions.requests.as_ref().map(|requests| requests.0.config()),
            admission: sessions.admission.as_ref().map(|admission| admission.0.config()),
        };
        let source = site.host(from).add_session_source(config, seed, &path);
        let server = transport(&sessions.to, receiver, port, None);
        let server = match &sessions.requests {
            Some(_) => site.host(to).add_request_server(server, *sessions.message_size, seed, &path),
            None => site.host(to).add_session_server(server, seed, &path),
        };
        planned.push(PlannedSessions { name: name.to_owned(), from, to, source, server });
    }
    Ok(planned)
}

fn ports(number: u16, tables: u16) -> RangeInclusive<u16> {
    let each = (SOURCE_PORTS.end() - SOURCE_PORTS.start() + 1) / tables;
    let first = SOURCE_PORTS.start() + number * each;
    first..=first + each - 1
}

fn of(scenario: &Checked, sessions: &Sessions, node: &str) -> Protocol {
    protocol(scenario, *sessions.transport, &sessions.profile, node, sessions.dscp, 1)
}

fn load(scenario: &Checked, sessions: &Sessions) -> SessionLoad {
    let arrivals = match &sessions.arrivals.0 {
        schema::Arrivals::Constant(constant) => Arrivals::Constant { interval: *constant.interval },
        schema::Arrivals::Poisson(poisson) => Arrivals::Poisson { mean_interval: *poisson.mean_interval },
        schema::Arrivals::Trace(trace) => {
            return SessionLoad::Trace(scenario.traces().sessions[&*trace.file].clone());
        }
    };
    let sizes = match &sessions.sizes.as_ref().expect("a check asks for sizes").0 {
        schema::Sizes::Exponential(exponential) => Sizes::Exponential { mean: *exponential.mean },
        schema::Sizes::Fixed(fixed) => Sizes::Fixed { size: *fixed.size },
        schema::Sizes::Pareto(pareto) => Sizes::Pareto { mean: *pareto.mean, shape: *pareto.shape },
    };
    SessionLoad::Drawn { arrivals, sizes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_equal_parts_of_the_source_ports_one_behind_the_other() {
        assert_eq!(ports(0, 1), 50_000..=64_999);
        for tables in [1, 2, 3, 7, 4_000, 15_000] {
            let parts: Vec<_> = (0..tables).map(|number| ports(number, tables)).collect();
            let each = 15_000 / usize::from(tables);
            assert!(parts.iter().all(|part| part.len() == each), "{tables}: {parts:?}");
            assert_eq!(*parts[0].start(), 50_000);
            assert!(
                parts.windows(2).all(|pair| *pair[1].start() == pair[0].end() + 1),
                "{tables}: {parts:?}"
            );
            assert!(parts.iter().all(|part| *part.end() < 65_000), "{tables}: {parts:?}");
        }
    }
}
