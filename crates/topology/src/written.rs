//! Tables of the topology file as they are written: the types of [`crate::schema`], in which values may be open.

use slantpath_reader::Written;

use crate::schema;

pub(crate) type AntennaTable = schema::AntennaTable<Written>;
pub(crate) type ConstellationTable = schema::ConstellationTable<Written>;
pub(crate) type Elements = schema::Elements<Written>;
pub(crate) type GroundTable = schema::GroundTable<Written>;
pub(crate) type IslTable = schema::IslTable<Written>;
pub(crate) type SiteTable = schema::SiteTable<Written>;
pub(crate) type TopologyFile = schema::TopologyFile<Written>;
