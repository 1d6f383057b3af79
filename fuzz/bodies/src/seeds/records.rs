//! Records of runs.

use slantpath_wire::record::{RecordKind, RecordWriter};

use super::Seeds;

pub(super) fn keep(seeds: &mut Seeds) {
    let content = emulation();
    let mut file = Vec::new();
    let mut writer = RecordWriter::begin(RecordKind::Emulated, &mut file);
    content.chunks(40).for_each(|part| writer.write(part, &mut file));
    seeds.keep("record", "emulated", file);
    // The body makes a file of content, too.
    seeds.keep("record", "entries", content);
    let mut live = Vec::new();
    RecordWriter::begin(RecordKind::Live, &mut live).write(&[7; 32], &mut live);
    seeds.keep("record", "live", live);
}

/// Entries of an emulation of two places: a packet comes, and goes when the network has run.
fn emulation() -> Vec<u8> {
    let string = |text: &str| {
        let len = u32::try_from(text.len()).expect("a seed is short");
        [&len.to_be_bytes()[..], text.as_bytes()].concat()
    };
    let about = ["0.1.0", ".", "[scenario]\nname = \"seed\"\n"].map(string).concat();
    let interfaces = ["far", "link", "near", "link"].map(string).concat();
    let at = |millis: u64| (1_000_000 * millis).to_be_bytes();
    let packet = [0, 0, 0, 3, b'a', b'b', b'c'];
    let arrived = [&[1][..], &at(5), &[0, 1], &packet].concat();
    let departed = [&[2][..], &at(7), &[0, 0], &[0, 0, 0, 3], &[9; 8]].concat();
    let ran = [&[3][..], &at(8)].concat();
    let ended = [&[4][..], &string("digest")].concat();
    [&[0][..], &about, &[0, 2], &interfaces, &arrived, &departed, &ran, &ended].concat()
}
