//! The scenario file, table by table. What stands here is what may stand in a file; [`crate::check`] says
//! which of it makes sense together.

pub mod application;
pub(crate) mod bounds;
pub mod flow;
pub mod head;
pub mod link;
pub mod probes;
pub mod script;
pub mod sctp;
pub mod signalling;
pub mod tcp;
mod threshold;

pub use application::{Application, Bulk, Bursts, ConstantRate, Content, Poisson, Total, Trace, WhenBlocked};
pub use flow::{Adaptation, Flow, Transport};
pub use head::{Head, Node, NodeKind, Routing};
pub use link::{Direction, Family, Link, LinkParameters, QueueLimit, WhileDown};
pub use probes::{Interval, Probes, Sampling};
pub use script::{Action, Event, Which};
pub use sctp::SctpProfile;
pub use signalling::Signalling;
pub use tcp::TcpProfile;
pub use threshold::Threshold;

use crate::section::{Named, Part, Tables, section};

section! {
    /// A Slantpath scenario: all that a run depends on, but its seed's replications and the traces it names.
    pub struct File {
        /// What is run, for how long and from which seed.
        scenario: Part<Head>;
        /// Hosts and routers.
        nodes: Tables<Node>;
        /// Links between two nodes each.
        links: Tables<Link>;
        /// SCTP configurations by name. A flow that names none uses `default`.
        sctp: Tables<SctpProfile>;
        /// TCP configurations by name. A flow that names none uses `default`.
        tcp: Tables<TcpProfile>;
        /// Who sends what to whom.
        flows: Tables<Flow>;
        /// What happens to links while the scenario runs.
        script: Vec<Named<Event>>;
        /// Signalling points of SS7, their links and their load.
        signalling: Part<Signalling>;
        /// What is measured and captured.
        probes: Part<Probes>;
    }
}
