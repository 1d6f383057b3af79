//! Sources of the contacts of a sky, which take their time.

use std::sync::Arc;

use crate::sky_links::plan::SkyPlan;
use crate::watch::Watch;

/// Source of the contacts of a sky.
#[derive(Clone, Copy)]
pub struct Contacts<'a> {
    /// Contacts of a scenario that this one was made of.
    pub known: Option<&'a Arc<SkyPlan>>,
    /// Hears of them, and may stop them.
    pub watch: Watch<'a>,
}
