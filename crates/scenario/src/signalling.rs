//! The signalling network of a run: `slantpath_points` has its keys, its checks and its plan. Here are what carries its
//! associations, and the hosts at which they end: [`association`] has those of links, [`adaptation`] those of M3UA.

mod adaptation;
mod association;

pub use association::PlannedAssociation;
pub(crate) use association::plan;
pub use slantpath_points::{
    ByPoint, M2PA_STREAMS, SignallingEnd, SignallingPlan, asp_node, gateway_point, gateways_of, is_served,
    link_sets, node_of, schema, side_name, signalling_ends, with_mtp3,
};
