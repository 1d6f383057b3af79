//! Antennas that a script takes down: a site with none left is cut off.

use std::collections::BTreeMap;

use slantpath_base::Instant;
use slantpath_orbit::ContactNodeId;
use slantpath_orbit::contact::ContactPlan;
use slantpath_scenario::schema::{self, File, Which};

/// State of the antennas of sites that a script takes down.
pub(super) struct AntennaScript {
    /// Events in the order of time: the antenna by its place among `antennas`.
    events: Vec<(Instant, usize, Which, schema::Action)>,
    /// Number of events that have happened.
    happened: usize,
    antennas: Vec<Antenna>,
    /// The antennas of each site of which the script takes one down.
    sites: BTreeMap<ContactNodeId, Vec<usize>>,
}

struct Antenna {
    name: String,
    /// True if it sends, and true if it receives.
    works: [bool; 2],
}

impl AntennaScript {
    pub(super) fn new(file: &File, contacts: &ContactPlan) -> Self {
        let (mut antennas, mut sites) = (Vec::new(), BTreeMap::new());
        for (_, node) in file.nodes.iter() {
            let (Some(site), Some(own)) = (&node.site, &node.antennas) else { continue };
            let Some(site) = contacts.node(site) else { continue };
            if own.iter().any(|name| file.script.iter().any(|event| *event.link == *name)) {
                let first = antennas.len();
                antennas.extend(own.iter().map(|name| Antenna { name: name.clone(), works: [true; 2] }));
                sites.insert(site, (first..antennas.len()).collect());
            }
        }
        let mut events = Vec::new();
        for event in file.script.iter().filter(|event| *event.action != schema::Action::Set) {
            if let Some(antenna) = antennas.iter().position(|antenna| antenna.name == *event.link) {
                events.push((Instant::START + *event.at, antenna, *event.direction, *event.action));
            }
        }
        events.sort_by_key(|(at, ..)| *at);
        Self { events, happened: 0, antennas, sites }
    }

    /// Instant at which the next event happens.
    pub(super) fn next_change(&self) -> Option<Instant> {
        self.events.get(self.happened).map(|(at, ..)| *at)
    }

    /// Lets everything happen up to an instant.
    pub(super) fn advance(&mut self, now: Instant) {
        while let Some(&(_, antenna, which, action)) =
            self.events.get(self.happened).filter(|(at, ..)| *at <= now)
        {
            let directions: &[usize] = match which {
                Which::Both => &[0, 1],
                Which::Forward => &[0],
                Which::Reverse => &[1],
            };
            for &direction in directions {
                self.antennas[antenna].works[direction] = action == schema::Action::Up;
            }
            self.happened += 1;
        }
    }

    /// Tells whether a site has no antenna left that both sends and receives: nothing is answered there.
    pub(super) fn is_cut_off(&self, site: ContactNodeId) -> bool {
        let own = self.sites.get(&site);
        own.is_some_and(|own| !own.iter().any(|&antenna| self.antennas[antenna].works == [true; 2]))
    }
}
