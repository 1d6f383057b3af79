//! A scenario whose values are all in place and of which nothing contradicts: what is built is built of it.

use core::ops::Deref;
use std::sync::Arc;

use slantpath_reader::Tables;

use crate::schema::{File, LiveNode};
use crate::signalling::SignallingPlan;
use crate::sky_links::plan::SkyPlan;

/// Values of a scenario that have been checked, and what its files say.
#[derive(Clone, Debug)]
pub struct Checked {
    file: File,
    signalling: Option<Arc<SignallingPlan>>,
    sky: Option<Arc<SkyPlan>>,
    live: Tables<LiveNode>,
}

impl Checked {
    pub(crate) fn new(
        file: File,
        signalling: Option<Arc<SignallingPlan>>,
        sky: Option<Arc<SkyPlan>>,
        live: Tables<LiveNode>,
    ) -> Self {
        Self { file, signalling, sky, live }
    }

    /// Tables of the file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The names of its links, and of the links of antennas.
    pub fn link_names(&self) -> Vec<&str> {
        let links = self.links.iter().map(|(name, _)| name);
        let antennas = self.nodes.iter().filter_map(|(_, node)| node.antennas.as_ref());
        links.chain(antennas.flat_map(|names| names.iter().map(String::as_str))).collect()
    }

    /// Nodes on the real network: of a file's tables the one that stands in no merged form.
    pub const fn live_nodes(&self) -> &Tables<LiveNode> {
        &self.live
    }

    /// The plan of its signalling network, if it has one.
    pub fn signalling_plan(&self) -> Option<&SignallingPlan> {
        self.signalling.as_deref()
    }

    /// The contacts of its sky, if it has one.
    pub fn sky_plan(&self) -> Option<&SkyPlan> {
        self.sky.as_deref()
    }

    /// The contacts of its sky, to be shared with a scenario that is made of it.
    pub fn shared_sky_plan(&self) -> Option<&Arc<SkyPlan>> {
        self.sky.as_ref()
    }
}

/// The tables of the file.
impl Deref for Checked {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

/// Equal when they run alike: contacts follow from the file.
impl PartialEq for Checked {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file
    }
}
