//! Links between two attached nodes, which carry frames of Ethernet as they came.

use crate::caller::Caller;

/// Sends each frame back to whoever has sent it, as `socket` sees it, with the tag that the kernel has taken out.
const MIRROR: &str = "
import socket, struct
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind(('link', 3))
s.setsockopt(263, 8, 1)
def received():
    while True:
        data, control, _, source = s.recvmsg(70000, 200)
        if source[2] == 4:
            continue
        for level, kind, told in control:
            status, _, _, _, _, tci, tpid = struct.unpack('IIIHHHH', told[:20])
            if status & 16:
                data = data[:12] + struct.pack('!HH', tpid if status & 64 else 0x8100, tci) + data[12:]
        return data
";

/// Frames that no router would carry, each of which comes back with a mark before its content.
const FRAMES: &str = "
import time
here = s.getsockname()[4]
group = bytes.fromhex('0180c200000e')
content = bytes(range(46))
frames = [
    group + here + bytes.fromhex('88cc') + content,
    group + here + bytes.fromhex('002e') + content,
    group + here + bytes.fromhex('8100a064') + bytes.fromhex('88cc') + content,
    group + here + bytes.fromhex('88a82007') + bytes.fromhex('8100a064') + bytes.fromhex('0806') + content,
    group + here + bytes.fromhex('0800') + bytes([0x45, 0, 0, 40]) + content,
    group + here + bytes.fromhex('81000001') + bytes.fromhex('88b5') + bytes(1500),
]
for frame in frames:
    begin = time.monotonic()
    s.send(frame)
    back = received()
    while back[0] != 0xf3:
        back = received()
    assert back[12:] == frame[12:], (back.hex(), frame.hex())
    assert time.monotonic() - begin >= 0.02
print('all', len(frames), flush=True)
";

#[test]
fn frames_between_two_places_come_as_they_were_sent() {
    for caller in Caller::all("emulate-frames") {
        let back = "
listening = socket.create_server(('', 7000))
while True:
    frame = received()
    if frame[0] != 0xf3:
        s.send(bytes([0xf3]) + frame[1:])
";
        let far = format!("exec python3 -c \"{MIRROR}{back}\"");
        let near = [MIRROR, FRAMES].concat();
        let outcome = caller.run(&[
            "--delay", "10 ms", "--root", "near", "--root", "far", "--in", "far", &far, "--ready",
            "far:7000", "--", "python3", "-c", &near,
        ]);
        assert_eq!(outcome.status, Some(0), "{}{}", outcome.out, outcome.err);
        assert!(outcome.out.contains("near: all 6\n"), "{}", outcome.out);
    }
}

#[test]
fn both_ends_of_a_link_of_frames_have_a_subnet_and_find_each_other() {
    for caller in Caller::all("emulate-subnet") {
        // A long transfer: segments are cut, joined, and cut again.
        let far = "exec python3 -c \"
import socket
listening = socket.create_server(('', 7000))
peer, _ = listening.accept()
total = 0
while True:
    data = peer.recv(1 << 20)
    if not data:
        break
    total += len(data)
peer.sendall(b'%d' % total)
\"";
        let near = "
import socket
s = socket.create_connection(('far', 7000))
s.sendall(bytes(5_000_000))
s.shutdown(socket.SHUT_WR)
print('told', s.recv(100).decode(), flush=True)
print(open('/proc/net/arp').read().split()[9:13], flush=True)
";
        let show = format!("ip -o route; python3 -c \"{near}\"");
        let outcome = caller
            .run(&["--delay", "1 ms", "--in", "far", far, "--ready", "far:7000", "--", "sh", "-c", &show]);
        assert_eq!(outcome.status, Some(0), "{}{}", outcome.out, outcome.err);
        for told in ["near: told 5000000\n", "/30 dev link ", "'02:00:00:00:00:01'"] {
            assert!(outcome.out.contains(told), "{told}: {}", outcome.out);
        }
        assert!(!outcome.out.contains("default"), "{}", outcome.out);
    }
}
