//! A bare forwarder: two places, and between them a loop that reads frames of one packet socket and writes them to the
//! other. All that an emulator does beside is what it costs.

use std::io::IoSlice;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use slantpath_emulate::frames::ethernet;
use slantpath_emulate::{InterfaceConfig, Lab, Offload, PlaceConfig, build_places, neighbours};
use slantpath_system::clock::rest;
use slantpath_system::packet::{DEFAULT_RING_BYTES, PacketSocket};
use slantpath_system::poll::Poll;
use slantpath_system::reentry;
use slantpath_wire::ethernet::ETHERNET_HEADER_LEN;

/// Variable by which this program knows that it is inside of its namespaces.
const INSIDE: &str = "SLANTPATH_BENCH_INSIDE";
/// As much as the emulator reads at a time.
const FRAME_BYTES: usize = 16_384;
/// Time without a frame after which the sender may have ended.
const QUIET: Duration = Duration::from_millis(200);

/// Forwards between `near` and `far` until the sender there has ended: packets are sent as [`crate::programs`] does.
pub(crate) fn run(words: &[&str]) {
    if reentry::entered(INSIDE).unwrap().is_none() {
        reentry::reenter(INSIDE).unwrap();
        return;
    }
    let [sent, received, rate, seconds, octets] = words else { panic!("five words") };
    let place = |own: u8, other: u8, name: &str, other_name: &str| PlaceConfig {
        name: name.to_owned(),
        interfaces: vec![InterfaceConfig {
            link: "link".to_owned(),
            addresses: vec![[10, 0, 0, own].into()],
            mtu_bytes: 1_500,
            other_end: Vec::new(),
            carries_frames: false,
        }],
        reaches: vec![([10, 0, 0, other].into(), other_name.to_owned(), 0)],
        existing: None,
        tcp_buffers: [None; 2],
    };
    let Lab { places, doors, .. } =
        build_places(&[place(1, 2, "near", "far"), place(2, 1, "far", "near")]).unwrap();
    let mut poll = Poll::new().unwrap();
    let mut sockets: Vec<PacketSocket> = Vec::new();
    for (token, door) in (0..).zip(&doors) {
        let socket = PacketSocket::open(&door.interface, DEFAULT_RING_BYTES, FRAME_BYTES, false).unwrap();
        poll.add(&socket, token).unwrap();
        sockets.push(socket);
    }
    let program = std::env::current_exe().unwrap();
    let start = |place: usize, words: &[&str]| {
        let mut command = Command::new(&program);
        command.arg("program").args(words);
        places[place].network.run(|| command.spawn()).unwrap().unwrap()
    };
    let mut receiver = start(1, &["receive", received]);
    rest(Duration::from_millis(200));
    let mut sender = start(0, &["send", rate, seconds, octets, sent, "10.0.0.2", "plain"]);
    while !poll.wait(Some(QUIET)).unwrap().is_empty() || sender.try_wait().unwrap().is_none() {
        for (from, to) in [(0, 1), (1, 0)] {
            forward(&mut sockets, from, to, &doors);
        }
    }
    let _ = receiver.kill();
    receiver.wait().unwrap();
    assert!(Path::new(sent).exists());
}

fn forward(sockets: &mut [PacketSocket], from: usize, to: usize, doors: &[slantpath_emulate::DoorConfig]) {
    let [first, second] = sockets else { panic!("two sockets") };
    let (reader, writer) = if from == 0 { (first, &*second) } else { (second, &*first) };
    loop {
        let Some(frame) = reader.receive() else { return };
        let bytes = frame.bytes();
        if let Some(answer) = neighbours::answer(bytes, doors[from].own, &doors[from].addresses) {
            drop(frame);
            reader.send(&Offload::NONE.to_bytes(), &answer).unwrap();
            continue;
        }
        let behind = &bytes[ETHERNET_HEADER_LEN..];
        let Some(header) = ethernet(doors[to].attached, doors[to].own, behind) else { continue };
        let offload = frame.offload();
        writer.send_pieces(&[&offload[..], &header, behind].map(IoSlice::new)).unwrap();
    }
}
