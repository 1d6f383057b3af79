//! Changes of what paths carry: reports of ICMP, losses, and probe packets of path MTU discovery (RFC 8899, section
//! 6.2), which go out alone and are answered by HEARTBEAT ACKs.

use std::collections::VecDeque;
use std::net::IpAddr;

use slantpath_base::Instant;

use super::output::PollStage;
use super::state::State;
use super::{Association, Turn, turn};
use crate::chunk::{Chunk, Heartbeat, Pad, kind};
use crate::notice::Notice;
use crate::packet::PacketBuilder;
use crate::path::{HeartbeatInfo, PathId, PathState, Paths, ProbePacket};

/// The place of a probe packet among control chunks: how long it is, is known when its turn comes.
const PLACE: Chunk = Chunk::Pad(Pad { padding_len: 0 });

/// Begins discovery on all confirmed paths: gives the places of the first probe packets.
pub(super) fn begin(paths: &mut Paths) -> VecDeque<(PathId, Chunk)> {
    let mut control = VecDeque::new();
    for id in paths.ids() {
        let path = &mut paths[id];
        if let Some(discovery) = path.discovery.as_mut().filter(|_| path.state == PathState::Active) {
            discovery.start();
            control.push_back((id, PLACE));
        }
    }
    control
}

impl Association {
    /// Takes over what discovery has found out about `path`, and gives its next probe a place among what is to be sent.
    pub(super) fn follow_discovery(&mut self, path: PathId) {
        let before_bytes = self.paths[path].mtu();
        self.paths.follow_discovery(path);
        self.tell_path_mtu(path, before_bytes);
        let is_due = self.paths[path].discovery.as_ref().is_some_and(|discovery| discovery.is_due());
        let has_place = |(of, chunk): &(PathId, Chunk)| *of == path && matches!(chunk, Chunk::Pad(_));
        if is_due && !self.control.iter().any(has_place) {
            self.poll_stage = PollStage::Packets;
            self.control.push_back((path, PLACE));
        }
    }

    /// Tells the layer above if the MTU of a path is another one than before.
    fn tell_path_mtu(&mut self, path: PathId, before_bytes: u16) {
        let mtu_bytes = self.paths[path].mtu();
        if mtu_bytes != before_bytes {
            let path = self.paths[path].destination;
            self.events.push_back(Notice::PathMtuChanged { path, mtu_bytes, before_bytes }.event());
        }
    }

    /// The state of a path has changed.
    pub(super) fn follow_path_state(&mut self, path: PathId) {
        let may_probe = self.state.may_send_heartbeats();
        let state = self.paths[path].state;
        let Some(discovery) = &mut self.paths[path].discovery else { return };
        match state {
            PathState::Active if may_probe => discovery.start(),
            PathState::Inactive => discovery.fail(),
            PathState::Active | PathState::PotentiallyFailed | PathState::Unconfirmed => {}
        }
        self.follow_discovery(path);
    }

    /// Probes nothing any more: the association shuts down.
    pub(super) fn stop_discovery(&mut self) {
        for path in self.paths.iter_mut() {
            if let Some(discovery) = &mut path.discovery {
                discovery.stop();
            }
        }
        self.control.retain(|(_, chunk)| !matches!(chunk, Chunk::Pad(_)));
    }

    /// A timer of discovery may have expired.
    pub(super) fn on_discovery_deadline(&mut self, now: Instant, path: PathId) {
        let last_data_at = self.paths[path].last_data_at();
        let Some(discovery) = &mut self.paths[path].discovery else { return };
        if discovery.deadline().is_some_and(|deadline| deadline <= now) {
            discovery.handle_deadline(now, last_data_at);
            self.follow_discovery(path);
        }
    }

    /// Losses may have shown that a path carries less than was thought: what is in flight there and too long goes
    /// again.
    pub(super) fn follow_losses(&mut self, now: Instant) {
        for path in self.paths.ids() {
            let (last_data_at, mtu) = (self.paths[path].last_data_at(), self.paths[path].mtu());
            let Some(discovery) = &mut self.paths[path].discovery else { continue };
            discovery.resume(now, last_data_at);
            let plpmtu = discovery.plpmtu();
            if plpmtu != mtu || discovery.is_due() {
                self.follow_discovery(path);
            }
            if plpmtu < mtu {
                let mut turn = turn!(self, now);
                self.sender.on_packet_too_big(&mut turn, path, plpmtu);
            }
        }
    }

    /// ICMP says that packets to `destination` must not be longer than `mtu` bytes.
    pub fn handle_packet_too_big(&mut self, now: Instant, destination: IpAddr, mtu: u16) {
        let Some(path) = self.paths.find(destination) else { return };
        if self.state.is_closed() {
            return;
        }
        let before_bytes = self.paths[path].mtu();
        let is_news = match &mut self.paths[path].discovery {
            Some(discovery) => discovery.on_too_big(now, mtu),
            None => self.paths.reduce_mtu(path, mtu),
        };
        if !is_news {
            return;
        }
        self.tell_path_mtu(path, before_bytes);
        self.follow_discovery(path);
        self.poll_stage = PollStage::Packets;
        self.refill_bursts(now);
        let mut turn = turn!(self, now);
        self.sender.on_packet_too_big(&mut turn, path, mtu);
    }

    /// Builds the probe packet whose place is the first, if one is.
    //= https://www.rfc-editor.org/rfc/rfc8899#section-6.2.1.2
    //# Probe packets consist of an SCTP common header followed by a
    //# HEARTBEAT chunk and a PAD chunk.
    #[cold]
    pub(super) fn build_mtu_probe(&mut self, builder: &mut PacketBuilder, now: Instant) -> Option<PathId> {
        while let Some(&(path, Chunk::Pad(_))) = self.control.front() {
            self.control.pop_front();
            let rto = self.paths[path].rtt.rto();
            let Some(discovery) = &mut self.paths[path].discovery else { continue };
            let Some(ProbePacket { size, nonce }) = discovery.send(now, rto, &mut self.random) else {
                continue;
            };
            let len = usize::from(size) - self.paths[path].ip_header_len();
            self.start_packet_without_auth(builder, path);
            builder.set_max_len(len);
            // Its padding fills what is left: an AUTH chunk that were taken out again would leave it too short.
            self.reserve_auth_for(builder, &[kind::HEARTBEAT, kind::PAD]);
            let info = HeartbeatInfo { path, nonce }.to_bytes();
            builder.push(&Chunk::Heartbeat(Heartbeat::new(info)));
            self.stats.control_chunks_sent += 1;
            if let Some(pad) = Pad::of_wire_len(builder.room()) {
                builder.push(&Chunk::Pad(pad));
                self.stats.control_chunks_sent += 1;
            }
            return Some(path);
        }
        None
    }

    /// A HEARTBEAT ACK has come. Returns whether it answers a probe packet.
    pub(super) fn on_mtu_probe_answered(&mut self, now: Instant, path: PathId, nonce: u64) -> bool {
        let Some(discovery) = &mut self.paths[path].discovery else { return false };
        let Some(answer) = discovery.on_answered(now, nonce) else { return false };
        if let Some(round_trip) = answer.round_trip {
            self.paths[path].sample_rtt(round_trip);
            self.paths[path].note_answered(now - round_trip);
        }
        self.follow_discovery(path);
        //= https://www.rfc-editor.org/rfc/rfc8899#section-6.2.1.2
        //# A
        //# successful probe updates the association and path counters, but an
        //# unsuccessful probe is discounted (assumed to be a result of choosing
        //# too large a PLPMTU).
        self.on_path_answers(now, path);
        true
    }
}
