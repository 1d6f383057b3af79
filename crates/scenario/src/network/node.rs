//! `[nodes.<name>]`.

use slantpath_reader::{Setting, choice, section};

section! {
    /// A host or a router.
    pub struct Node {
        /// Hosts end flows, routers forward.
        kind: Setting<NodeKind>;
    }
}

choice! {
    /// What a node does.
    pub enum NodeKind {
        /// Ends flows and forwards nothing.
        Host = "host",
        /// Forwards packets along shortest paths.
        Router = "router",
    }
}
