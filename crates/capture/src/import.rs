//! From frames to traces: follows flows and loads, and writes the scenarios around them.

pub(crate) mod flows;
pub(crate) mod loads;
pub(crate) mod report;
mod scenario;

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_sctp::chunk::{Init, InitAck, kind};
use slantpath_sctp::packet::PacketOutline;
use slantpath_sctp::{Chunk, VerificationTag};
use slantpath_ss7::PointCodeFormat;
use slantpath_tcp::{Flags, Segment};
use slantpath_wire::ip::protocol;
use slantpath_wire::{Checksum, Packet};

use crate::file::CapturedFrame;
use crate::frame::{Carried, carried};
use crate::ip::{Datagram, IpReader, Read};
use crate::signalling::Bearer;
use flows::{CapturedProtocol, Flows, Key, TooMany, Way};
use loads::Loads;
use report::{Finding, ImportReport, Unused};

/// Messages after which lines are handed out.
const WRITTEN_EVERY: u32 = 8_192;
/// Parts of a capture that are imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Flows of these transports.
    pub protocols: Vec<CapturedProtocol>,
    /// Loads of messages that M2PA carries.
    pub m2pa: bool,
    /// Loads of messages that M3UA carries.
    pub m3ua: bool,
    /// Loads of messages of MTP2 and MTP3.
    pub mtp: bool,
    /// Only what comes from or goes to one of these ports; from and to any if it is empty.
    pub ports: Vec<u16>,
}

impl Default for Filter {
    /// Takes all there is.
    fn default() -> Self {
        let protocols = vec![CapturedProtocol::Sctp, CapturedProtocol::Tcp, CapturedProtocol::Udp];
        Self { protocols, m2pa: true, m3ua: true, mtp: true, ports: Vec::new() }
    }
}

/// Receiver of what is made: the name of a file, and what is appended to it.
pub type Output<'a, E> = &'a mut dyn FnMut(&str, &str) -> Result<(), E>;

/// Makes traces and scenarios of frames.
#[derive(Debug)]
pub struct Importer {
    filter: Filter,
    ip: IpReader,
    flows: Flows,
    loads: Loads,
    report: ImportReport,
    unwritten: u32,
}

impl Importer {
    /// Point codes of messages are read in the given format: no message says which one is its.
    pub fn new(filter: Filter, format: PointCodeFormat) -> Self {
        let is_sctp_silent = !filter.protocols.contains(&CapturedProtocol::Sctp);
        Self {
            filter,
            ip: IpReader::default(),
            flows: Flows::new(is_sctp_silent),
            loads: Loads::new(format),
            report: ImportReport::default(),
            unwritten: 0,
        }
    }

    /// Takes a frame, and hands out the lines that it settles.
    ///
    /// # Errors
    /// If `out` has one.
    pub fn frame<E>(&mut self, frame: &CapturedFrame, out: Output<'_, E>) -> Result<(), E> {
        self.report.frames += 1;
        let Some(now) = frame.time else {
            self.report.count(Unused::NoTime);
            return Ok(());
        };
        let (first, last) = self.report.span.unwrap_or((now, now));
        self.report.span = Some((first.min(now), last.max(now)));
        match carried(frame.link, &frame.bytes) {
            Carried::Ip(packet) => self.packet(now, &packet),
            Carried::Mtp2 { line, octets } => {
                self.mtp(|loads| loads.mtp2(now, frame.interface, line, &octets));
            }
            Carried::Mtp3(octets) => self.mtp(|loads| loads.mtp3(now, &octets)),
            Carried::Other => self.report.count(Unused::NotIp),
            Carried::Short => self.report.count(Unused::Short),
            Carried::OtherLink => {
                self.report.count(Unused::OtherLink);
                *self.report.other_links.entry(frame.link).or_default() += 1;
            }
        }
        if self.unwritten >= WRITTEN_EVERY {
            self.unwritten = 0;
            self.write(Some(now), out)?;
        }
        Ok(())
    }

    /// Hands out the lines that are left, and the scenarios around all of them, which tell the name of their `capture`.
    ///
    /// # Errors
    /// If `out` has one.
    pub fn finish<E>(mut self, capture: &str, out: Output<'_, E>) -> Result<ImportReport, E> {
        self.write(None, out)?;
        let mut report = self.report;
        let (flows, without_messages) = self.flows.reports();
        report.flows = flows;
        report.loads = self.loads.reports();
        let counters = self.ip.counters();
        report.reassembled = counters.packets;
        let lost = counters.received - counters.used;
        if lost > 0 {
            report.unused.insert(Unused::LostFragment, lost);
        }
        // What a capture lacks of a flow, its signalling lacks, too.
        let of_flows = report.flows.iter().chain(&without_messages).flat_map(flows::FlowReport::findings);
        report.findings =
            of_flows.chain(report.loads.iter().flat_map(loads::ImportedLoad::findings)).collect();
        report.findings.extend(general(&report));
        let capture = scenario::in_a_comment(capture);
        if !report.flows.is_empty() {
            out("flows.toml", &scenario::of_flows(&capture, &report.flows, self.flows.base.instant()))?;
        }
        if !report.loads.is_empty() {
            let base = self.loads.base.instant();
            out("signalling.toml", &scenario::of_loads(&capture, &report.loads, self.loads.format(), base))?;
        }
        Ok(report)
    }

    fn write<E>(&mut self, now: Option<Instant>, out: Output<'_, E>) -> Result<(), E> {
        let mut named = |name: &str, lines: &str| out(&format!("{name}.csv"), lines);
        self.flows.write(now, &mut named)?;
        self.loads.write(now, &mut named)
    }

    fn mtp(&mut self, take: impl FnOnce(&mut Loads) -> Result<(), Unused>) {
        if !self.filter.mtp {
            self.report.count(Unused::Filtered);
            return;
        }
        self.unwritten += 1;
        if let Err(unused) = take(&mut self.loads) {
            self.report.count(unused);
        }
    }

    fn packet(&mut self, now: Instant, packet: &Bytes) {
        let datagram = match self.ip.read(now, packet) {
            Read::Whole(datagram) => datagram,
            // Those that are lost are counted at the end.
            Read::Fragment => return,
            Read::CutFragment => return self.report.count(Unused::CutFragment),
            Read::Malformed => return self.report.count(Unused::Malformed),
            Read::Hidden => return self.report.count(Unused::Hidden),
        };
        let done = match datagram.protocol {
            protocol::SCTP => self.sctp(now, &datagram, &datagram.payload),
            protocol::TCP => self.tcp(now, &datagram),
            protocol::UDP => self.udp(now, &datagram),
            _ => Err(Unused::OtherProtocol),
        };
        if let Err(unused) = done {
            self.report.count(unused);
        }
    }

    fn wants(&self, protocol: CapturedProtocol, ports: [u16; 2]) -> bool {
        let is_followed = match protocol {
            // Its flows are followed for what they carry.
            CapturedProtocol::Sctp => self.filter.m2pa || self.filter.m3ua || self.wants_flows(protocol),
            CapturedProtocol::Tcp | CapturedProtocol::Udp => self.wants_flows(protocol),
        };
        let wanted = &self.filter.ports;
        is_followed && (wanted.is_empty() || ports.iter().any(|port| wanted.contains(port)))
    }

    fn wants_flows(&self, protocol: CapturedProtocol) -> bool {
        self.filter.protocols.contains(&protocol)
    }

    fn sctp(&mut self, now: Instant, datagram: &Datagram, payload: &Bytes) -> Result<(), Unused> {
        let outline = PacketOutline::parse(payload).map_err(|_| cut_or_malformed(datagram))?;
        let header = outline.header;
        let (source_port, destination_port) = (header.source_port, header.destination_port);
        if !self.wants(CapturedProtocol::Sctp, [source_port, destination_port]) {
            return Err(Unused::Filtered);
        }
        let way = way(CapturedProtocol::Sctp, datagram, source_port, destination_port);
        self.flows.passes(way);
        let key = Key::Sctp { tag: header.verification_tag.0, source_port, destination_port };
        for chunk in outline {
            // A chunk that is broken hides those behind it.
            let chunk = chunk.map_err(|_| cut_or_malformed(datagram))?;
            match chunk.kind() {
                kind::DATA | kind::I_DATA => {
                    let data = chunk.user_data().map_err(|_| cut_or_malformed(datagram))?;
                    let Some(data) = data else { continue };
                    let bearer = self.bearer(data.ppid.0, way);
                    // I-DATA names the protocol with the first fragment alone.
                    let keeps = bearer.is_some() || data.place.is_some() && !data.flags.is_beginning();
                    let taken =
                        self.flows.user_data(now, key, way, &data, keeps, |bytes| payload.slice_ref(bytes));
                    self.unwritten += 1;
                    let Some(message) = taken.map_err(|TooMany| Unused::TooManyFlows)? else { continue };
                    let Some(bearer) = self.bearer(message.ppid, way) else { continue };
                    let loaded = match message.bytes {
                        None => Err(Unused::CutSignalling),
                        Some(octets) => self.loads.sctp(message.at, bearer, &octets),
                    };
                    if let Err(unused) = loaded {
                        self.report.count(unused);
                    }
                }
                kind::INIT | kind::INIT_ACK => {
                    let (source_port, destination_port) = (destination_port, source_port);
                    let back = |tag: VerificationTag| Key::Sctp { tag: tag.0, source_port, destination_port };
                    match chunk.chunk() {
                        Ok(Chunk::Init(Init { fields, .. })) => {
                            self.flows.init(back(fields.initiate_tag), fields.initial_tsn);
                        }
                        Ok(Chunk::InitAck(InitAck { fields, .. })) => {
                            self.flows.init_ack(key, fields.initial_tsn, back(fields.initiate_tag));
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Layer of signalling that a message belongs to, if it is wanted.
    fn bearer(&self, ppid: u32, way: Way) -> Option<Bearer> {
        let bearer = Bearer::of_sctp(ppid, [way.source_port, way.destination_port])?;
        let is_wanted = if bearer == Bearer::M3ua { self.filter.m3ua } else { self.filter.m2pa };
        is_wanted.then_some(bearer)
    }

    fn tcp(&mut self, now: Instant, datagram: &Datagram) -> Result<(), Unused> {
        let packet = Packet::shared(datagram.payload.clone(), Checksum::Omitted);
        let (segment, data) = Segment::parse(&packet, datagram.source, datagram.destination)
            .map_err(|_| cut_or_malformed(datagram))?;
        if !self.wants(CapturedProtocol::Tcp, [segment.source_port, segment.destination_port]) {
            return Err(Unused::Filtered);
        }
        let way = way(CapturedProtocol::Tcp, datagram, segment.source_port, segment.destination_port);
        self.flows.passes(way);
        let header_len = datagram.payload.len() - data.len();
        let len = datagram.len.saturating_sub(header_len);
        let mut sequence = segment.sequence.0;
        if segment.flags.contains(Flags::SYN) {
            self.flows.connects(way, sequence);
            sequence = sequence.wrapping_add(1);
        }
        if len > 0 {
            self.unwritten += 1;
            self.flows.segment(now, way, sequence, len).map_err(|TooMany| Unused::TooManyFlows)?;
        }
        Ok(())
    }

    fn udp(&mut self, now: Instant, datagram: &Datagram) -> Result<(), Unused> {
        let udp = datagram.udp().ok_or_else(|| cut_or_malformed(datagram))?;
        if udp.is_sctp() {
            return self.sctp(now, datagram, &udp.payload);
        }
        if !self.wants(CapturedProtocol::Udp, [udp.source_port, udp.destination_port]) {
            return Err(Unused::Filtered);
        }
        let way = way(CapturedProtocol::Udp, datagram, udp.source_port, udp.destination_port);
        self.flows.passes(way);
        self.unwritten += 1;
        self.flows.datagram(now, way, udp.len).map_err(|TooMany| Unused::TooManyFlows)
    }
}

const fn way(
    protocol: CapturedProtocol,
    datagram: &Datagram,
    source_port: u16,
    destination_port: u16,
) -> Way {
    let Datagram { source, destination, .. } = *datagram;
    Way { protocol, source, destination, source_port, destination_port }
}

/// A transport's header that cannot be read was not captured, or is broken.
fn cut_or_malformed(datagram: &Datagram) -> Unused {
    if datagram.payload.len() < datagram.len { Unused::Short } else { Unused::Malformed }
}

/// Facts of the capture as a whole.
fn general(report: &ImportReport) -> Vec<Finding> {
    let number = |unused: Unused| report.unused.get(&unused).copied().unwrap_or_default();
    let mut findings = Vec::new();
    let mut find = |is_so: bool, message: String, help: &'static str| {
        if is_so {
            findings.push(Finding { message, help });
        }
    };
    let flows = number(Unused::TooManyFlows);
    let message =
        format!("there are more than {} flows: {flows} packets of others are left out", flows::FLOWS_MAX);
    find(flows > 0, message, "say which are wanted: `--only sctp`, `--port 2905`");
    let loads = number(Unused::TooManyLoads);
    let message = format!(
        "there are more than {} pairs of points: {loads} messages of others are left out",
        loads::LOADS_MAX
    );
    find(loads > 0, message, "say which are wanted with `--port`, or cut the capture by point codes first");
    let cut = number(Unused::CutSignalling) + number(Unused::CutFragment) + number(Unused::Short);
    let message = format!("{cut} packets or messages were captured short, and are left out");
    find(cut > 0, message, "capture whole packets: `tcpdump -s 0`");
    let lost = number(Unused::LostFragment);
    let message = format!("{lost} fragments of IP are of packets that the capture does not have whole");
    find(
        lost > 0,
        message,
        "see that fragments pass the filter of the capture, of which only the first has ports",
    );
    let foreign = number(Unused::ForeignPointCode);
    let message = format!("{foreign} messages have point codes that the format does not hold");
    find(foreign > 0, message, "say whose they are: `--point-codes ansi` or `--point-codes ttc`");
    let no_time = number(Unused::NoTime);
    let message = format!("{no_time} frames have no time (simple packet blocks), and are left out");
    find(no_time > 0, message, "capture with enhanced packet blocks, as dumpcap does");
    if !report.other_links.is_empty() {
        let links = report.other_links.iter().map(|(link, frames)| format!("{frames} of link type {link}"));
        let message = format!("frames of links that are not read: {}", links.collect::<Vec<_>>().join(", "));
        find(true, message, "capture on an interface of Ethernet, raw IP, `any`, MTP2 or MTP3");
    }
    findings
}

#[cfg(test)]
mod tests;
