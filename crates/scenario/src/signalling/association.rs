//! The signalling network of a run: its associations at the hosts, its script, and the run of both together.

use slantpath_applications::{AssociationConfig, Associations as _};
use slantpath_base::Seed;
use slantpath_host::Peer;
use slantpath_points::schema::{Carrier, M2pa};
use slantpath_points::{M2PA_STREAMS, is_traced, node_of, side_name};
use slantpath_signalling::network::{AssociationSide, Carried, Side, SignallingLinkId};
use slantpath_sigtran::m2pa::T7From;
use slantpath_simulation::{AssociationPlace, SignallingNetwork, SignallingSimulation};

use crate::build_error::BuildError;
use crate::checked::Checked;
use crate::network::node::{HostNumber, ip_fields};
use crate::network::site::Site;
use crate::signalling::adaptation;

/// The registered port of M2PA (RFC 4165, section 5.2): links take it and those that follow, in the order of names.
const FIRST_PORT: u16 = 3_565;

/// One end of an association that carries signalling, as its host has it.
#[derive(Clone, Debug)]
pub struct PlannedAssociation {
    /// Signalling that the association carries, and the end of it.
    pub end: AssociationSide,
    /// Name of the link or the association.
    pub name: String,
    /// Name of the node whose host it is.
    pub node: String,
    /// Settings, addresses and port; the end that opens it has a peer.
    pub config: AssociationConfig,
}

/// The signalling network of a run, with the ends of its associations at the hosts.
pub(crate) type PlannedSignalling = (Option<SignallingSimulation>, Vec<PlannedAssociation>);

/// The signalling network of a scenario, if it has one, with the ends of its associations added to the hosts.
pub(crate) fn plan(
    scenario: &Checked,
    seed: Seed,
    traced: &[String],
    site: &mut Site<'_>,
) -> Result<PlannedSignalling, BuildError> {
    let Some(plan) = scenario.signalling_plan() else { return Ok((None, Vec::new())) };
    let (mut places, mut planned) = (Vec::new(), Vec::new());
    for (number, (name, link)) in scenario.signalling.links.iter().enumerate() {
        let Carrier::M2pa(m2pa) = &*link.carrier else { continue };
        let names = [&link.between.0, &link.between.1].map(|point| node_of(&scenario.signalling, point));
        let hosts = [site.host_named(&names[0])?, site.host_named(&names[1])?];
        site.join_both(hosts)?;
        let port = FIRST_PORT + u16::try_from(number).unwrap_or(u16::MAX - FIRST_PORT);
        let configs = association(scenario, site, m2pa, hosts, port)?;
        for ((side, host), mut config) in Side::BOTH.into_iter().zip(hosts).zip(configs) {
            let node = site.node(host);
            config.sctp.ip = ip_fields(&scenario.nodes, site.graph.node_name(node), None);
            let end = AssociationSide { carried: Carried::Link(SignallingLinkId(number)), side };
            config.sctp.trace = is_traced(&scenario.signalling, traced, end.carried, side);
            let path = format!("signalling/links/{name}/{}", side_name(side));
            let association = site.host(host).add_association(&config, seed, &path);
            places.push(AssociationPlace { end, node, association });
            let node = site.graph.node_name(node).to_owned();
            planned.push(PlannedAssociation { end, name: name.to_owned(), node, config });
        }
    }
    let (of_m3ua, planned_of_m3ua) = adaptation::places(scenario, seed, traced, site)?;
    places.extend(of_m3ua);
    planned.extend(planned_of_m3ua);
    let signalling = SignallingNetwork::new(plan.network.clone(), seed)?;
    Ok((Some(SignallingSimulation::new(signalling, places, plan.script.clone())), planned))
}

/// Both ends of an association: the first opens it, the second listens.
fn association(
    scenario: &Checked,
    site: &mut Site<'_>,
    m2pa: &M2pa,
    hosts: [HostNumber; 2],
    port: u16,
) -> Result<[AssociationConfig; 2], BuildError> {
    let [first, second] = site.addresses(&m2pa.primary, hosts)?;
    let sctp = slantpath_sctp::SctpConfig {
        // M2PA is told when a message is first sent if its T7 runs from there on.
        trace_messages: m2pa.t7_from.policy() == T7From::FirstTransmission,
        ..m2pa.settings.config(M2PA_STREAMS)
    };
    let config = |local_addresses, peer| AssociationConfig {
        sctp: Box::new(sctp.clone()),
        local_addresses,
        local_port: port,
        peer,
        reopen_after: *m2pa.reopen_after,
        sample_paths: scenario.probes.paths.quantity(),
        measures_delay: scenario.probes.intervals.quantity().is_some(),
    };
    Ok([config(first, Some(Peer { addresses: second.clone(), port })), config(second, None)])
}
