//! Acts of the users of both ends, with all that the extensions offer.

use bytes::Bytes;
use slantpath_base::Duration;
use slantpath_sctp::chunk::AddressChange;
use slantpath_sctp::{
    self as sctp, Extension, Ppid, Reliability, ResetDirection, SendOptions, SharedKey, StreamId,
};

use super::account::Given;
use super::settings::STREAMS;
use super::shown::may_change_addresses;
use super::{PORT, World, address};

/// In how many networks an end may have an address.
const NETWORKS: u8 = 3;

impl World {
    /// Makes a user act with an extension: the lower half of `op` gives the act, `a` the user, and the others the
    /// details.
    pub(super) fn act(&mut self, [op, a, b, c]: [u8; 4]) {
        let end = usize::from(a & 1);
        match op & 0x0f {
            0..=4 => self.send_with_options(end, a >> 1, b, c),
            5 | 6 => self.reset_streams(end, b, c),
            7 => self.reset_association(end),
            8 | 9 => self.add_streams(end, b, c),
            10..=12 => self.change_addresses(end, b, c),
            13 => self.change_key(end, c),
            15 => self.change_link(end, b, c),
            _ => self.change_value(end, b, c),
        }
        self.drain(end);
    }

    /// The older commands, which need no extension.
    pub(super) fn command(&mut self, end: usize, what: u8, c: u8) {
        let Some(id) = self.ends[end].id else { return };
        let (now, other) = (self.now, address(c & 1, 1 - end));
        let endpoint = &mut self.ends[end].endpoint;
        // Whether there was anything to do does not matter.
        let _is_done = match what % 16 {
            0 => endpoint.shutdown(now, id),
            1 if c == 0 => endpoint.abort(now, id, Bytes::from_static(b"enough")),
            2..=4 => endpoint.pause_delivery(id),
            5..=8 => endpoint.resume_delivery(id),
            9 | 10 => endpoint.set_primary(now, id, other),
            11 | 12 => endpoint.request_heartbeat(now, id, other),
            _ => endpoint.set_heartbeat_interval(now, id, other, Some(Duration::from_secs(u64::from(c)))),
        };
        self.drain(end);
    }

    /// A message that may wait for the other end as long as it takes, and goes where all else does.
    pub(super) fn send(&mut self, from: usize, how: u8, len: u16) {
        let options = SendOptions { sack_immediately: how & 0x20 != 0, ..SendOptions::default() };
        let stream = u16::from(how) % STREAMS;
        self.give(from, stream, how & 0x10 != 0, usize::from(len % 20_000) + 4, options);
        self.drain(from);
    }

    /// A message that may be given up, or goes to an address of its own.
    fn send_with_options(&mut self, from: usize, how: u8, rules: u8, len: u8) {
        let value = rules >> 2 & 0x0f;
        let reliability = match rules & 3 {
            0 => Reliability::Full,
            1 => Reliability::Lifetime(Duration::from_millis(30 * u64::from(value))),
            2 => Reliability::Retransmissions(u32::from(value % 3)),
            _ => Reliability::Priority(u32::from(value % 3)),
        };
        let destination = (how & 0x40 != 0).then(|| address((rules >> 6) % NETWORKS, 1 - from));
        let options = SendOptions { sack_immediately: how & 0x20 != 0, destination, reliability };
        let stream = u16::from(how & 0x0f) % self.ends[from].outbound_streams.max(1);
        self.give(from, stream, how & 0x10 != 0, usize::from(len) * 80 + 4, options);
    }

    /// A message whose first bytes say which one it is.
    fn give(&mut self, from: usize, stream: u16, is_unordered: bool, len: usize, options: SendOptions) {
        let end = &mut self.ends[from];
        let Some(id) = end.id else { return };
        let number = u32::try_from(end.given.len()).expect("few");
        let mut payload = vec![number.to_le_bytes()[0]; len];
        payload[..4].copy_from_slice(&number.to_be_bytes());
        let message = sctp::Message {
            stream: StreamId(stream),
            ppid: Ppid(number),
            payload: payload.into(),
            is_unordered,
            context: u64::from(number),
            options: options.for_message(),
        };
        let is_early = end.endpoint.association(id).is_none();
        match end.endpoint.send(self.now, id, message) {
            Ok(()) => {
                let destination = options.destination;
                end.given.push(Given {
                    may_be_abandoned: options.reliability != Reliability::Full,
                    destination,
                    is_early,
                    ..Given::new(stream, is_unordered)
                });
                self.shown.extend(destination.map(|_| "a message to an address"));
                self.shown.extend((stream >= STREAMS).then_some("a message on an added stream"));
            }
            Err(sctp::SendError::BufferFull { wanted, free }) => {
                assert!(wanted > free, "{wanted} bytes have room in {free}");
                end.waits_for_room = true;
            }
            Err(sctp::SendError::NoSuchDestination { address }) => {
                let mut paths = end.endpoint.path_snapshots(self.now, id);
                assert!(paths.all(|path| path.destination != address), "{address} is there");
            }
            Err(sctp::SendError::NoAssociation | sctp::SendError::ShuttingDown) => {}
            // A liar may have offered fewer streams.
            Err(error) => assert!(!self.is_honest, "{error}"),
        }
    }

    fn reset_streams(&mut self, end: usize, direction: u8, streams: u8) {
        let Some(id) = self.ends[end].id else { return };
        let listed = [streams >> 2 & 3, streams >> 4 & 3].map(|stream| StreamId(stream.into()));
        let listed = &listed[..usize::from(streams & 3).min(2)];
        let (direction, changes) = match direction % 3 {
            0 => (ResetDirection::Outbound, 1),
            1 => (ResetDirection::Inbound, 1),
            _ => (ResetDirection::Both, 2),
        };
        let result = self.ends[end].endpoint.reset_streams(self.now, id, direction, listed);
        self.note_asked(end, 0, changes, result.is_ok());
    }

    fn reset_association(&mut self, end: usize) {
        let Some(id) = self.ends[end].id else { return };
        let result = self.ends[end].endpoint.reset_association(self.now, id);
        self.note_asked(end, 0, 1, result.is_ok());
    }

    fn add_streams(&mut self, end: usize, outbound: u8, inbound: u8) {
        let Some(id) = self.ends[end].id else { return };
        let counts = [outbound, inbound].map(|count| u16::from(count % 3));
        let changes = counts.map(|count| u32::from(count > 0)).iter().sum();
        let result = self.ends[end].endpoint.add_streams(self.now, id, counts[0], counts[1]);
        self.note_asked(end, 0, changes, result.is_ok());
    }

    /// One change of addresses, or two if the highest bit of `first` is set.
    fn change_addresses(&mut self, end: usize, first: u8, second: u8) {
        let Some(id) = self.ends[end].id else { return };
        let changes = [first & 0x7f, second].map(|change| {
            let address = address(change / 5 % NETWORKS, end);
            match change % 5 {
                0 | 1 => AddressChange::Add(address),
                2 | 3 => AddressChange::Delete(address),
                _ => AddressChange::SetPrimary(address),
            }
        });
        let changes = &changes[..=usize::from(first >> 7)];
        let endpoint = &mut self.ends[end].endpoint;
        for change in changes {
            if let AddressChange::Add(address) = change {
                assert!(endpoint.add_port_address(PORT, *address));
            }
        }
        let result = endpoint.change_addresses(self.now, id, changes);
        self.note_asked(end, 1, u32::try_from(changes.len()).expect("two"), result.is_ok());
    }

    /// Notes a request that was taken. Its answer comes later; a request that nobody has agreed on is refused at once.
    fn note_asked(&mut self, end: usize, of: usize, changes: u32, is_taken: bool) {
        if !is_taken {
            return;
        }
        let is_agreed = match of {
            0 => self.agree_on(Extension::Reconfiguration),
            _ => may_change_addresses(&self.configs, end),
        };
        assert!(is_agreed || !self.is_honest, "nobody has agreed to that");
        self.ends[end].asked[of] += changes;
    }

    /// The third key is used by an end once both have been given it.
    fn change_key(&mut self, end: usize, which: u8) {
        let Some(id) = self.ends[end].id else { return };
        let is_shared = self.ends.iter().all(|end| end.has_third_key);
        let end = &mut self.ends[end];
        let is_done = match which % 4 {
            2 => {
                let is_added = end.endpoint.add_key(id, 2, &SharedKey::new(&b"third"[..])).is_ok();
                end.has_third_key |= is_added;
                is_added
            }
            3 => is_shared && end.endpoint.activate_key(id, 2).is_ok(),
            key => end.endpoint.activate_key(id, key.into()).is_ok(),
        };
        let is_agreed = self.agree_on(Extension::Authentication);
        assert!(!is_done || is_agreed || !self.is_honest, "nobody has agreed to that");
    }

    /// A link of an end goes, or is back, as its host is told: what the network does is another matter.
    fn change_link(&mut self, end: usize, network: u8, what: u8) {
        let address = address(network % NETWORKS, end);
        let endpoint = &mut self.ends[end].endpoint;
        if what.is_multiple_of(2) {
            endpoint.local_address_is_down(self.now, address);
        } else {
            endpoint.local_address_is_back(self.now, address);
        }
    }

    /// All links of an end are there.
    pub(super) fn restore_links(&mut self, end: usize) {
        for network in 0..NETWORKS {
            self.ends[end].endpoint.local_address_is_back(self.now, address(network, end));
        }
        self.drain(end);
    }

    fn change_value(&mut self, end: usize, stream: u8, value: u8) {
        let Some(id) = self.ends[end].id else { return };
        let stream = StreamId(u16::from(stream) % STREAMS);
        if self.ends[end].endpoint.set_stream_value(id, stream, value.into()) {
            self.shown.insert("a stream's value");
        }
    }
}
