//! Tables as they are written: the types of [`crate::schema`], in which values may be open.

use slantpath_reader::Written;

use crate::schema;

pub(crate) type Signalling = schema::Signalling<Written>;
pub(crate) type SignallingLink = schema::SignallingLink<Written>;
