//! Configuration in `sat` of a sky: its links in the network of a run.

use std::collections::BTreeMap;

use slantpath_net::{AtHandover, DirectionConfig, NetworkBuilder, NodeId, SendingConfig, WhileDown};
use slantpath_orbit::ContactNodeId;
use slantpath_orbit::ground::Handover;
use slantpath_orbit::route;
use slantpath_sat::{
    AccessLinks, Downlink, InterSatelliteLinks, Sky, SkyLinks, SkyToCome, Stand, channel_name,
};

use super::plan::SkyPlan;
use super::port::SkyPort;
use super::schema::{SkyDirection, SkyTable, Standing, StandingAntenna};
use super::tables::isl_table;
use super::{cables, repeaters};
use crate::access;
use crate::link::conditioning;
use crate::network::planned::PlannedLink;
use crate::schema::File;

/// Declares the sky of a file that has been checked, and adds its links to those of the network.
pub(crate) fn declare(
    file: &File,
    plan: &SkyPlan,
    nodes: &BTreeMap<String, NodeId>,
    links: &mut Vec<PlannedLink>,
    builder: &mut NetworkBuilder,
) -> Option<Sky> {
    let sky = &file.sky.as_ref()?.0;
    let sites = &plan.bodies.sites;
    let standing: BTreeMap<usize, &Standing> = sky.stands.iter().map(|own| (own.site, own)).collect();
    let stands: Vec<Stand> = sky
        .stands
        .iter()
        .map(|own| Stand { site: own.site, node: nodes[&own.node], antennas: own.antennas.len() })
        .collect();
    let access: Vec<AccessLinks> = sky
        .access
        .iter()
        .map(|(_, table)| {
            let mtu_bytes = u32::try_from(table.mtu.as_bytes()).unwrap_or(u32::MAX);
            let uplink_at_handover = waiting(&table.uplink).at_antenna();
            let downlink_at_handover = waiting(&table.downlink).at_satellite();
            AccessLinks {
                uplink: direction(file, &table.uplink, mtu_bytes, uplink_at_handover),
                uplink_at_handover,
                downlink: direction(file, &table.downlink, mtu_bytes, downlink_at_handover),
                downlink_at_handover,
                is_downlink_shared: *table.shared_downlink,
            }
        })
        .collect();
    let isls: Vec<InterSatelliteLinks> = sky
        .isls
        .iter()
        .map(|(_, table)| {
            let mtu_bytes = u32::try_from(table.mtu.as_bytes()).unwrap_or(u32::MAX);
            let at_handover = waiting(&table.both.0).at_satellite();
            InterSatelliteLinks {
                direction: direction(file, &table.both.0, mtu_bytes, at_handover),
                at_handover,
            }
        })
        .collect();
    let constellation_of =
        |site: usize, antenna: usize| sites[site].antennas[antenna].constellation.as_deref();
    // Where an antenna follows any constellation, all of them are one sky.
    let is_one_sky = stands.iter().any(|stand| {
        (0..sites[stand.site].antennas.len()).any(|antenna| constellation_of(stand.site, antenna).is_none())
    });
    let group = |constellation: Option<&str>| match constellation {
        Some(name) if !is_one_sky => format!("sky/{name}"),
        _ => "sky".to_owned(),
    };
    let antenna_of = |site: usize, antenna: usize| &standing[&site].antennas[antenna];
    // An overlap is shorter than contacts: no antenna holds three satellites.
    let channels_of = &|site: usize, antenna: usize| match sites[site].antennas[antenna].policy.handover {
        Handover::MakeBeforeBreak { overlap } if !overlap.is_zero() => 2,
        Handover::MakeBeforeBreak { .. } | Handover::BreakBeforeMake { .. } => 1,
    };
    let cables = cables::links(file, plan, links, nodes);
    cables::schedule(&plan.contacts, &cables, builder);
    let declared = Sky::declare(
        builder,
        &plan.contacts,
        &stands,
        &SkyLinks {
            access: &access,
            access_of: &|site, antenna| antenna_of(site, antenna).table,
            isls: &isls,
            isls_of: &|body: ContactNodeId| isl_table(sky, plan.constellation_of(body.index())),
            group_of_antenna: &|site, antenna| group(constellation_of(site, antenna)),
            group_of_satellite: &|body: ContactNodeId| group(Some(plan.constellation_of(body.index()))),
            name_of: &|site, antenna| antenna_of(site, antenna).name.clone(),
            cables: &cables,
            to_come: plan.neighbours.as_deref().map(|neighbours| SkyToCome { neighbours, channels_of }),
        },
    );
    for antenna in declared.antennas() {
        let &StandingAntenna { address, table, .. } = antenna_of(antenna.site, antenna.antenna);
        builder.address(antenna.links[0].first(), address);
        for (channel, &id) in antenna.links.iter().enumerate() {
            let name = channel_name(&antenna.name, channel);
            let own = (channel == 0).then_some(address);
            links.push(PlannedLink {
                name,
                id,
                antenna: Some(antenna.name.clone()),
                access_table: Some(table),
                addresses: [own, None],
                ends_at_node: true,
                has_queue: [true, antenna.downlink == Downlink::Own],
                has_transmitter: [true, antenna.downlink != Downlink::Repeated],
            });
        }
    }
    let names = plan.contacts.names();
    for &(one, other, id) in declared.isls() {
        let name = format!("sky.{}--{}", names[one.index()], names[other.index()]);
        links.push(PlannedLink {
            name,
            id,
            antenna: None,
            access_table: None,
            addresses: [None, None],
            ends_at_node: false,
            has_queue: [true; 2],
            has_transmitter: [true; 2],
        });
    }
    Some(declared)
}

/// Configuration of the choice of routes over the sky.
pub(crate) fn routes(sky: &SkyTable) -> route::RouteConfig {
    route::RouteConfig {
        metric: sky.metric.policy(),
        refresh: sky.refresh.0,
        ..route::RouteConfig::default()
    }
}

fn waiting(direction: &SkyDirection) -> super::schema::Waiting {
    *direction.at_handover
}

fn direction(
    file: &File,
    direction: &SkyDirection,
    mtu_bytes: u32,
    at_handover: AtHandover,
) -> DirectionConfig {
    let port = match &direction.port.0 {
        SkyPort::Sends(port) => port,
        SkyPort::Repeats(conditioners) => {
            return repeaters::direction(file, &direction.channel, conditioners, mtu_bytes);
        }
    };
    let access = direction.access.as_ref().map(|access| &access.0);
    let mut config = port.direction(mtu_bytes);
    config.conditioner = conditioning::rules(file, &port.conditioners);
    direction.channel.configure(&mut config);
    // It is there without a way to send of its own: that is checked.
    if let Some(frames) = access.and_then(|access| access::build::frames(&file.access, access)) {
        config.sending = SendingConfig::InFrames(frames);
    }
    if at_handover == AtHandover::Held {
        config.while_down = WhileDown::Hold;
    }
    config
}
