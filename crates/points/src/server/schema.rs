//! `[signalling.gateways.<name>]`, `[signalling.asps.<name>]`, `[signalling.associations.<name>]` and
//! `[signalling.application_servers.<name>]`: signalling gateways and the application servers behind them.

use std::sync::Arc;

use slantpath_base::Duration;
use slantpath_reader::{Later, Resolved, Setting, choice, section};
use slantpath_signalling::network::ServerRegistration;
use slantpath_sigtran::asp::{self, ProcessConfig, TrafficMode};
use slantpath_sigtran::m3ua::{self, QueueLimits};

use crate::bounds::{MESSAGES, NAME, SERVERS, TIMER};
use slantpath_profiles::sctp::SctpProfile;

/// T(r) where nobody says otherwise.
fn recovery() -> Duration {
    asp::GatewayConfig::default().recovery
}

/// The queue where nobody says otherwise.
fn queue() -> u32 {
    u32::try_from(QueueLimits::default().max).unwrap_or(u32::MAX)
}

section! {
    /// A signalling gateway, between links of SS7 and associations of M3UA.
    pub struct Gateway<S> {
        /// Point of the gateway, which transfers between its links and the application servers behind it; the point of
        /// the gateway's name if absent.
        point: Later<S, Setting<String>>;
        /// T(r): how long messages for an application server without active ASP wait for one.
        t_r: Setting<Duration> = recovery(), at most TIMER;
        /// T(beat): how often BEAT is sent; not at all if absent, since SCTP has heartbeats of its own.
        t_beat: Option<Setting<Duration>>, at most TIMER;
        /// Number of messages that are queued for each application server during T(r); half of it is told as
        /// congestion, and beyond it they are dropped and counted.
        queue: Setting<u32> = queue(), at most MESSAGES;
        /// Number of application servers that ASPs may register beside those of the scenario, for the same points; none
        /// if absent. Each gets a routing context above those of the scenario.
        dynamic_servers: Option<Setting<u32>>, at most SERVERS;
    }
}

section! {
    /// An application server process (ASP).
    pub struct Asp<S> {
        /// The host of the packet network that it runs on; the node of the ASP's name if absent.
        node: Later<S, Setting<String>>;
        /// T(ack): how long the answer to ASP Up, ASP Active and their like may take before they are retransmitted.
        t_ack: Setting<Duration> = ProcessConfig::default().acknowledgement, at most TIMER;
        /// T(beat): how often BEAT is sent; not at all if absent, since SCTP has heartbeats of its own.
        t_beat: Option<Setting<Duration>>, at most TIMER;
        /// Interval at which destinations that cannot be reached, or are congested, are asked for by DAUD.
        audit: Setting<Duration> = m3ua::AspConfig::default().audit, at most TIMER;
    }
}

section! {
    /// An association of SCTP between a gateway and an ASP, which opens it.
    pub struct Association<S> {
        /// Gateway of the association.
        gateway: Setting<String>;
        /// The ASP.
        asp: Setting<String>;
        /// Adaptation layer that the association carries.
        adaptation: Setting<AssociationAdaptation> = AssociationAdaptation::M3ua;
        /// The association's configuration, `[sctp.<profile>]`; `default` if absent.
        profile: Later<S, Setting<String>>;
        /// The gateway's link of the packet network that is used first; if absent, one that leads straight to the ASP,
        /// or its first link in alphabetical order; of a host with several cables of a sky, that by which the way leads
        /// at the start.
        primary: Later<S, Setting<String>>;
        /// Time after a loss at which the ASP opens the association again.
        reopen_after: Setting<Duration> = Duration::from_secs(1), at most TIMER;
        /// Settings of the association, those of `profile`.
        settings: Later<S, Resolved<Arc<SctpProfile>>>;
    }
}

choice! {
    /// Adaptation layer that an association of a gateway carries.
    pub enum AssociationAdaptation {
        /// Messages of MTP3's users: M3UA (RFC 4666).
        M3ua = "m3ua",
    }
}

section! {
    /// An application server: a routing key, and the ASPs that share its messages.
    pub struct ApplicationServer {
        /// Routing context, which names it in messages.
        routing_context: Setting<u32>, at most NAME;
        /// Routing key: the point whose messages it gets (DPC). The point has no MTP3 of its own: its users are above
        /// M3UA.
        dpc: Setting<String>;
        /// Routing key: only messages from these points (OPC); from any if it is empty.
        opc: Setting<Vec<String>> = Vec::new();
        /// Routing key: only these service indicators (SI); any if it is empty.
        si: Setting<Vec<u8>> = Vec::new();
        /// The network of its point codes, where messages name it.
        network_appearance: Option<Setting<u32>>, at most NAME;
        /// Traffic mode, by which its ASPs share messages.
        traffic_mode: Setting<ServerTrafficMode> = ServerTrafficMode::Override;
        /// The ASPs. In override mode the first takes the traffic while it can, and the others stand by.
        asps: Setting<Vec<String>>;
        /// Number of ASPs that must be active before traffic starts (n of n + k).
        needed_active: Setting<u8> = 1;
        /// Way in which its ASPs become members; `static` if absent.
        registration: Option<Setting<RegistrationChoice>>;
    }
}

choice! {
    /// Way in which ASPs become members of an application server.
    pub enum RegistrationChoice {
        /// Gateway and ASPs have it by configuration.
        Static = "static",
        /// Each ASP registers the routing key at its gateway, which gives it a routing context (RFC 4666, section 4.4).
        Dynamic = "dynamic",
    }
}

impl RegistrationChoice {
    /// The way that it stands for.
    pub(crate) const fn way(self) -> ServerRegistration {
        match self {
            Self::Dynamic => ServerRegistration::Dynamic,
            Self::Static => ServerRegistration::Static,
        }
    }
}

choice! {
    /// Traffic mode, by which the ASPs of an application server share its messages.
    pub enum ServerTrafficMode {
        /// Each message goes to all that are active.
        Broadcast = "broadcast",
        /// Active ASPs share by signalling link selection.
        Loadshare = "loadshare",
        /// One takes all.
        Override = "override",
    }
}

impl ServerTrafficMode {
    /// The mode that it stands for.
    pub(crate) const fn mode(self) -> TrafficMode {
        match self {
            Self::Broadcast => TrafficMode::Broadcast,
            Self::Loadshare => TrafficMode::Loadshare,
            Self::Override => TrafficMode::Override,
        }
    }
}

impl Gateway {
    /// The queue with its thresholds: congestion from half of it on, its end at a quarter.
    pub(crate) fn queue_limits(&self) -> QueueLimits {
        let max = usize::try_from(*self.queue).unwrap_or(usize::MAX);
        QueueLimits { max, onset: max / 2, abatement: max / 4 }
    }
}
