//! `discipline` of a link, which may be one of the program's own.

use slantpath_base::DataSize;
use slantpath_net::{ChosenQueue, OwnQueueConfig, QueueConfig, QueueLimit};
use slantpath_reader::{
    Asked, Fault, Faults, Finish, Json, MergedOutput, OneOfOrOwn, Open, OwnTagged, Place, TableReader,
    Tables, Tagged, WriteFields, Written, suggest,
};

use super::discipline::Discipline;
use super::port::Port;
use crate::own_kinds::OwnKinds;
use crate::written::{Link, SkyTable};

/// A discipline of the project, or of the program.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly every link of a file has the large one")]
pub enum AnyDiscipline {
    /// Asked for by a name that is none of the project's, at this place: the program may have it.
    Asked(Box<Asked>, Place),
    /// One of the project's.
    Known(Discipline),
    /// One of the program's own.
    Own(Box<ChosenQueue>),
}

impl AnyDiscipline {
    /// Tells if it decides about a packet on its arrival, so that it is known at once when the packet will leave.
    pub(crate) const fn is_settled_on_arrival(&self) -> bool {
        match self {
            Self::Known(discipline) => discipline.is_settled_on_arrival(),
            Self::Asked(..) | Self::Own(_) => false,
        }
    }

    /// Configuration of it in `net`, with a limit of the queue.
    pub(crate) fn config(&self, limit: QueueLimit) -> QueueConfig {
        match self {
            // Nothing is built of what nobody knows.
            Self::Asked(..) => QueueConfig::DropTail(limit),
            Self::Known(discipline) => discipline.config(limit),
            Self::Own(chosen) => QueueConfig::Own(OwnQueueConfig { limit, chosen: (**chosen).clone() }),
        }
    }

    /// Reports what makes no sense.
    pub(crate) fn check(&self, place: Place, mtu: DataSize, faults: &mut Faults) {
        if let Self::Known(discipline) = self {
            discipline.check(place, mtu, faults);
        }
    }
}

/// Finds the queues of the program that links and directions name.
pub(crate) fn resolve_all(
    links: &mut Tables<Link>,
    sky: Option<&mut SkyTable>,
    own: &OwnKinds,
    faults: &mut Faults,
) {
    let mut of_ports = |ports: [(&str, Option<&mut Port<Written>>); 3], table: &str| {
        for (direction, port) in ports {
            if let Some(port) = port {
                resolve(&mut port.discipline, &format!("{table}{direction}.discipline"), own, faults);
            }
        }
    };
    for (name, link) in links.iter_mut() {
        let ports = [
            ("", Some(&mut link.both.0.0.port.0)),
            (".forward", Some(&mut link.forward.0.port.0)),
            (".reverse", Some(&mut link.reverse.0.port.0)),
        ];
        of_ports(ports, &format!("links.{name}"));
    }
    let Some(sky) = sky else { return };
    for (name, table) in sky.access.iter_mut() {
        let ports = [
            ("", table.both.0.0.port.0.transmitter_mut()),
            (".uplink", table.uplink.0.port.0.transmitter_mut()),
            (".downlink", table.downlink.0.port.0.transmitter_mut()),
        ];
        of_ports(ports, &format!("sky.access.{name}"));
    }
    for (name, table) in sky.isls.iter_mut() {
        let ports = [("", table.both.0.port.0.transmitter_mut()), ("", None), ("", None)];
        of_ports(ports, &format!("sky.isls.{name}"));
    }
    for (name, table) in sky.terrestrial.iter_mut() {
        of_ports(
            [("", Some(&mut table.both.0.port.0)), ("", None), ("", None)],
            &format!("sky.terrestrial.{name}"),
        );
    }
}

/// Finds the queue of the program that a name stands for, if it is none of the project's. `path` is that of the table.
fn resolve(
    discipline: &mut Option<OneOfOrOwn<AnyDiscipline>>,
    path: &str,
    own: &OwnKinds,
    faults: &mut Faults,
) {
    let Some(OneOfOrOwn(any)) = discipline else { return };
    let AnyDiscipline::Asked(asked, place) = any else { return };
    match chosen(asked, path, own) {
        Ok(chosen) => *any = AnyDiscipline::Own(Box::new(chosen)),
        Err(fault) => faults.report(*place, fault),
    }
}

fn chosen(asked: &Asked, path: &str, own: &OwnKinds) -> Result<ChosenQueue, Fault> {
    let Some(queue) = own.queue(&asked.kind) else {
        let owns = own.queues().map(|queue| queue.declaration().name.as_str());
        let kinds: Vec<&str> = Discipline::kinds().iter().copied().chain(owns).collect();
        let fault = Fault::new(format!("`{path}` has no kind `{}`", asked.kind));
        return Err(fault.help(suggest(&asked.kind, "kinds", &kinds)));
    };
    let declaration = queue.declaration();
    asked.check_code(declaration)?;
    queue.chosen(&asked.parameters).map_err(|fault| Asked::parameter_fault(declaration, &fault))
}

impl WriteFields for AnyDiscipline {
    fn write_fields(&self, output: &mut MergedOutput) {
        match self {
            Self::Asked(asked, _) => output.plain("kind", &asked.kind),
            Self::Known(discipline) => discipline.write_fields(output),
            Self::Own(chosen) => {
                for (key, value) in Asked::keys(chosen.declaration(), chosen.parameters()) {
                    output.written(&key, value);
                }
            }
        }
    }
}

impl Finish for AnyDiscipline {
    type Finished = Self;

    fn finish(self) -> Result<Self, Open> {
        Ok(self)
    }
}

impl Tagged for AnyDiscipline {
    const ABOUT: &'static str = Discipline::ABOUT;

    fn read(kind: &str, place: Place, reader: &mut TableReader<'_>) -> Option<Self> {
        Discipline::read(kind, place, reader).map(Self::Known)
    }

    fn names(kind: &str) -> Option<Vec<&'static str>> {
        Discipline::names(kind)
    }

    fn kinds() -> &'static [&'static str] {
        Discipline::kinds()
    }

    fn schemas() -> Vec<Json> {
        Discipline::schemas()
    }
}

impl OwnTagged for AnyDiscipline {
    fn asked(asked: Asked, kind: Place) -> Self {
        Self::Asked(Box::new(asked), kind)
    }
}
