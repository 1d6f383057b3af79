//! The associations between gateways and ASPs at the hosts of a run.

use slantpath_applications::{AssociationConfig, Associations as _};
use slantpath_base::Seed;
use slantpath_host::Peer;
use slantpath_points::{M3UA_STREAMS, asp_node, gateway_point, is_traced, node_of};
use slantpath_signalling::network::{AdaptationId, AssociationSide, Carried, Side};
use slantpath_simulation::AssociationPlace;

use crate::build_error::BuildError;
use crate::checked::Checked;
use crate::network::node::ip_fields;
use crate::network::site::Site;
use crate::signalling::association::PlannedAssociation;

/// The registered port of M3UA (RFC 4666, section 1.4.8): associations take it and those that follow, in the order of
/// names.
const FIRST_PORT: u16 = 2_905;

/// Adds both ends of every association to their hosts.
pub(crate) fn places(
    scenario: &Checked,
    seed: Seed,
    traced: &[String],
    site: &mut Site<'_>,
) -> Result<(Vec<AssociationPlace>, Vec<PlannedAssociation>), BuildError> {
    let signalling = &scenario.signalling;
    let (mut places, mut planned) = (Vec::new(), Vec::new());
    for (number, (name, table)) in signalling.associations.iter().enumerate() {
        let of_gateway = site.host_named(&node_of(signalling, gateway_point(signalling, &table.gateway)))?;
        let of_asp = site.host_named(asp_node(signalling, &table.asp))?;
        site.join_both([of_gateway, of_asp])?;
        let port = FIRST_PORT + u16::try_from(number).unwrap_or(u16::MAX - FIRST_PORT);
        let [process, gateway] = site.addresses(&table.primary, [of_asp, of_gateway])?;
        let config = |local_addresses, peer| AssociationConfig {
            sctp: Box::new(table.settings.config(M3UA_STREAMS)),
            local_addresses,
            local_port: port,
            peer,
            reopen_after: *table.reopen_after,
            sample_paths: scenario.probes.paths.quantity(),
            measures_delay: scenario.probes.intervals.quantity().is_some(),
        };
        // The gateway listens, the ASP opens (RFC 4666, section 1.4.8).
        let peer = Peer { addresses: gateway.clone(), port };
        let configs = [config(gateway, None), config(process, Some(peer))];
        for (((side, name_of_side), host), mut config) in
            Side::BOTH.into_iter().zip(["gateway", "asp"]).zip([of_gateway, of_asp]).zip(configs)
        {
            let node = site.node(host);
            config.sctp.ip = ip_fields(&scenario.nodes, site.graph.node_name(node), None);
            let end = AssociationSide { carried: Carried::Adaptation(AdaptationId(number)), side };
            config.sctp.trace = is_traced(signalling, traced, end.carried, side);
            let path = format!("signalling/associations/{name}/{name_of_side}");
            let association = site.host(host).add_association(&config, seed, &path);
            places.push(AssociationPlace { end, node, association });
            let node = site.graph.node_name(node).to_owned();
            planned.push(PlannedAssociation { end, name: name.to_owned(), node, config });
        }
    }
    Ok((places, planned))
}
