//! Captures of real networks, and what is made of them.

use std::convert::Infallible;

use slantpath_capture::{CaptureReader, Filter, Importer, PointCodeFormat};

/// Any bytes give frames or an error. What they hold is imported: each trace has as many lines as its flow or load has
/// messages.
pub fn import(data: &[u8]) {
    let Ok(mut reader) = CaptureReader::open(data) else { return };
    let mut importer = Importer::new(Filter::default(), PointCodeFormat::Itu);
    let mut lines = 0_u64;
    let mut count = |name: &str, text: &str| -> Result<(), Infallible> {
        if name.split_once('.').is_some_and(|(_, kind)| kind == "csv") {
            lines += text.lines().count() as u64;
        }
        Ok(())
    };
    let mut frames = 0;
    while let Ok(Some(frame)) = reader.next_frame() {
        frames += 1;
        let Ok(()) = importer.frame(&frame, &mut count);
    }
    let Ok(report) = importer.finish("fuzz", &mut count);
    assert_eq!(report.frames, frames);
    let of_flows: u64 = report.flows.iter().map(|flow| flow.messages).sum();
    let of_loads: u64 = report.loads.iter().map(|load| load.messages).sum();
    assert_eq!(lines, of_flows + of_loads);
}
