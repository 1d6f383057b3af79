//! The parts of a network that stand in the sky, or under it with antennas.

use rustc_hash::FxHashMap;
use slantpath_base::{DataRate, Duration, Instant};
use slantpath_net::{
    AtHandover, Delay, DirectionConfig, DirectionId, InterfaceId, LinkEnd, LinkId, NetworkBuilder, NodeId,
    QueueConfig, QueueLimit, SharedPortId,
};
use slantpath_orbit::ContactNodeId;
use slantpath_orbit::constellation::Payload;
use slantpath_orbit::contact::{Contact, ContactId, ContactKind, ContactPlan};

/// A node of the network at a site of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stand {
    /// The site, among those of the plan.
    pub site: usize,
    /// The node that has its antennas.
    pub node: NodeId,
    /// Number of antennas of the site.
    pub antennas: usize,
}

/// Settings of links between the ground and satellites.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessLinks {
    /// From an antenna to its satellite. Its delay does not count.
    pub uplink: DirectionConfig,
    /// Fate of the packets queued at an antenna when its contact ends.
    pub uplink_at_handover: AtHandover,
    /// From a satellite to an antenna. A satellite that repeats sends on at once, with what is left of it: the channel.
    pub downlink: DirectionConfig,
    /// Fate of the packets queued at a satellite for an antenna when its contact ends.
    pub downlink_at_handover: AtHandover,
    /// True if all antennas that a satellite serves by these links share one transmitter.
    pub is_downlink_shared: bool,
}

/// A cable of the plan that is a link of the network, whose state follows the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CableLink {
    /// Link of the network.
    pub link: LinkId,
    /// The sites that it joins, first end first.
    pub ends: [ContactNodeId; 2],
    /// The nodes that stand there.
    pub nodes: [NodeId; 2],
}

/// Settings of links between satellites.
#[derive(Clone, Debug, PartialEq)]
pub struct InterSatelliteLinks {
    /// Either direction. Its delay does not count.
    pub direction: DirectionConfig,
    /// Fate of the packets queued when a contact ends.
    pub at_handover: AtHandover,
}

/// Settings of the links of a sky, by the places of their tables.
pub struct SkyLinks<'a> {
    /// Tables of links to the ground.
    pub access: &'a [AccessLinks],
    /// Table of each antenna: by site of the plan, then antenna.
    pub access_of: &'a dyn Fn(usize, usize) -> usize,
    /// Tables of links between satellites.
    pub isls: &'a [InterSatelliteLinks],
    /// Table of the satellites of each constellation, by their node in the plan. Without one they have no links.
    pub isls_of: &'a dyn Fn(ContactNodeId) -> Option<usize>,
    /// The group of each antenna, by site and antenna: antennas of one group may reach each other by satellites alone.
    pub group_of_antenna: &'a dyn Fn(usize, usize) -> String,
    /// The group of the antennas that a satellite serves.
    pub group_of_satellite: &'a dyn Fn(ContactNodeId) -> String,
    /// Name of the links of an antenna, by site and antenna: that of their random streams, too.
    pub name_of: &'a dyn Fn(usize, usize) -> String,
    /// The cables of the plan that carry packets. Others are no part of any route.
    pub cables: &'a [CableLink],
    /// Links that there will be besides, if the plan is only the beginning of a longer one.
    pub to_come: Option<SkyToCome<'a>>,
}

/// Parts of a sky that the beginning of a plan need not have, and a longer one may.
pub struct SkyToCome<'a> {
    /// Pairs of satellites that may have a link.
    pub neighbours: &'a [(ContactNodeId, ContactNodeId)],
    /// Number of satellites that an antenna may hold at a time, by site of the plan and antenna.
    pub channels_of: &'a dyn Fn(usize, usize) -> usize,
}

/// A longer plan has a contact for which nothing was declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnforeseenContact(
    /// Ends of the contact.
    pub String,
    /// Instant at which it begins.
    pub Instant,
);

impl core::fmt::Display for UnforeseenContact {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} at {} needs a link that the network does not have", self.0, self.1)
    }
}

impl core::error::Error for UnforeseenContact {}

/// An antenna of a node.
#[derive(Clone, Debug)]
pub struct AntennaLink {
    /// The site, among those of the plan.
    pub site: usize,
    /// The antenna, among those of the site.
    pub antenna: usize,
    /// Name of its links.
    pub name: String,
    /// Links of the antenna to the sky, node first: one for each satellite that it ever holds at a time, and one if it
    /// holds none. It sends by the first.
    pub links: Vec<LinkId>,
    /// Transmitter that sends to it.
    pub downlink: Downlink,
    pub(crate) access: usize,
}

/// The transmitter of satellites by which an antenna receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Downlink {
    /// One for this antenna alone.
    Own,
    /// One that other antennas share.
    Shared,
    /// None: satellites repeat what comes, as it comes.
    Repeated,
}

/// Forms in which a contact of the plan is a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContactLink {
    /// An antenna, and the link that it has for this satellite.
    Ground { antenna: u32, link: LinkId },
    /// The link of two satellites, the lower node first, and the place of its table.
    InterSatellite { link: LinkId, table: usize },
    /// A cable of the network.
    Cable { link: LinkId },
    /// Nothing in the network has that antenna, or that link.
    Unused,
}

/// Nodes, links and tables of a sky in a network.
#[derive(Clone, Debug)]
pub struct Sky {
    /// By body of the plan: satellites, and sites at which a node stands.
    pub(crate) nodes: Vec<Option<NodeId>>,
    /// By node of the network, as far as the sky was declared with them.
    pub(crate) bodies: Vec<Option<ContactNodeId>>,
    antennas: Vec<AntennaLink>,
    /// By link of the network: the antenna that it is of.
    pub(crate) antenna_of: FxHashMap<LinkId, u32>,
    isls: Vec<(ContactNodeId, ContactNodeId, LinkId)>,
    /// By pair of satellites: the form of their contacts.
    isl_of: FxHashMap<(ContactNodeId, ContactNodeId), ContactLink>,
    /// By link of the network that is a cable.
    pub(crate) cables: FxHashMap<LinkId, CableLink>,
    pub(crate) contacts: Vec<ContactLink>,
    /// By satellite and table of access links.
    pub(crate) ports: FxHashMap<(u32, usize), SharedPortId>,
    pub(crate) access: Vec<AccessLinks>,
    /// By table of links between satellites.
    pub(crate) isl_at_handover: Vec<AtHandover>,
    /// The node that stands for each group of antennas in the network's own routes.
    pub(crate) groups: Vec<NodeId>,
    /// By satellite: its group, if antennas are of it.
    pub(crate) group_of_satellite: Vec<Option<usize>>,
    /// Group of each antenna.
    pub(crate) group_of_antenna: Vec<usize>,
}

impl Sky {
    /// Declares satellites, antennas and links between satellites.
    pub fn declare(
        builder: &mut NetworkBuilder,
        plan: &ContactPlan,
        stands: &[Stand],
        links: &SkyLinks<'_>,
    ) -> Self {
        let mut nodes = vec![None; plan.names().len()];
        for (body, name) in plan.names()[..plan.satellite_count()].iter().enumerate() {
            nodes[body] = Some(match plan.payload(ContactNodeId::new(body)) {
                Some(Payload::BentPipe) => builder.repeater(&format!("sky.{name}")),
                Some(Payload::Regenerative) | None => builder.router(&format!("sky.{name}")),
            });
        }
        for stand in stands {
            nodes[plan.satellite_count() + stand.site] = Some(stand.node);
        }
        let mut sky = Self {
            bodies: Vec::new(),
            nodes,
            antennas: Vec::new(),
            antenna_of: FxHashMap::default(),
            isls: Vec::new(),
            isl_of: FxHashMap::default(),
            cables: links.cables.iter().map(|cable| (cable.link, *cable)).collect(),
            contacts: vec![ContactLink::Unused; plan.contacts().len()],
            ports: FxHashMap::default(),
            access: links.access.to_vec(),
            isl_at_handover: links.isls.iter().map(|isls| isls.at_handover).collect(),
            groups: Vec::new(),
            group_of_satellite: Vec::new(),
            group_of_antenna: Vec::new(),
        };
        sky.declare_antennas(builder, plan, stands, links);
        sky.declare_isls(builder, plan, links);
        sky.lay_cables(plan);
        sky.declare_ports(builder, plan, links);
        for (body, node) in sky.nodes.iter().enumerate() {
            let Some(node) = node else { continue };
            if sky.bodies.len() <= node.index() {
                sky.bodies.resize(node.index() + 1, None);
            }
            sky.bodies[node.index()] = Some(ContactNodeId::new(body));
        }
        sky
    }

    /// The antennas, site by site.
    pub fn antennas(&self) -> &[AntennaLink] {
        &self.antennas
    }

    /// The links between satellites, with their ends in the plan.
    pub fn isls(&self) -> &[(ContactNodeId, ContactNodeId, LinkId)] {
        &self.isls
    }

    /// The transmitters that antennas share, by satellite and table of access links. One of a satellite that repeats is
    /// among them, and has no queue.
    pub fn shared_downlinks(&self) -> Vec<(ContactNodeId, usize, SharedPortId)> {
        let ports = self.ports.iter();
        let mut shared: Vec<_> =
            ports.map(|(&(body, table), &port)| (ContactNodeId(body), table, port)).collect();
        shared.sort_unstable_by_key(|&(body, table, _)| (body, table));
        shared
    }

    /// The node of the network that stands at a body of the plan.
    pub fn node(&self, body: ContactNodeId) -> Option<NodeId> {
        self.nodes[body.index()]
    }

    /// By which antenna a node sends to another's, if it has several under the same satellites: its first to the
    /// other's first, its second to the second, and so on. `leaving` is what the network's own routes say. Anything
    /// but two antennas stays as it is.
    pub fn paired(&self, leaving: InterfaceId, arriving: InterfaceId) -> InterfaceId {
        let antenna =
            |interface: InterfaceId| self.antenna_of.get(&interface.link()).map(|&place| place as usize);
        let (Some(from), Some(to)) = (antenna(leaving), antenna(arriving)) else { return leaving };
        let ordinal = self.fellows_of(to).position(|fellow| fellow == to).unwrap_or(0);
        let own: Vec<usize> = self.fellows_of(from).collect();
        own.get(ordinal).map_or(leaving, |&place| self.antennas[place].links[0].first())
    }

    /// The antennas of a node to the same satellites as one of them, itself among them.
    fn fellows_of(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.antennas.len()).filter(move |&other| {
            self.antennas[other].site == self.antennas[place].site
                && self.group_of_antenna[other] == self.group_of_antenna[place]
        })
    }

    /// Gives for each antenna those of its node to the same satellites, itself among them.
    pub(crate) fn fellows(&self) -> Vec<Vec<u32>> {
        let mut together = FxHashMap::<(usize, usize), Vec<u32>>::default();
        for (place, antenna) in (0..).zip(&self.antennas) {
            together.entry((antenna.site, self.group_of_antenna[place as usize])).or_default().push(place);
        }
        let groups = self.antennas.iter().zip(&self.group_of_antenna);
        groups.map(|(antenna, &group)| together[&(antenna.site, group)].clone()).collect()
    }

    fn declare_antennas(
        &mut self,
        builder: &mut NetworkBuilder,
        plan: &ContactPlan,
        stands: &[Stand],
        links: &SkyLinks<'_>,
    ) {
        let mut contacts = contacts_by_antenna(plan);
        let mut groups = FxHashMap::<String, usize>::default();
        for &Stand { site, node, antennas } in stands {
            for antenna in 0..antennas {
                let name = (links.group_of_antenna)(site, antenna);
                let group = *groups.entry(name).or_insert_with_key(|name| {
                    self.groups.push(builder.router(name));
                    self.groups.len() - 1
                });
                let own = contacts.remove(&(site, antenna)).unwrap_or_default();
                self.declare_antenna(builder, plan, (site, antenna), (node, group), &own, links);
            }
        }
        let group_of = |body| groups.get(&(links.group_of_satellite)(ContactNodeId::new(body))).copied();
        self.group_of_satellite = (0..plan.satellite_count()).map(group_of).collect();
    }

    /// Gives an antenna as many links as it ever has contacts at once, and each contact one of them.
    fn declare_antenna(
        &mut self,
        builder: &mut NetworkBuilder,
        plan: &ContactPlan,
        (site, antenna): (usize, usize),
        (node, group): (NodeId, usize),
        contacts: &[ContactId],
        links: &SkyLinks<'_>,
    ) {
        let table = (links.access_of)(site, antenna);
        let access = &links.access[table];
        let nominal = contacts.first().map_or(NO_CONTACT, |&id| plan.delay(id).at(plan.contact(id).start));
        let name = (links.name_of)(site, antenna);
        let place = u32::try_from(self.antennas.len()).expect("fewer than 2^32 antennas");
        let mut own: Vec<LinkId> = Vec::new();
        let mut add_link = |own: &mut Vec<LinkId>| {
            let with_delay = |direction: &DirectionConfig| DirectionConfig {
                delay: Delay::Constant(nominal),
                ..direction.clone()
            };
            let (uplink, downlink) = (with_delay(&access.uplink), with_delay(&access.downlink));
            let name = channel_name(&name, own.len());
            let link = builder.contact_link(&name, node, self.groups[group], uplink, downlink);
            if let Some(first) = own.first() {
                builder.receive_as(link.first(), first.first());
            }
            self.antenna_of.insert(link, place);
            own.push(link);
        };
        add_link(&mut own);
        // When each link is free again.
        let mut busy_until = vec![Instant::START];
        for &id in contacts {
            let contact = plan.contact(id);
            let channel = busy_until.iter().position(|&until| until <= contact.start).unwrap_or(own.len());
            if channel == own.len() {
                add_link(&mut own);
                busy_until.push(Instant::START);
            }
            busy_until[channel] = contact.end;
            self.contacts[id.index()] = ContactLink::Ground { antenna: place, link: own[channel] };
        }
        if let Some(to_come) = &links.to_come {
            while own.len() < (to_come.channels_of)(site, antenna) {
                add_link(&mut own);
            }
        }
        self.group_of_antenna.push(group);
        self.antennas.push(AntennaLink {
            site,
            antenna,
            name,
            links: own,
            downlink: Downlink::Own,
            access: table,
        });
    }

    fn declare_isls(&mut self, builder: &mut NetworkBuilder, plan: &ContactPlan, links: &SkyLinks<'_>) {
        let contacts = plan.contacts().iter().filter(|contact| contact.kind == ContactKind::InterSatellite);
        let pairs = contacts.map(|contact| (contact.a, contact.b));
        let to_come = links.to_come.as_ref().map_or(&[][..], |to_come| to_come.neighbours);
        for pair in pairs.chain(to_come.iter().copied()) {
            if !self.isl_of.contains_key(&pair) {
                let form = self.declare_isl(builder, plan, pair, links);
                self.isl_of.insert(pair, form);
            }
        }
        for (contact, form) in plan.contacts().iter().zip(&mut self.contacts) {
            if contact.kind == ContactKind::InterSatellite {
                *form = self.isl_of[&(contact.a, contact.b)];
            }
        }
    }

    fn declare_isl(
        &mut self,
        builder: &mut NetworkBuilder,
        plan: &ContactPlan,
        pair: (ContactNodeId, ContactNodeId),
        links: &SkyLinks<'_>,
    ) -> ContactLink {
        let Some(table) = (links.isls_of)(pair.0) else { return ContactLink::Unused };
        let bodies = [pair.0, pair.1];
        let [a, b] = bodies.map(|body| self.nodes[body.index()].expect("every satellite is a node"));
        let [one, other] = bodies.map(|body| &plan.names()[body.index()]);
        let direction = &links.isls[table].direction;
        let link =
            builder.contact_link(&format!("sky.{one}--{other}"), a, b, direction.clone(), direction.clone());
        self.isls.push((pair.0, pair.1, link));
        ContactLink::InterSatellite { link, table }
    }

    /// Network under a longer plan, which agrees with that of its declaration as far as both go.
    ///
    /// # Errors
    /// If it has a contact for which nothing was [declared](SkyToCome).
    pub fn under(&self, plan: &ContactPlan) -> Result<Self, UnforeseenContact> {
        let unforeseen = |contact: &Contact| {
            let [a, b] = [contact.a, contact.b].map(|body| &plan.names()[body.index()]);
            UnforeseenContact(format!("the contact of {a} and {b}"), contact.start)
        };
        let mut sky = Self { contacts: vec![ContactLink::Unused; plan.contacts().len()], ..self.clone() };
        let mut of_antenna = contacts_by_antenna(plan);
        for (place, antenna) in (0..).zip(&self.antennas) {
            let mut busy_until = vec![Instant::START; antenna.links.len()];
            for id in of_antenna.remove(&(antenna.site, antenna.antenna)).unwrap_or_default() {
                let contact = plan.contact(id);
                let channel = busy_until.iter().position(|&until| until <= contact.start);
                let channel = channel.ok_or_else(|| unforeseen(contact))?;
                busy_until[channel] = contact.end;
                sky.contacts[id.index()] =
                    ContactLink::Ground { antenna: place, link: antenna.links[channel] };
            }
        }
        for (contact, form) in plan.contacts().iter().zip(&mut sky.contacts) {
            if contact.kind == ContactKind::InterSatellite {
                *form = *self.isl_of.get(&(contact.a, contact.b)).ok_or_else(|| unforeseen(contact))?;
            }
        }
        sky.lay_cables(plan);
        Ok(sky)
    }

    /// Gives contacts of cables the links of the network that carry them.
    fn lay_cables(&mut self, plan: &ContactPlan) {
        let Self { cables, contacts, .. } = self;
        if cables.is_empty() {
            return;
        }
        for (contact, link) in plan.contacts().iter().zip(contacts) {
            let (there, back) = ([contact.a, contact.b], [contact.b, contact.a]);
            let is_it = |cable: &&CableLink| cable.ends == there || cable.ends == back;
            if contact.kind == ContactKind::Terrestrial
                && let Some(cable) = cables.values().filter(is_it).min_by_key(|cable| cable.link)
            {
                // Of several links the first, in whatever order a map has them.
                *link = ContactLink::Cable { link: cable.link };
            }
        }
    }

    /// Tells if a contact of the plan carries packets: a site at which no node stands sends nothing on, and a cable is
    /// a link of the network or nothing.
    pub(crate) fn carries(&self, contact: &Contact) -> bool {
        let (there, back) = ([contact.a, contact.b], [contact.b, contact.a]);
        match contact.kind {
            ContactKind::InterSatellite => true,
            ContactKind::Ground { .. } => self.node(contact.b).is_some(),
            ContactKind::Terrestrial => {
                self.cables.values().any(|cable| cable.ends == there || cable.ends == back)
            }
        }
    }

    /// The node to which a direction leads, if it is one of a cable.
    pub(crate) fn along_cable(&self, direction: DirectionId) -> Option<NodeId> {
        let link = direction.sender().link();
        let cable = self.cables.get(&link)?;
        Some(cable.nodes[usize::from(direction == link.forward())])
    }

    /// One transmitter for each satellite and table of shared downlinks that it ever serves.
    fn declare_ports(&mut self, builder: &mut NetworkBuilder, plan: &ContactPlan, links: &SkyLinks<'_>) {
        for (contact, link) in plan.contacts().iter().zip(&self.contacts) {
            let ContactLink::Ground { antenna, .. } = link else { continue };
            let table = self.antennas[*antenna as usize].access;
            let access = &links.access[table];
            let repeats = plan.payload(contact.a) == Some(Payload::BentPipe);
            if repeats || access.is_downlink_shared {
                let downlink = &mut self.antennas[*antenna as usize].downlink;
                // Where only some of its satellites repeat, others have a transmitter to be measured.
                if !repeats || *downlink == Downlink::Own {
                    *downlink = if repeats { Downlink::Repeated } else { Downlink::Shared };
                }
                declare_port(&mut self.ports, builder, plan, (contact.a, table), links);
            }
        }
        if links.to_come.is_none() {
            return;
        }
        for (antenna, &group) in self.antennas.iter().zip(&self.group_of_antenna) {
            let table = antenna.access;
            for satellite in (0..plan.satellite_count()).map(ContactNodeId::new) {
                let repeats = plan.payload(satellite) == Some(Payload::BentPipe);
                let is_of_group = self.group_of_satellite[satellite.index()] == Some(group);
                if is_of_group && (repeats || links.access[table].is_downlink_shared) {
                    declare_port(&mut self.ports, builder, plan, (satellite, table), links);
                }
            }
        }
    }
}

/// Declares the transmitter of a satellite for antennas of a table, unless that is done.
fn declare_port(
    ports: &mut FxHashMap<(u32, usize), SharedPortId>,
    builder: &mut NetworkBuilder,
    plan: &ContactPlan,
    (satellite, table): (ContactNodeId, usize),
    links: &SkyLinks<'_>,
) {
    ports.entry((satellite.0, table)).or_insert_with(|| {
        let name = format!("sky.{}.{table}", plan.names()[satellite.index()]);
        let downlink = &links.access[table].downlink;
        let repeats = plan.payload(satellite) == Some(Payload::BentPipe);
        let config = if repeats { unlimited(downlink) } else { downlink.clone() };
        builder.shared_port(&name, config)
    });
}

/// The delay of an antenna without contacts in the network's own routes: longer than any contact's, so that they take
/// another antenna if there is one.
const NO_CONTACT: Duration = Duration::from_secs(2);

/// Gives the name of a link of an antenna: the first as the antenna, the second with a number, and so on.
pub fn channel_name(antenna: &str, channel: usize) -> String {
    if channel == 0 { antenna.to_owned() } else { format!("{antenna} ({})", channel + 1) }
}

/// The contacts of each antenna, by site and antenna, in the order of time.
fn contacts_by_antenna(plan: &ContactPlan) -> FxHashMap<(usize, usize), Vec<ContactId>> {
    let mut contacts = FxHashMap::<(usize, usize), Vec<ContactId>>::default();
    for (id, contact) in (0..).map(ContactId).zip(plan.contacts()) {
        if let ContactKind::Ground { antenna } = contact.kind {
            let site = contact.b.index() - plan.satellite_count();
            contacts.entry((site, usize::from(antenna))).or_default().push(id);
        }
    }
    contacts
}

/// Gives a downlink without a rate of its own, at which nothing waits: that of a satellite that repeats a signal.
fn unlimited(downlink: &DirectionConfig) -> DirectionConfig {
    DirectionConfig {
        rate: DataRate::from_bits_per_sec(u64::MAX),
        overhead_bytes: 0,
        queue: QueueConfig::DropTail(QueueLimit::Unlimited),
        ..downlink.clone()
    }
}
