//! Words between a program and its daemon, and control messages.

use std::net::SocketAddr;

use slantpath_requests::{
    self as requests, FromProgram, MessageInfo, OpenRequest, Reply, SendInfo, Style, ToProgram,
};

use super::{HERE, Seeds, THERE};

pub(super) fn keep(seeds: &mut Seeds) {
    let [own, peer] = [SocketAddr::new(HERE, 7_001), SocketAddr::new(THERE, 2_905)];
    let info = SendInfo {
        stream: 3,
        flags: 1,
        policy: 0x10,
        policy_value: 200,
        key: Some(7),
        ..SendInfo::default()
    };
    let data = FromProgram::Data { is_more: false, info: Some(info), destination: Some(peer) };
    seeds.keep("door_from_program", "data", [&data.header()[..], b"message"].concat());
    seeds.keep("door_from_program", "accepted", FromProgram::Accepted.header());
    let requests = [
        ("bind", requests::Request::Bind(own)),
        ("connect", requests::Request::Connect { peer, waits: true }),
        (
            "option",
            requests::Request::SetOption { level: 132, name: 3, value: vec![1, 0, 0, 0], waits: false },
        ),
        ("begin", requests::Request::Begin { init: Some([5; 8]), peers: vec![peer, own] }),
        ("may-send", requests::Request::MaySend { stream: 1, association: 4, length: 9, destination: None }),
        ("may-end", requests::Request::MayEnd { association: 4, destination: Some(peer), is_for_all: false }),
    ];
    for (name, request) in requests {
        let piece = [&FromProgram::Request.header()[..], &request.encode()].concat();
        seeds.keep("door_from_program", name, piece);
    }
    let wish = OpenRequest { style: Style::OneToMany, family: requests::Family::V6 };
    seeds.keep("door_from_program", "open", wish.encode());

    let info = MessageInfo { stream: 2, ssn: 9, tsn: 77, association: 3, ..MessageInfo::default() };
    let data = ToProgram::Data { is_end: true, info, source: peer };
    seeds.keep("door_to_program", "data", [&data.header()[..], b"message"].concat());
    let notification = ToProgram::Notification { is_end: true, source: peer };
    seeds.keep("door_to_program", "notification", [&notification.header()[..], &[1, 0x80, 0, 0]].concat());
    seeds.keep("door_to_program", "accepted", ToProgram::Accepted { peer }.header());
    let reply = Reply { number: 5, address: Some(own), value: b"value".to_vec(), ..Reply::default() };
    seeds.keep("door_to_program", "reply", reply.encode());

    // struct cmsghdr: a length, a level, a type. Behind it struct sctp_sndinfo, sctp_prinfo and sctp_authinfo.
    let message = |kind: i32, data: &[u8]| {
        let length = (16 + data.len() as u64).to_ne_bytes();
        let mut bytes = [&length[..], &132_i32.to_ne_bytes(), &kind.to_ne_bytes(), data].concat();
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    };
    let [sndinfo, prinfo, authinfo] =
        [message(2, &[1; 16]), message(5, &[0x10, 0, 0, 0, 9, 0, 0, 0]), message(6, &[4, 0])];
    seeds.keep("door_control", "sndinfo", &sndinfo);
    seeds.keep("door_control", "several", [sndinfo, prinfo, authinfo].concat());
    seeds.keep("door_control", "address", [2, 0, 0x1b, 0x59, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    seeds.keep("door_control", "room", [7, 100]);
}
