//! Congestion controllers that are classes of Python. A run holds no interpreter; each event takes it for a moment.

use core::cell::RefCell;
use core::fmt;

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{IntoPyObjectExt, intern};
use slantpath_base::{DataRate, Declaration, Duration, Instant, OwnParameters, ParameterValue};
use slantpath_cc::control::{self, Acknowledged, CongestionControl, LossEvent, Sent, TimedOut};
use slantpath_cc::{OwnController, Terms};
use slantpath_runner::OwnKinds;

pyo3::import_exception!(slantpath.errors, LiveError);
pyo3::import_exception!(slantpath.errors, RunError);

thread_local! {
    /// First exception of a controller of the run on this thread. The run ends soon after.
    static FAILURE: RefCell<Option<ControllerFailure>> = const { RefCell::new(None) };
}

/// An exception of a controller.
#[derive(Debug)]
pub(crate) struct ControllerFailure {
    controller: String,
    method: &'static str,
    /// Simulated instant of it, if it is known.
    at: Option<Instant>,
    error: PyErr,
}

/// Forgets what a controller of an earlier run on this thread has raised, or one of an endpoint.
pub(crate) fn begin_run() {
    FAILURE.take();
}

/// Tells if a controller of the run on this thread has raised something.
pub(crate) fn has_failed() -> bool {
    FAILURE.with_borrow(Option::is_some)
}

/// The error of the run, if one of its controllers has raised something: that is its cause.
pub(crate) fn failure(py: Python<'_>) -> Option<PyErr> {
    Some(taken()?.raised(py))
}

/// Takes what a controller of the run on this thread has raised, for another thread to raise.
pub(crate) fn taken() -> Option<ControllerFailure> {
    FAILURE.take()
}

impl ControllerFailure {
    /// The error of the run, whose cause it is.
    pub(crate) fn raised(self, py: Python<'_>) -> PyErr {
        self.caused(py, "of the run", RunError::new_err)
    }

    /// The error of a live endpoint, whose cause it is.
    pub(crate) fn raised_live(self, py: Python<'_>) -> PyErr {
        self.caused(py, "of the endpoint", LiveError::new_err)
    }

    fn caused(self, py: Python<'_>, of_whom: &str, raised: impl FnOnce(String) -> PyErr) -> PyErr {
        let Self { controller, method, at, error } = self;
        // Ctrl-C, or what asks the interpreter to end, is nobody's failure.
        if !error.is_instance_of::<PyException>(py) {
            return error;
        }
        let at = at.map_or_else(String::new, |at| format!(" at {} s {of_whom}", at.as_nanos() as f64 / 1e9));
        let message = format!("controller `{controller}` failed in `{method}`{at}: {}", error.value(py));
        let raised = raised(message);
        raised.set_cause(py, Some(error));
        raised
    }
}

/// Calls that are told no instant: something is sent at once behind them, and that says when it is.
const BEFORE_SENT: [&str; 4] = ["__init__", "__setattr__", "on_idle", "on_timeout"];

/// Kinds of a program in Python: controllers by name, each a class.
#[derive(Debug)]
pub(crate) struct PythonKinds {
    pub(crate) classes: Py<PyDict>,
    pub(crate) kinds: OwnKinds,
}

/// Name, words, code, parameters, if it needs to know of losses at their time, if it rules recoveries.
type Declared = (String, String, Vec<(String, Value)>, bool, bool);

#[derive(FromPyObject)]
enum Value {
    // In this order: a boolean is a whole number of Python, and a whole number passes for a float.
    Flag(bool),
    Whole(i64),
    Number(f64),
    Text(String),
}

impl From<Value> for ParameterValue {
    fn from(value: Value) -> Self {
        match value {
            Value::Flag(flag) => Self::Flag(flag),
            Value::Whole(whole) => Self::Whole(whole),
            Value::Number(number) => Self::Number(number),
            Value::Text(text) => Self::Text(text),
        }
    }
}

impl PythonKinds {
    /// Registers classes of controllers by their names.
    pub(crate) fn new(classes: &Bound<'_, PyDict>) -> PyResult<Self> {
        let py = classes.py();
        let declared = py.import("slantpath.controllers")?.getattr("declared")?;
        let mut kinds = OwnKinds::none();
        for (name, class) in classes.iter() {
            let (about, code, parameters, needs_loss_times, rules_recovery): Declared =
                declared.call1((&name, &class))?.extract()?;
            let (name, class) = (name.extract::<String>()?, class.unbind());
            if kinds.controllers().is_taken(&name) {
                let message = format!("there is a controller `{name}` already: give yours another name");
                return Err(PyValueError::new_err(message));
            }
            let mut declaration = Declaration::new(&name, about).with_code(code);
            for (parameter, default) in parameters {
                let default = ParameterValue::from(default);
                if let Some(refusal) = declaration.refusal(&parameter, &default) {
                    return Err(PyValueError::new_err(format!("`{name}`: {refusal}")));
                }
                declaration = declaration.with_parameter(parameter, default, "Parameter of the class.");
            }
            let maker = Maker { name, class, rules_recovery };
            let make = move |terms: &Terms, parameters: &OwnParameters| maker.make(terms, parameters);
            let mut own = OwnController::new(declaration, make);
            if needs_loss_times {
                own = own.needing_loss_times();
            }
            kinds = kinds.with_controller(own);
        }
        Ok(Self { classes: classes.clone().unbind(), kinds })
    }

    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Self {
        Self { classes: self.classes.clone_ref(py), kinds: self.kinds.clone() }
    }
}

struct Maker {
    name: String,
    class: Py<PyAny>,
    rules_recovery: bool,
}

impl Maker {
    fn make(&self, terms: &Terms, parameters: &OwnParameters) -> PythonController {
        let mut made = PythonController {
            name: self.name.clone(),
            object: None,
            methods: Methods::default(),
            cwnd: terms.initial_cwnd_bytes,
            ssthresh: terms.initial_ssthresh_bytes.unwrap_or(u64::MAX),
            pacing_rate: None,
            send_quantum: u64::MAX,
            segment_bytes: terms.segment_bytes,
            rules_recovery: self.rules_recovery,
            now: None,
        };
        Python::attach(|py| {
            let object = self.object(py, terms, parameters);
            let taken = object.and_then(|object| {
                made.methods = Methods::of(&object)?;
                made.take_values(&object, "__init__")?;
                made.object = Some(object.unbind());
                Ok(())
            });
            made.told("__init__", taken);
        });
        made
    }

    fn object<'py>(
        &self,
        py: Python<'py>,
        terms: &Terms,
        parameters: &OwnParameters,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = PyDict::new(py);
        for (name, value) in parameters.iter() {
            let value = match value {
                ParameterValue::Flag(flag) => flag.into_bound_py_any(py)?,
                ParameterValue::Number(number) => number.into_bound_py_any(py)?,
                ParameterValue::Text(text) => text.into_bound_py_any(py)?,
                ParameterValue::Whole(whole) => whole.into_bound_py_any(py)?,
            };
            given.set_item(name, value)?;
        }
        let capacity = terms.known_capacity.map(DataRate::as_bits_per_sec);
        let terms = py.import("slantpath.controllers")?.getattr("Terms")?.call1((
            terms.segment_bytes,
            terms.initial_cwnd_bytes,
            terms.initial_ssthresh_bytes,
            terms.max_cwnd_bytes,
            capacity,
        ))?;
        self.class.bind(py).call((terms,), Some(&given))
    }
}

/// Bound methods, those that a class leaves as they are but for the first five left out.
#[derive(Debug, Default)]
#[expect(clippy::struct_field_names, reason = "they are named as the methods of a class are")]
struct Methods {
    on_ack: Option<Py<PyAny>>,
    on_idle: Option<Py<PyAny>>,
    on_loss: Option<Py<PyAny>>,
    on_mark: Option<Py<PyAny>>,
    on_timeout: Option<Py<PyAny>>,
    on_recovered: Option<Py<PyAny>>,
    on_sent: Option<Py<PyAny>>,
    on_spurious: Option<Py<PyAny>>,
}

impl Methods {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let base = py.import("slantpath.controllers")?.getattr("Controller")?;
        let method = |name: &str| object.getattr(name).map(|method| Some(method.unbind()));
        let own = |name: &str| {
            let is_own = !object.get_type().getattr(name)?.is(&base.getattr(name)?);
            if is_own { method(name) } else { Ok(None) }
        };
        Ok(Self {
            on_ack: method("on_ack")?,
            on_idle: method("on_idle")?,
            on_loss: method("on_loss")?,
            on_mark: method("on_mark")?,
            on_timeout: method("on_timeout")?,
            on_recovered: own("on_recovered")?,
            on_sent: own("on_sent")?,
            on_spurious: own("on_spurious")?,
        })
    }
}

/// An object of Python that governs a window, with the values that it had after the last event.
struct PythonController {
    name: String,
    /// None once it has failed.
    object: Option<Py<PyAny>>,
    methods: Methods,
    cwnd: u64,
    ssthresh: u64,
    pacing_rate: Option<DataRate>,
    send_quantum: u64,
    segment_bytes: u64,
    rules_recovery: bool,
    /// Instant of the last event that has one.
    now: Option<Instant>,
}

impl fmt::Debug for PythonController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, cwnd, ssthresh, .. } = self;
        f.debug_struct(name).field("cwnd", cwnd).field("ssthresh", ssthresh).finish_non_exhaustive()
    }
}

/// A copy has an object of its own.
impl Clone for PythonController {
    fn clone(&self) -> Self {
        let mut copy = Self { name: self.name.clone(), object: None, methods: Methods::default(), ..*self };
        if let Some(object) = &self.object {
            Python::attach(|py| {
                let copied = py
                    .import("copy")
                    .and_then(|copy| copy.getattr("deepcopy"))
                    .and_then(|deepcopy| deepcopy.call1((object,)));
                let taken = copied.and_then(|object| {
                    copy.methods = Methods::of(&object)?;
                    copy.object = Some(object.unbind());
                    Ok(())
                });
                copy.told("__deepcopy__", taken);
            });
        }
        copy
    }
}

impl PythonController {
    /// Notes what a method has raised. Nothing is called any more then.
    fn told(&mut self, method: &'static str, result: PyResult<()>) {
        let Err(error) = result else { return };
        self.object = None;
        let (controller, at) = (self.name.clone(), self.now.filter(|_| !BEFORE_SENT.contains(&method)));
        FAILURE.with_borrow_mut(|failure| {
            failure.get_or_insert(ControllerFailure { controller, method, at, error });
        });
    }

    /// Calls a method, and takes the values that it leaves.
    fn call(
        &mut self,
        name: &'static str,
        of: impl Fn(&Methods) -> Option<&Py<PyAny>>,
        call: impl for<'py> FnOnce(Python<'py>, &Py<PyAny>) -> PyResult<()>,
    ) {
        if self.object.is_none() || of(&self.methods).is_none() {
            return;
        }
        Python::attach(|py| {
            let called = self.called(py, name, of, call);
            self.told(name, called);
        });
    }

    fn called<'py>(
        &mut self,
        py: Python<'py>,
        name: &'static str,
        of: impl Fn(&Methods) -> Option<&Py<PyAny>>,
        call: impl FnOnce(Python<'py>, &Py<PyAny>) -> PyResult<()>,
    ) -> PyResult<()> {
        if let Some(method) = of(&self.methods) {
            call(py, method)?;
        }
        let object = self.object.as_ref().map(|object| object.clone_ref(py));
        object.map_or(Ok(()), |object| self.take_values(object.bind(py), name))
    }

    fn take_values(&mut self, object: &Bound<'_, PyAny>, method: &'static str) -> PyResult<()> {
        let py = object.py();
        let cwnd = object.getattr(intern!(py, "cwnd"))?;
        self.cwnd = bytes("cwnd", method, &cwnd)?;
        let ssthresh = object.getattr(intern!(py, "ssthresh"))?;
        self.ssthresh = if ssthresh.is_none() { u64::MAX } else { bytes("ssthresh", method, &ssthresh)? };
        let rate = object.getattr(intern!(py, "pacing_rate"))?;
        if rate.is_none() {
            (self.pacing_rate, self.send_quantum) = (None, u64::MAX);
        } else {
            let rate = amount("pacing_rate", method, &rate)?;
            self.pacing_rate = Some(DataRate::from_bits_per_sec(rate.max(1)));
            self.send_quantum = 2 * self.segment_bytes;
        }
        Ok(())
    }

    /// Sets a value of the object.
    fn set(&mut self, name: &'static str, value: u64) {
        let Some(object) = &self.object else { return };
        let set = Python::attach(|py| object.bind(py).setattr(name, value));
        self.told("__setattr__", set);
    }
}

/// A window, which lets something out.
fn bytes(name: &str, method: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    let bytes = amount(name, method, value)?;
    if bytes == 0 {
        let message = format!("`{method}` leaves a `{name}` of {value} bytes: nothing is ever sent then");
        return Err(PyValueError::new_err(message));
    }
    Ok(bytes)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "its range is checked")]
fn amount(name: &str, method: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(whole) = value.extract::<u64>() {
        return Ok(whole);
    }
    let wrong = |what: &str| {
        let message = format!("`{method}` leaves `{name}` = {value}: {what}");
        Err(PyValueError::new_err(message))
    };
    match value.extract::<f64>() {
        Ok(number) if number.is_nan() => wrong("that is no number"),
        Ok(number) if number < 0.0 => wrong("it is negative"),
        Ok(number) => Ok(number as u64),
        Err(_) => wrong("write a number"),
    }
}

fn seconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e9
}

fn instant(now: Instant) -> f64 {
    now.as_nanos() as f64 / 1e9
}

/// News in an acknowledgement: all that it told for the first time.
#[pyclass(module = "slantpath._native", frozen, name = "Ack")]
#[derive(Debug)]
pub(crate) struct Ack(Acknowledged);

#[pymethods]
impl Ack {
    /// Instant at which it came, in seconds of the run.
    #[getter]
    fn now_s(&self) -> f64 {
        instant(self.0.now)
    }

    /// Bytes that may open the window.
    #[getter]
    fn acked_bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Bytes in flight before it.
    #[getter]
    fn in_flight_before_bytes(&self) -> u64 {
        self.0.in_flight_before
    }

    /// Bytes in flight after it.
    #[getter]
    fn in_flight_bytes(&self) -> u64 {
        self.0.in_flight
    }

    /// True if everything up to a later point than before is acknowledged now.
    #[getter]
    fn advances(&self) -> bool {
        self.0.advances_cumulative
    }

    /// True if a loss is being repaired: no reason to open the window.
    #[getter]
    fn is_recovering(&self) -> bool {
        self.0.is_recovering
    }

    /// Round-trip time of the newest segment that it acknowledges, if that was sent once.
    #[getter]
    fn round_trip_s(&self) -> Option<f64> {
        self.0.round_trip.map(seconds)
    }

    /// The smoothed round-trip time, once there is one.
    #[getter]
    fn smoothed_round_trip_s(&self) -> Option<f64> {
        self.0.smoothed_round_trip.map(seconds)
    }

    /// True if it is the first to acknowledge something sent after the last round began.
    #[getter]
    fn starts_round(&self) -> bool {
        self.0.starts_round
    }

    /// Rate at which data arrived lately, if it gives a sample.
    #[getter]
    fn delivery_rate_bit_per_s(&self) -> Option<u64> {
        self.0.delivery.map(|sample| sample.rate().as_bits_per_sec())
    }
}

impl CongestionControl for PythonController {
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<DataRate> {
        self.pacing_rate
    }

    fn send_quantum(&self) -> u64 {
        self.send_quantum
    }

    fn rules_recovery(&self) -> bool {
        self.rules_recovery
    }

    fn on_sent(&mut self, sent: Sent) {
        let Sent { now, bytes, in_flight_before } = sent;
        self.now = Some(now);
        if self.object.is_none() {
            FAILURE.with_borrow_mut(|failure| {
                if let Some(failure) = failure {
                    failure.at.get_or_insert(now);
                }
            });
        }
        self.call(
            "on_sent",
            |methods| methods.on_sent.as_ref(),
            |py, method| method.call1(py, (instant(now), bytes, in_flight_before)).map(drop),
        );
    }

    fn on_acknowledged(&mut self, acknowledged: &Acknowledged) {
        self.now = Some(acknowledged.now);
        let ack = Ack(*acknowledged);
        self.call(
            "on_ack",
            |methods| methods.on_ack.as_ref(),
            |py, method| method.call1(py, (ack,)).map(drop),
        );
    }

    fn on_lost(&mut self, congestion: control::Congestion) {
        let in_flight = congestion.in_flight;
        self.call(
            "on_loss",
            |methods| methods.on_loss.as_ref(),
            |py, method| method.call1(py, (in_flight,)).map(drop),
        );
    }

    fn on_recovered(&mut self, now: Instant) {
        self.call(
            "on_recovered",
            |methods| methods.on_recovered.as_ref(),
            |py, method| method.call1(py, (instant(now),)).map(drop),
        );
    }

    fn on_spurious(&mut self, now: Instant) {
        self.call(
            "on_spurious",
            |methods| methods.on_spurious.as_ref(),
            |py, method| method.call1(py, (instant(now),)).map(drop),
        );
    }

    fn on_timed_out(&mut self, timed_out: TimedOut) {
        let TimedOut { in_flight, loss } = timed_out;
        self.call(
            "on_timeout",
            |methods| methods.on_timeout.as_ref(),
            |py, method| method.call1(py, (in_flight, loss == LossEvent::New)).map(drop),
        );
    }

    fn on_marked(&mut self, congestion: control::Congestion) {
        let in_flight = congestion.in_flight;
        self.call(
            "on_mark",
            |methods| methods.on_mark.as_ref(),
            |py, method| method.call1(py, (in_flight,)).map(drop),
        );
    }

    fn on_idle(&mut self, timeouts: u64) {
        self.call(
            "on_idle",
            |methods| methods.on_idle.as_ref(),
            |py, method| method.call1(py, (timeouts,)).map(drop),
        );
    }

    fn limit_cwnd(&mut self, at_most: u64) {
        if self.cwnd > at_most {
            self.cwnd = at_most;
            self.set("cwnd", at_most);
        }
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        self.segment_bytes = segment_bytes;
        self.set("segment_bytes", segment_bytes);
    }
}
