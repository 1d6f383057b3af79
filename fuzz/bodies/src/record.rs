//! Records of runs: their container, and the entries of an emulation.

use slantpath_runner::read_whole_record;
use slantpath_wire::record::{HEADER_LEN, RecordKind, RecordPart, RecordReader, RecordWriter};

/// Any bytes give content or an error, and so does any content of an emulation. Content that is written is read.
pub fn read(data: &[u8]) {
    if let Some((kind, content)) = content(data) {
        let mut file = Vec::new();
        RecordWriter::begin(kind, &mut file).write(&content, &mut file);
        assert_eq!(self::content(&file), Some((kind, content)));
    }
    let _ = read_whole_record(data);
    // As if all blocks were whole.
    let mut file = Vec::new();
    RecordWriter::begin(RecordKind::Emulated, &mut file).write(data, &mut file);
    assert!(file.len() >= HEADER_LEN);
    let _ = read_whole_record(&file[..]);
}

/// Content of whole blocks up to where a file ends; `None` if it is wrong before.
fn content(file: &[u8]) -> Option<(RecordKind, Vec<u8>)> {
    let mut reader = RecordReader::open(file).ok()?;
    let mut content = Vec::new();
    while reader.read(&mut content).ok()? == RecordPart::Block {}
    assert!(content.len() < file.len());
    Some((reader.kind(), content))
}
