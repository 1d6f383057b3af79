//! The packet network below signalling points: what checks ask of it.

use slantpath_reader::{Faults, Setting};

/// Nodes, and the links that join them, as far as signalling points name them.
pub trait PacketNetwork {
    /// Tells if a node has that name.
    fn has_node(&self, name: &str) -> bool;

    /// Reports a name that no node has.
    fn must_be_node(&self, node: &Setting<String>, faults: &mut Faults);

    /// Reports a link that does not end at a node.
    fn must_end_at(&self, link: &Setting<String>, node: &str, faults: &mut Faults);

    /// The links that end at a node, in alphabetical order, and after them those of its antennas.
    fn links_of<'a>(&'a self, node: &'a str) -> Vec<&'a str>;

    /// Tells if a link between two nodes ends at one of this name.
    fn ends_at(&self, link: &str, node: &str) -> bool;
}
