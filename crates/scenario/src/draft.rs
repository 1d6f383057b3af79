//! A scenario whose values have been checked and completed, but for the contacts of its sky.

use core::ops::Deref;
use std::sync::Arc;

use slantpath_orbit::ContactNetwork;
use slantpath_reader::{Faults, Tables};

use crate::checked::Checked;
use crate::contacts::Contacts;
use crate::schema::{File, LiveNode};
use crate::signalling::SignallingPlan;
use crate::sky_links;
use crate::sky_links::topology::Bodies;

/// Values of a scenario that have been checked and completed, as far as no orbit has to be worked out for them.
#[derive(Clone, Debug)]
pub struct Draft {
    file: File,
    signalling: Option<Arc<SignallingPlan>>,
    bodies: Option<Bodies>,
    live: Tables<LiveNode>,
}

impl Draft {
    pub(crate) fn new(
        file: File,
        signalling: Option<Arc<SignallingPlan>>,
        bodies: Option<Bodies>,
        live: Tables<LiveNode>,
    ) -> Self {
        Self { file, signalling, bodies, live }
    }

    /// The plan of its signalling network, if it has one.
    pub fn signalling_plan(&self) -> Option<&SignallingPlan> {
        self.signalling.as_deref()
    }

    /// The satellites and sites of its sky, if it has one.
    pub fn bodies(&self) -> Option<&ContactNetwork> {
        self.bodies.as_ref().map(|bodies| &bodies.network)
    }

    /// Works the contacts of its sky out, if it has one, and completes what depends on them.
    pub fn with_contacts(self, contacts: Contacts<'_>, faults: &mut Faults) -> Checked {
        let Self { mut file, signalling, bodies, live } = self;
        let sky = bodies.and_then(|bodies| sky_links::planning::plan(&mut file, &bodies, contacts, faults));
        Checked::new(file, signalling, sky, live)
    }
}

/// The tables of the file.
impl Deref for Draft {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}
