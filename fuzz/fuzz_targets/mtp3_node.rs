#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| slantpath_fuzz_bodies::mtp3::node(data));
