//! Voice and video beside file transfers: what priority gives them, and what they have without.

use slantpath_runner::RunOutput;

use crate::cells::cells;
use crate::project;

fn run_with(overrides: &[&str]) -> RunOutput {
    project::run_file("mixed-services.toml", overrides)
}

/// The percentile of the delays of video and of voice, in milliseconds.
fn delays_ms(output: &RunOutput, percentile: &str) -> [f64; 2] {
    let delays = cells(output, "delays", percentile);
    [delays[0], delays[1]].map(|delay| 1e3 * delay.unwrap())
}

#[test]
fn a_call_waits_for_one_packet_at_most_and_a_video_for_its_own_frames() {
    let marked = run_with(&[]);
    let none = ["flows.voice.dscp=CS0", "flows.video.dscp=CS0", "sessions.web.dscp=CS0"];
    let unmarked = run_with(&none);
    let [video, voice] = delays_ms(&marked, "delay_p95_s");
    // 261 ms of light and 1 ms for the packet, and 6 ms at most for one of 1,500 bytes that is being sent;
    // histograms are within 1 %.
    assert!((261.0..271.0).contains(&voice), "{voice} ms");
    assert!((265.0..285.0).contains(&video), "{video} ms");
    let slow = delays_ms(&unmarked, "delay_p95_s");
    assert!(slow[0] > video + 100.0 && slow[1] > voice + 100.0, "{slow:?} ms");
    // Nothing of a call is lost where it goes first: what is retransmitted comes half a second later.
    let [_, longest] = delays_ms(&marked, "delay_max_s");
    let [_, longest_unmarked] = delays_ms(&unmarked, "delay_max_s");
    assert!(longest < 400.0 && longest_unmarked > 700.0, "{longest} and {longest_unmarked} ms");
    // Pages come before files.
    let page = |output: &RunOutput| cells(output, "request_sources", "response_p90_s")[0].unwrap();
    assert!(page(&marked) < 0.8 * page(&unmarked), "{} and {} s", page(&marked), page(&unmarked));
    // The link carries as much.
    let carried = |output: &RunOutput| cells(output, "session_sources", "delivered_bytes")[0].unwrap();
    assert!((carried(&marked) / carried(&unmarked) - 1.0).abs() < 0.1);
}
