//! Everything that a signalling network is made of, once all names are resolved.

use slantpath_base::Seed;
use slantpath_simulation::{
    Carrier, LineConfig, LinkConfig, LinkEnd, LoadConfig, NetworkConfig, PointConfig, number_links,
};
use slantpath_ss7::mtp3::node::LinkId;
use slantpath_ss7::sccp::Ssn;

use crate::flow::trace::Traces;
use crate::signalling::load::build::generator;
use crate::signalling::names::{code, is_served, link_sets, point_id};
use crate::signalling::point::build::{mtp3, sccp_of};
use crate::signalling::schema::{self, Signalling};
use crate::signalling::server;

/// Everything that the points, the links and the loads are made of, in the order of their names.
pub(crate) fn network(signalling: &Signalling, traces: &Traces) -> NetworkConfig {
    let id = |name: &str| point_id(signalling, name).expect("a check gives links to points with MTP3");
    let with_mtp3 = signalling.points.iter().filter(|(name, _)| !is_served(signalling, name));
    let points = with_mtp3.map(|(name, point)| {
        let mtp3 = mtp3(signalling, name, point);
        let processor = point.processing.as_ref().map(|processing| processing.0.config());
        PointConfig { mtp3, sccp: sccp_of(signalling, name), processor }
    });
    let links = signalling.links.iter().map(|(name, link)| {
        let end = |point: &str| {
            let sets = link_sets(signalling, point);
            let at = sets.iter().flat_map(|(_, links)| links).position(|candidate| *candidate == name);
            let at = at.and_then(|at| u16::try_from(at).ok()).expect("a link is among those of its ends");
            LinkEnd { point: id(point), link: LinkId(at) }
        };
        let carrier = match &*link.carrier {
            schema::Carrier::M2pa(m2pa) => Carrier::Association(m2pa.config()),
            schema::Carrier::Mtp2(mtp2) => Carrier::Line(LineConfig {
                terminal: mtp2.config(),
                delay: *mtp2.delay,
                bit_error_rate: mtp2.bit_error_rate.as_f64(),
            }),
        };
        LinkConfig { name: name.to_owned(), ends: [end(&link.between.0), end(&link.between.1)], carrier }
    });
    NetworkConfig {
        points: points.collect(),
        links: links.collect(),
        m3ua: server::build::m3ua(signalling),
        loads: loads(signalling, traces).expect("a check has numbered the links of loads"),
    }
}

/// The loads, or the first one whose links have no number left by which messages could be told from those of others.
pub(crate) fn loads(signalling: &Signalling, traces: &Traces) -> Result<Vec<LoadConfig>, usize> {
    let loads = signalling.load.iter().map(|(name, load)| LoadConfig {
        name: name.to_owned(),
        from: server::build::place(signalling, &load.from),
        generator: generator(signalling, load, traces),
        destinations: load.to.iter().map(|to| code(signalling, to)).collect(),
        subsystem: load.subsystem.filter(|_| load.routing.is_by_title()).map(|ssn| Ssn(*ssn)),
        give_up_after: *load.give_up_after,
    });
    let mut loads: Vec<LoadConfig> = loads.collect();
    number_links(&mut loads)?;
    Ok(loads)
}

/// A seed for what is only checked and never run.
pub(crate) fn no_seed() -> Seed {
    Seed::new(0, 0)
}
