#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| slantpath_fuzz_bodies::door::from_program(data));
