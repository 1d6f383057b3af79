//! Everything that a signalling network is made of, once all names are resolved.

use slantpath_base::{Instant, Seed};
use slantpath_signalling::network::{
    self, LineConfig, LinkCarrier, LoadConfig, ManagementChange, NetworkConfig, PointEnd,
};
use slantpath_ss7::mtp3::node::Mtp3LinkId;
use slantpath_ss7::sccp::Ssn;
use slantpath_traffic::number_links;

use crate::by_point::ByPoint;
use crate::load::build::generator;
use crate::names::{Unresolved, code, is_served, known};
use crate::point::build::{mtp3, sccp_of};
use crate::schema::{self, Signalling};
use crate::screening::build::screening;
use crate::{script, server};

/// Everything that a signalling network is made of and that happens to it, with numbers in the place of names.
#[derive(Clone, Debug)]
pub struct SignallingPlan {
    /// Points, links, gateways, application servers and loads, each in the order of their names.
    pub network: NetworkConfig,
    /// Events of its script, in the order of the file.
    pub script: Vec<(Instant, ManagementChange)>,
}

/// Everything that the points, the links and the loads are made of, in the order of their names.
pub(crate) fn plan(signalling: &Signalling) -> Result<SignallingPlan, Unresolved> {
    let by_point = ByPoint::new(signalling);
    let with_mtp3 = signalling.points.iter().filter(|(name, _)| !is_served(signalling, name));
    let points = with_mtp3.map(|(name, point)| {
        let processor = point.processing.as_ref().map(|processing| processing.0.config());
        let (mtp3, sccp) = (mtp3(signalling, &by_point, name, point)?, sccp_of(signalling, &by_point, name)?);
        let screening = screening(signalling, name)?;
        Ok(network::PointConfig { mtp3, sccp, processor, screening })
    });
    let links = signalling.links.iter().map(|(name, link)| {
        let end = |point: &str| {
            let at = by_point.link_number(point, name).and_then(|at| u16::try_from(at).ok());
            let link = Mtp3LinkId(known(at, name)?);
            Ok(PointEnd { point: known(by_point.id(point), point)?, link })
        };
        let carrier = match &*link.carrier {
            schema::Carrier::M2pa(m2pa) => LinkCarrier::Association(m2pa.config()),
            schema::Carrier::Mtp2(mtp2) => LinkCarrier::Line(LineConfig {
                terminal: mtp2.config(),
                delay: *mtp2.delay,
                bit_error_rate: mtp2.bit_error_rate.as_f64(),
            }),
        };
        let ends = [end(&link.between.0)?, end(&link.between.1)?];
        Ok(network::LinkConfig { name: name.to_owned(), ends, carrier })
    });
    let mut loads = loads(signalling)?;
    if let Err(number) = number_links(&mut loads) {
        return Err(Unresolved(loads[number].name.clone()));
    }
    let network = NetworkConfig {
        points: points.collect::<Result<_, _>>()?,
        links: links.collect::<Result<_, _>>()?,
        m3ua: server::build::m3ua(signalling, &by_point)?,
        loads,
    };
    Ok(SignallingPlan { network, script: script::build::changes(signalling)? })
}

/// The loads, whose links have no numbers yet by which messages are told from those of others.
pub(crate) fn loads(signalling: &Signalling) -> Result<Vec<LoadConfig>, Unresolved> {
    let loads = signalling.load.iter().map(|(name, load)| {
        Ok(LoadConfig {
            name: name.to_owned(),
            from: server::build::place(signalling, &load.from)?,
            generator: generator(signalling, load)?,
            destinations: load.to.iter().map(|to| code(signalling, to)).collect::<Result<_, _>>()?,
            subsystem: load.subsystem.filter(|_| load.routing.is_by_title()).map(|ssn| Ssn(*ssn)),
            give_up_after: *load.give_up_after,
        })
    });
    loads.collect()
}

/// A seed for what is only checked and never run.
pub(crate) fn no_seed() -> Seed {
    Seed::new(0, 0)
}
