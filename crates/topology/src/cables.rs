//! Cables between sites.

use slantpath_orbit::pair::{Cable, CableDelay};
use slantpath_orbit::site::Relay;
use slantpath_reader::{Fault, Faults, Lookup, Named, suggest};

use crate::schema::{CableTable, CableTime};
use crate::written::{SiteTable, TopologyFile};

/// The cables, if each joins two sites that are there and leads on.
pub(super) fn check(file: &TopologyFile, faults: &mut Faults) -> Vec<Cable> {
    file.cables.iter().filter_map(|cable| one(file, cable, faults)).collect()
}

fn one(file: &TopologyFile, cable: &Named<CableTable>, faults: &mut Faults) -> Option<Cable> {
    let names = [&cable.ends.0, &cable.ends.1];
    let mut found: Vec<&SiteTable> = Vec::new();
    for name in names {
        match file.sites.lookup(name) {
            Lookup::Found(site) => found.push(site),
            Lookup::Broken => return None,
            Lookup::Unknown => {
                let help = suggest(name, "sites", &file.sites.names());
                faults
                    .report(cable.ends.place(), Fault::new(format!("there is no site `{name}`")).help(help));
                return None;
            }
        }
    }
    let [a, b] = found[..] else { return None };
    let mut fail = |place, message: &str, help: &str| {
        faults.report(place, Fault::new(message).help(help));
    };
    if names[0] == names[1] {
        fail(cable.ends.place(), "the cable leads from a site to itself", "name two sites");
        return None;
    }
    if [a, b].iter().all(|site| site.relay.policy() != Relay::Gateway) {
        let help = "let a site at which paths go on be one with `relay = \"gateway\"`";
        fail(cable.ends.place(), "neither end of the cable is a gateway", help);
        return None;
    }
    let delay = match *cable.delay {
        CableTime::Stated(time) => CableDelay::Fixed(time),
        CableTime::GreatCircle if [a, b].iter().any(|site| site.track.is_some()) => {
            let help = "give its delay like `delay = \"12 ms\"`";
            fail(cable.ends.place(), "an end of the cable travels, so that its length is unknown", help);
            return None;
        }
        CableTime::GreatCircle => CableDelay::GreatCircle,
    };
    Some(Cable { ends: names.map(String::clone), delay })
}
