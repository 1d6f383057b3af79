//! Writes the case of a hundred cities under a sky as files: `sky kuiper 200` or `sky starlink 200`, with the seconds
//! that it runs, puts `cities.toml` and `sky.toml` into the present directory, for `slantpath run cities.toml`, and
//! `frozen.toml`, the same network as it is at its first instant.

use slantpath_base::Duration;
use slantpath_benches::sky::{Load, Sky, frozen, scenario};

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let sky = match arguments.next().as_deref() {
        Some("kuiper") => Sky::Kuiper,
        Some("starlink") => Sky::Starlink,
        _ => return Err("name a sky: kuiper or starlink".into()),
    };
    let seconds = arguments.next().ok_or("say for how many seconds it runs")?.parse()?;
    let duration = Duration::from_secs(seconds);
    std::fs::write("sky.toml", sky.topology())?;
    std::fs::write("cities.toml", scenario(duration, Load::Unlimited))?;
    std::fs::write("frozen.toml", frozen(sky, duration, Load::Unlimited)?)?;
    Ok(())
}
