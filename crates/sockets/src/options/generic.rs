//! Options that sockets of all kinds have.

use slantpath_live::Dscp;
use slantpath_requests::{self as requests, Errno, Style};
use slantpath_sctp::SctpConfig;

use super::Call;
use crate::layout::Told;
use crate::sockets::Sockets;

const IPPROTO_IP: i32 = 0;
const SOL_SOCKET: i32 = 1;
const IPPROTO_IPV6: i32 = 41;

const SO_REUSEADDR: i32 = 2;
const SO_TYPE: i32 = 3;
const SO_ERROR: i32 = 4;
const SO_DONTROUTE: i32 = 5;
const SO_BROADCAST: i32 = 6;
const SO_SNDBUF: i32 = 7;
const SO_RCVBUF: i32 = 8;
const SO_KEEPALIVE: i32 = 9;
const SO_OOBINLINE: i32 = 10;
const SO_PRIORITY: i32 = 12;
const SO_LINGER: i32 = 13;
const SO_REUSEPORT: i32 = 15;
const SO_RCVLOWAT: i32 = 18;
const SO_RCVTIMEO: i32 = 20;
const SO_SNDTIMEO: i32 = 21;
const SO_TIMESTAMP: i32 = 29;
const SO_ACCEPTCONN: i32 = 30;
const SO_SNDBUFFORCE: i32 = 32;
const SO_RCVBUFFORCE: i32 = 33;
const SO_PROTOCOL: i32 = 38;
const SO_DOMAIN: i32 = 39;

const IPV6_V6ONLY: i32 = 26;
const IP_TOS: (i32, i32) = (IPPROTO_IP, 1);
const IP_TTL: (i32, i32) = (IPPROTO_IP, 2);
const IPV6_UNICAST_HOPS: (i32, i32) = (IPPROTO_IPV6, 16);
const IPV6_TCLASS: (i32, i32) = (IPPROTO_IPV6, 67);

const SOCK_STREAM: i32 = 1;
const SOCK_SEQPACKET: i32 = 5;

/// Least buffers of Linux, half of what it tells (`SOCK_MIN_SNDBUF`, `SOCK_MIN_RCVBUF`).
const SNDBUF_LEAST: u32 = 2_304;
const RCVBUF_LEAST: u32 = 1_152;
/// Least and greatest buffers that a program is given, in bytes.
const BUFFER_LEAST: u32 = 4_608;
const BUFFER_MOST: u32 = 64 << 20;

impl Sockets {
    /// Reads an option of another level than SCTP's.
    pub(super) fn get_generic(
        &mut self,
        call: &mut Call<'_>,
        level: i32,
        name: i32,
    ) -> Result<Vec<u8>, Errno> {
        let socket = self.open.get_mut(&call.number).ok_or(Errno::EBADF)?;
        let flag = i32::from;
        let value = match (level, name) {
            (SOL_SOCKET, SO_REUSEADDR) => flag(socket.choices.reuses_address),
            (SOL_SOCKET, SO_TYPE) => match socket.style {
                Style::OneToMany => SOCK_SEQPACKET,
                Style::OneToOne if socket.is_peeled_off => SOCK_SEQPACKET,
                Style::OneToOne => SOCK_STREAM,
            },
            (SOL_SOCKET, SO_ERROR) => socket.error.take().map_or(0, |error| error.0.into()),
            (SOL_SOCKET, SO_SNDBUF) => {
                told_buffer(socket.choices.told_buffers[0], socket.config.send_buffer_bytes)
            }
            (SOL_SOCKET, SO_RCVBUF) => {
                told_buffer(socket.choices.told_buffers[1], socket.config.receive_buffer_bytes.into())
            }
            (SOL_SOCKET, SO_LINGER) => {
                let time = socket.choices.linger;
                let told = Told::default().u32(time.is_some().into()).u32(time.unwrap_or_default());
                return Ok(told.0);
            }
            (SOL_SOCKET, SO_REUSEPORT) => flag(socket.choices.reuses_port),
            (SOL_SOCKET, SO_RCVLOWAT) => 1,
            (SOL_SOCKET, SO_ACCEPTCONN) => flag(socket.backlog.is_some()),
            (SOL_SOCKET, SO_PROTOCOL) => super::IPPROTO_SCTP,
            (SOL_SOCKET, SO_DOMAIN) => match socket.family {
                requests::Family::V4 => 2,
                requests::Family::V6 => 10,
            },
            (
                SOL_SOCKET,
                SO_BROADCAST | SO_DONTROUTE | SO_KEEPALIVE | SO_OOBINLINE | SO_PRIORITY | SO_TIMESTAMP,
            ) => 0,
            (IPPROTO_IPV6, IPV6_V6ONLY) if socket.family == requests::Family::V6 => {
                flag(socket.choices.is_v6_only)
            }
            (IPPROTO_IP | IPPROTO_IPV6, name) => {
                socket.choices.ip_options.get(&(level, name)).copied().ok_or(Errno::ENOPROTOOPT)?
            }
            (SOL_SOCKET, _) => return Err(Errno::ENOPROTOOPT),
            _ if socket.family == requests::Family::V6 => return Err(Errno::ENOPROTOOPT),
            _ => return Err(Errno::EOPNOTSUPP),
        };
        Ok(Told::default().i32(value).0)
    }

    /// Sets an option of another level than SCTP's.
    pub(super) fn set_generic(&mut self, call: &mut Call<'_>, level: i32, name: i32) -> Result<(), Errno> {
        let given = call.given;
        let socket = self.open.get_mut(&call.number).ok_or(Errno::EBADF)?;
        match (level, name) {
            (SOL_SOCKET, SO_LINGER) => {
                let (is_on, time) = (given.u32(0)? != 0, given.u32(4)?);
                socket.choices.linger = is_on.then_some(time);
                Ok(())
            }
            (SOL_SOCKET, SO_REUSEADDR) => {
                socket.choices.reuses_address = given.u32(0)? != 0;
                Ok(())
            }
            (SOL_SOCKET, SO_REUSEPORT) => {
                socket.choices.reuses_port = given.u32(0)? != 0;
                Ok(())
            }
            (SOL_SOCKET, SO_SNDBUF | SO_SNDBUFFORCE) => {
                let asked = given.u32(0)?;
                socket.choices.told_buffers[0] = Some(asked.clamp(SNDBUF_LEAST, BUFFER_MOST));
                let bytes = u64::from(asked.clamp(BUFFER_LEAST, BUFFER_MOST));
                let id = socket.association();
                if let Some((endpoint, id)) = id.and_then(|id| call.host.sctp_association(id)) {
                    endpoint.change_settings(id, |config| config.send_buffer_bytes = bytes);
                }
                self.change_future(call.host, call.number, |config| config.send_buffer_bytes = bytes)
            }
            (SOL_SOCKET, SO_RCVBUF | SO_RCVBUFFORCE) => {
                let asked = given.u32(0)?;
                socket.choices.told_buffers[1] = Some(asked.clamp(RCVBUF_LEAST, BUFFER_MOST));
                let bytes = asked.clamp(BUFFER_LEAST, BUFFER_MOST);
                self.change_future(call.host, call.number, |config| config.receive_buffer_bytes = bytes)
            }
            (
                SOL_SOCKET,
                SO_BROADCAST | SO_DONTROUTE | SO_KEEPALIVE | SO_OOBINLINE | SO_PRIORITY | SO_RCVLOWAT
                | SO_RCVTIMEO | SO_SNDTIMEO | SO_TIMESTAMP,
            ) => given.at_least(4).map(|_| ()),
            (SOL_SOCKET, SO_TYPE | SO_ERROR | SO_ACCEPTCONN | SO_PROTOCOL | SO_DOMAIN) => {
                Err(Errno::ENOPROTOOPT)
            }
            (IPPROTO_IPV6, IPV6_V6ONLY) => {
                if socket.family != requests::Family::V6 {
                    return Err(Errno::ENOPROTOOPT);
                }
                if socket.bound.is_some() {
                    return Err(Errno::EINVAL);
                }
                socket.choices.is_v6_only = given.u32(0)? != 0;
                Ok(())
            }
            (IPPROTO_IP | IPPROTO_IPV6, name) if name < 80 => {
                let value = given.u32(0).map(u32::cast_signed).or_else(|_| given.u8(0).map(i32::from))?;
                socket.choices.ip_options.insert((level, name), value);
                self.set_header(call, (level, name), value)
            }
            _ => Err(Errno::ENOPROTOOPT),
        }
    }

    /// Sets a field of the IP header of packets; values of other options of IP are only kept.
    fn set_header(&mut self, call: &mut Call<'_>, option: (i32, i32), value: i32) -> Result<(), Errno> {
        let octet = u8::try_from(value);
        let dscp = octet.ok().and_then(|octet| Dscp::new(octet >> 2));
        let change = move |config: &mut SctpConfig| match (option, octet) {
            (IP_TOS | IPV6_TCLASS, _) => config.ip.dscp = dscp.unwrap_or(config.ip.dscp),
            (IP_TTL | IPV6_UNICAST_HOPS, Ok(hops)) if hops > 0 => config.ip.hop_limit = hops,
            _ => {}
        };
        self.change_config(call.host, call.number, super::ALL, change)?;
        self.change_future(call.host, call.number, change)
    }
}

/// Size of a buffer as Linux tells it: twice what was asked for.
fn told_buffer(asked: Option<u32>, bytes: u64) -> i32 {
    i32::try_from(asked.map_or(bytes, u64::from).saturating_mul(2)).unwrap_or(i32::MAX)
}

const _: () = assert!(BUFFER_LEAST < BUFFER_MOST, "a buffer is clamped between them");
