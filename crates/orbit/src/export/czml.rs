//! CZML, the scene format of the Cesium globe: satellites on their ways, sites, and every contact with its
//! times.

use serde_json::{Value, json};
use slantpath_base::{Duration, Instant};

use crate::contact::{ContactKind, ContactPlan};
use crate::network::ContactNetwork;
use crate::sgp4::PropagationFault;
use crate::site::SitePosition;
use crate::topology::Timeline;
use crate::utc::Utc;

/// A whole scene. `step` is the time between a satellite's written positions (60 s draws smoothly: positions
/// are interpolated by the viewer with polynomials of the fifth degree). A timeline, if given, is drawn over
/// the contacts.
pub fn scene(
    network: &ContactNetwork,
    plan: &ContactPlan,
    step: Duration,
    timeline: Option<&Timeline>,
) -> Result<String, PropagationFault> {
    let (start, end) = (network.epoch, network.epoch.after(plan.span()));
    let interval = format!("{start}/{end}");
    let mut packets = vec![json!({
        "id": "document", "name": "slantpath", "version": "1.0",
        "clock": {"interval": interval, "currentTime": start.to_string(), "multiplier": 60}
    })];
    let step_s = step.as_secs_f64().max(1.0);
    for satellite in network.satellites() {
        let mut positions: Vec<f64> = Vec::new();
        let mut t = 0.0;
        // One position beyond the end, so that the way does not stop short of it.
        while t < plan.span().as_secs_f64() + step_s {
            let at = satellite.orbit.fixed(start.after(Duration::from_secs_f64(t)))?.position;
            positions.extend([t, at.x, at.y, at.z].map(|value| libm::round(value * 1e3) / 1e3));
            t += step_s;
        }
        packets.push(json!({
            "id": satellite.name, "name": satellite.name, "availability": interval,
            "point": {"pixelSize": 5, "color": {"rgba": [255, 214, 92, 255]}},
            "position": {
                "epoch": start.to_string(), "referenceFrame": "FIXED", "cartesian": positions,
                "interpolationAlgorithm": "LAGRANGE", "interpolationDegree": 5
            }
        }));
    }
    for site in &network.sites {
        packets.push(json!({
            "id": site.name, "name": site.name,
            "point": {"pixelSize": 8, "color": {"rgba": [92, 200, 255, 255]}},
            "label": {"text": site.name, "font": "12px sans-serif", "pixelOffset": {"cartesian2": [0, -14]}},
            "position": place(&site.place, start, plan.span(), step_s)
        }));
    }
    packets.extend(plan.contacts().iter().enumerate().map(|(index, contact)| {
        let is_ground = matches!(contact.kind, ContactKind::Ground { .. });
        let colour = if is_ground { [92, 200, 255, 180] } else { [160, 160, 160, 110] };
        let times = interval_of(network, contact.start, contact.end);
        let names = [contact.a, contact.b].map(|node| plan.names()[node.index()].as_str());
        line(&format!("contact/{index}"), &times, &names, colour, 1.0)
    }));
    if let Some(timeline) = timeline {
        packets.extend(timeline.legs.iter().enumerate().filter_map(|(index, leg)| {
            let names: Vec<&str> =
                leg.path.as_ref()?.nodes.iter().map(|node| plan.names()[node.index()].as_str()).collect();
            let times = interval_of(network, leg.start, leg.end);
            Some(line(&format!("path/{index}"), &times, &names, [255, 80, 80, 255], 3.0))
        }));
    }
    Ok(Value::Array(packets).to_string())
}

/// A site's place: one point, or points every `step_s` seconds and at the corners of a journey.
fn place(place: &SitePosition, epoch: Utc, span: Duration, step_s: f64) -> Value {
    let at = |t: f64| place.at(Instant::START + Duration::from_secs_f64(t)).position;
    let SitePosition::Track(_) = place else {
        let at = at(0.0);
        return json!({"cartesian": [at.x, at.y, at.z]});
    };
    let span = span.as_secs_f64();
    let regular = core::iter::successors(Some(0.0), |t| Some(t + step_s)).take_while(|&t| t < span);
    let corners = place.corners().into_iter().map(|corner| corner.since_start().as_secs_f64());
    let mut times: Vec<f64> = regular.chain(corners.filter(|&t| t < span)).chain([span]).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let positions: Vec<f64> = times
        .into_iter()
        .flat_map(|t| {
            let at = at(t);
            [t, at.x, at.y, at.z].map(|value| libm::round(value * 1e3) / 1e3)
        })
        .collect();
    json!({
        "epoch": epoch.to_string(), "referenceFrame": "FIXED", "cartesian": positions,
        "interpolationAlgorithm": "LINEAR"
    })
}

fn interval_of(network: &ContactNetwork, start: Instant, end: Instant) -> String {
    format!("{}/{}", network.epoch.at(start), network.epoch.at(end))
}

fn line(id: &str, times: &str, names: &[&str], rgba: [u8; 4], width: f64) -> Value {
    let references: Vec<String> =
        names.iter().map(|name| format!("{}#position", name.replace('#', "\\#"))).collect();
    json!({
        "id": id, "availability": times,
        "polyline": {
            "show": [{"interval": times, "boolean": true}],
            "positions": {"references": references},
            "arcType": "NONE", "width": width,
            "material": {"solidColor": {"color": {"rgba": rgba}}}
        }
    })
}
