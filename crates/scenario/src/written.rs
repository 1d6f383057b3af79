//! Tables of the scenario file as they are written: the types of [`crate::schema`], in which values may be open.

use slantpath_reader::Written;

use crate::{flow, link, sessions, sky_links};

pub(crate) type Flow = flow::schema::Flow<Written>;
pub(crate) type FadeTrace = link::trace::FadeTrace<Written>;
pub(crate) type Link = link::schema::Link<Written>;
pub(crate) type LinkParameters = link::schema::LinkParameters<Written>;
pub(crate) type Sessions = sessions::schema::Sessions<Written>;
pub(crate) type SkyTable = sky_links::schema::SkyTable<Written>;
pub(crate) type AccessTable = sky_links::schema::AccessTable<Written>;
pub(crate) type SkyDirection = sky_links::schema::SkyDirection<Written>;
