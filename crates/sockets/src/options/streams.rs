//! Options about streams: their resets and additions, their scheduler, and what was given up on them.

use slantpath_requests::Errno;
use slantpath_sctp::{self as sctp, ReliabilityPolicy, ResetDirection, StreamId};

use super::Call;
use super::table::SctpOption;
use crate::layout::Told;
use crate::outcome;
use crate::sockets::Sockets;

impl Sockets {
    /// Reads an option about streams.
    pub(super) fn get_streams(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<Told, Errno> {
        let given = call.given;
        if option == SctpOption::StreamSchedulerValue {
            let (association, stream) = (given.at_least(8)?.i32(0)?, given.u16(4)?);
            let config = self.config_of(call.host, call.number, association)?;
            let value = config.stream_values.get(&StreamId(stream)).copied().unwrap_or_default();
            return Ok(Told::default().i32(association).u16(stream).u16(value));
        }
        let (association, stream, policy) = (given.at_least(24)?.i32(0)?, given.u16(4)?, given.u16(6)?);
        let wanted = match policy & !ALL_POLICIES {
            0x10 => ReliabilityPolicy::Lifetime,
            0x20 => ReliabilityPolicy::Retransmissions,
            0x30 => ReliabilityPolicy::Priority,
            0 if policy & ALL_POLICIES != 0 => ReliabilityPolicy::Lifetime,
            _ => return Err(Errno::EINVAL),
        };
        let id = self.up(call.number, association)?;
        let streams = self.associations.get(id).map_or(0, |one| one.outbound_streams);
        if option == SctpOption::PrStreamStatus && stream >= streams {
            return Err(Errno::EINVAL);
        }
        let (endpoint, id) = call.host.sctp_association(id).ok_or(Errno::EINVAL)?;
        let of = endpoint.association(id).ok_or(Errno::EINVAL)?;
        let counted = of.abandoned_by_stream().filter(|count| {
            (option == SctpOption::PrAssocStatus || count.stream.0 == stream)
                && (policy & ALL_POLICIES != 0 || count.policy == wanted)
        });
        let [unsent, sent] = counted.fold([0, 0], |sum: [u64; 2], count| {
            [sum[0].saturating_add(count.unsent), sum[1].saturating_add(count.sent)]
        });
        Ok(Told::default().i32(association).u16(stream).u16(policy).u64(unsent).u64(sent))
    }

    /// Sets an option about streams.
    pub(super) fn set_streams(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<(), Errno> {
        let given = call.given;
        if option == SctpOption::StreamSchedulerValue {
            let (association, stream, value) = (given.exactly(8)?.i32(0)?, given.u16(4)?, given.u16(6)?);
            let targets = self.targets(call.number, association)?;
            for id in &targets.ids {
                let (endpoint, id) = call.host.sctp_association(*id).ok_or(Errno::EINVAL)?;
                endpoint.set_stream_value(id, StreamId(stream), value);
            }
            return self.change_config(call.host, call.number, association, |config| {
                config.stream_values.insert(StreamId(stream), value);
            });
        }
        let id = self.up(call.number, given.at_least(4)?.i32(0)?)?;
        let (endpoint, id) = call.host.sctp_association(id).ok_or(Errno::EINVAL)?;
        let done = match option {
            SctpOption::ResetAssoc => {
                given.exactly(4)?;
                endpoint.reset_association(call.now, id)
            }
            SctpOption::AddStreams => {
                let (inbound, outbound) = (given.exactly(8)?.u16(4)?, given.u16(6)?);
                endpoint.add_streams(call.now, id, outbound, inbound)
            }
            _ => {
                let (flags, count) = (given.at_least(8)?.u16(4)?, usize::from(given.u16(6)?));
                let streams: Vec<StreamId> = given.numbers(8, count)?.into_iter().map(StreamId).collect();
                let direction = match flags {
                    1 => ResetDirection::Inbound,
                    2 => ResetDirection::Outbound,
                    3 => ResetDirection::Both,
                    _ => return Err(Errno::EINVAL),
                };
                endpoint.reset_streams(call.now, id, direction, &streams)
            }
        };
        done.map_err(|error: sctp::ReconfigurationError| outcome::of_reconfiguration(&error))
    }
}

/// `SCTP_PR_SCTP_ALL`: counts of all policies.
const ALL_POLICIES: u16 = 0x80;
