//! Links by which messages leave a point while all of them are in service.

use std::collections::{BTreeMap, BTreeSet};

use crate::PointCode;
use crate::mtp3::node::config::{Config, share};
use crate::mtp3::node::id::{LinkSetId, Mtp3LinkId};

/// Usual links of a point. Its routes are gathered once, since a network is asked for each load, destination and
/// signalling link selection.
#[derive(Clone, Debug)]
pub struct UsualLinks {
    /// Link sets of the best priority to each destination.
    normal: BTreeMap<PointCode, (LinkSetId, Option<LinkSetId>)>,
    link_sets: Vec<LinksOfSet>,
    sharing_bit: u8,
}

/// Links of a link set.
#[derive(Clone, Debug)]
struct LinksOfSet {
    /// Each link, and true for a backup.
    links: Vec<(Mtp3LinkId, bool)>,
    /// Links that are no backup.
    active: Vec<Mtp3LinkId>,
}

impl UsualLinks {
    /// Gathers those of a point.
    pub fn new(config: &Config) -> Self {
        let normal = config.routes().into_iter().filter_map(|(code, routes)| {
            let best = routes.first()?.priority;
            let mut normal = routes.iter().filter(|route| route.priority == best).map(|route| route.link_set);
            Some((code, (normal.next()?, normal.next())))
        });
        let backups: BTreeSet<_> = config.backups.iter().copied().collect();
        let mut ids = (0..=u16::MAX).map(Mtp3LinkId);
        let link_sets = config.link_sets.iter().map(|set| {
            let links = ids.by_ref().take(set.links.len()).map(|id| (id, backups.contains(&id)));
            let links: Vec<_> = links.collect();
            let active = links.iter().filter(|(_, is_backup)| !is_backup).map(|(id, _)| *id).collect();
            LinksOfSet { links, active }
        });
        Self { normal: normal.collect(), link_sets: link_sets.collect(), sharing_bit: config.sharing_bit }
    }

    /// The link by which messages of a signalling link selection leave for a destination while every link that is no
    /// backup is in service. None where there is no route.
    pub fn link(&self, destination: PointCode, sls: u8) -> Option<Mtp3LinkId> {
        let (link_set, rest) = match *self.normal.get(&destination)? {
            (one, None) => (one, usize::from(sls)),
            (one, Some(other)) => {
                let (second, rest) = share(self.sharing_bit, sls);
                (if second { other } else { one }, rest)
            }
        };
        let LinksOfSet { links, active } = self.link_sets.get(usize::from(link_set.0))?;
        let count = links.len();
        let (own, is_backup) = links[rest.checked_rem(count)?];
        if !is_backup {
            return Some(own);
        }
        active.get((rest / count + rest % count).checked_rem(active.len())?).copied()
    }
}
