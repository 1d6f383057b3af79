//! One link at the gateway: what it is, what it tells, and to whom.

use slantpath_sigtran::asp::{AsState, TrafficMode};
use slantpath_sigtran::transport::AssociationNumber;
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};

use std::collections::VecDeque;

use crate::drops::DropReason;
use crate::interface::InterfaceIdentifier;
use crate::m2ua::machine::{GATEWAY_LINK_MACHINE, GatewayLinkAction, GatewayLinkInput, LinkStatus};
use crate::m2ua::{Action, LinkEvent, M2uaParameter, about, kind};
use crate::message::{CommonParameter, OwnMessage};

/// Name of a link in registrations, beside its interface identifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkConfig {
    /// The signalling data terminal.
    pub terminal: u32,
    /// The signalling data link.
    pub data_link: u32,
}

/// Request of an ASP to the link's buffers, until the link has answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Retrieval {
    #[default]
    None,
    /// The messages; nothing has come yet.
    Asked,
    /// The messages; the first has come, and the confirmation went before it.
    Confirmed,
}

/// Wish of an ASP for the messages that the link delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reception {
    /// Nothing: they go to the ASPs.
    Clear,
    /// Congestion: the messages go to the ASPs, and the peer is to stop sending.
    Accept,
    /// Congestion: the messages are to be discarded, and the peer is to stop sending.
    Discard,
}

/// State of its receiver that level 2 was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Receiver {
    /// Receiver that is congested.
    Busy,
    /// Receiver that is not congested.
    Free,
}

/// Presence of an application server that serves level 3 of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level3 {
    Served,
    Unserved,
}

/// Link at the gateway.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) config: LinkConfig,
    pub(super) status: LinkStatus,
    /// The last congestion status of the link, 0 to 3.
    pub(super) congestion: u8,
    pub(super) is_remote_outage: bool,
    /// Wish of an ASP for messages of the link.
    pub(super) reception: Reception,
    pub(super) retrieval: Retrieval,
    /// State of level 3 that level 2 has been told.
    level_3: Level3,
    /// True if the next data message of a broadcast gets a correlation identifier: an ASP has become active.
    pub(super) must_correlate: bool,
    /// Messages that are queued for an ASP.
    pub(super) queue: VecDeque<OwnMessage<M2uaParameter>>,
    pub(super) is_queue_congested: bool,
    pub(super) receiver: Receiver,
}

impl Link {
    pub(super) fn new(config: LinkConfig) -> Self {
        Self {
            config,
            status: LinkStatus::OutOfService,
            congestion: 0,
            is_remote_outage: false,
            reception: Reception::Clear,
            retrieval: Retrieval::None,
            level_3: Level3::Served,
            must_correlate: false,
            queue: VecDeque::new(),
            is_queue_congested: false,
            receiver: Receiver::Free,
        }
    }

    /// Takes a row of the link's machine; what it asks for is for the caller to do.
    pub(super) fn step(&mut self, input: GatewayLinkInput) -> &'static [GatewayLinkAction] {
        let Some(row) = GATEWAY_LINK_MACHINE.next(self.status, input) else { return &[] };
        self.status = row.to;
        if row.to == LinkStatus::OutOfService {
            (self.congestion, self.is_remote_outage) = (0, false);
        }
        row.actions
    }

    /// Gives the request that level 2 must get when an application server has another state.
    pub(super) fn note_server(&mut self, state: AsState) -> Option<LinkRequest> {
        let is_unserved = matches!(state, AsState::Inactive | AsState::Down);
        let in_service = self.status == LinkStatus::InService;
        match self.level_3 {
            Level3::Served if is_unserved && in_service => {
                self.level_3 = Level3::Unserved;
                Some(LinkRequest::LocalProcessorOutage)
            }
            Level3::Unserved if state == AsState::Active => {
                self.level_3 = Level3::Served;
                in_service.then_some(LinkRequest::LocalProcessorRecovered)
            }
            Level3::Served | Level3::Unserved => None,
        }
    }

    /// The messages that an indication becomes; the reason if it is thrown away.
    pub(super) fn translate(
        &mut self,
        interface: &InterfaceIdentifier,
        indication: LinkIndication,
    ) -> Result<Vec<OwnMessage<M2uaParameter>>, DropReason> {
        let about = |kind| about(interface, kind);
        let messages = match indication {
            LinkIndication::InService => self.settle(interface, GatewayLinkInput::InService),
            // A stop that was asked for before the ASP wanted the link again: level 2 aligns by now.
            LinkIndication::OutOfService(OutOfServiceReason::Stopped)
                if self.status == LinkStatus::Establishing =>
            {
                Vec::new()
            }
            LinkIndication::OutOfService(_) => self.settle(interface, GatewayLinkInput::OutOfService),
            LinkIndication::Received(_) if self.reception == Reception::Discard => {
                return Err(DropReason::DiscardRequested);
            }
            LinkIndication::Received(octets) => {
                vec![about(kind::DATA).with(M2uaParameter::ProtocolData(octets))]
            }
            //= https://www.rfc-editor.org/rfc/rfc3331#section-3.3.1.8
            //# The SGP SHALL send the message only when there is actually a change
            //# in either the discard level or the congestion level to report,
            //# meaning it is different from the previously sent message.
            LinkIndication::Congestion(level) => {
                if level == self.congestion {
                    return Ok(Vec::new());
                }
                self.congestion = level;
                vec![self.congestion_message(interface)]
            }
            LinkIndication::RemoteProcessorOutage => {
                self.is_remote_outage = true;
                vec![about(kind::STATE_INDICATION).with(M2uaParameter::StateEvent(LinkEvent::RpoEnter))]
            }
            LinkIndication::RemoteProcessorRecovered => {
                self.is_remote_outage = false;
                vec![about(kind::STATE_INDICATION).with(M2uaParameter::StateEvent(LinkEvent::RpoExit))]
            }
            LinkIndication::Bsnt(number) => {
                let confirm = retrieval_confirm(interface, Action::RetrieveBsn, true);
                vec![confirm.with(M2uaParameter::SequenceNumber(number.0))]
            }
            //= https://www.rfc-editor.org/rfc/rfc3331#section-3.3.1.10
            //# If the BSN
            //# could not be retrieved, the Sequence Number field will not be
            //# included and the Result field will indicate failure.
            LinkIndication::BsntNotRetrievable => {
                vec![retrieval_confirm(interface, Action::RetrieveBsn, false)]
            }
            LinkIndication::RetrievalNotPossible => {
                self.retrieval = Retrieval::None;
                vec![retrieval_confirm(interface, Action::RetrieveMessages, false)]
            }
            LinkIndication::Retrieved(octets) => {
                let mut messages = self.confirm_retrieval(interface);
                messages.push(about(kind::RETRIEVAL_INDICATION).with(M2uaParameter::ProtocolData(octets)));
                messages
            }
            LinkIndication::RetrievalComplete => {
                let mut messages = self.confirm_retrieval(interface);
                self.retrieval = Retrieval::None;
                messages.push(about(kind::RETRIEVAL_COMPLETE_INDICATION));
                messages
            }
        };
        Ok(messages)
    }

    /// The confirmation of a retrieval goes before the first message of it.
    fn confirm_retrieval(&mut self, interface: &InterfaceIdentifier) -> Vec<OwnMessage<M2uaParameter>> {
        if self.retrieval == Retrieval::Asked {
            self.retrieval = Retrieval::Confirmed;
            vec![retrieval_confirm(interface, Action::RetrieveMessages, true)]
        } else {
            Vec::new()
        }
    }

    fn settle(
        &mut self,
        interface: &InterfaceIdentifier,
        input: GatewayLinkInput,
    ) -> Vec<OwnMessage<M2uaParameter>> {
        let actions = self.step(input);
        actions.iter().filter_map(|action| Some(about(interface, confirmation(*action)?))).collect()
    }

    /// The link's congestion, as it is.
    pub(super) fn congestion_message(&self, interface: &InterfaceIdentifier) -> OwnMessage<M2uaParameter> {
        let level = M2uaParameter::CongestionStatus(self.congestion.min(3).into());
        about(interface, kind::CONGESTION_INDICATION).with(level)
    }

    //= https://www.rfc-editor.org/rfc/rfc3331#section-4.3.4.3
    //# Whenever an ASP in a Broadcast mode AS becomes ASP-ACTIVE, the SGP
    //# MUST tag the first DATA message broadcast in each SCTP stream with a
    //# unique Correlation Id parameter.
    pub(super) fn correlate(
        &mut self,
        mode: Option<TrafficMode>,
        message: OwnMessage<M2uaParameter>,
        next: &mut u32,
    ) -> OwnMessage<M2uaParameter> {
        if mode != Some(TrafficMode::Broadcast) || message.kind != kind::DATA || !self.must_correlate {
            return message;
        }
        self.must_correlate = false;
        let identifier = *next;
        *next = next.wrapping_add(1);
        message.with_common(CommonParameter::CorrelationId(identifier))
    }
}

/// Gives the ASPs that get a message: in loadshare mode, data by their signalling link selection, so that their order
/// is kept, and everything else all.
pub(super) fn targets(
    mode: Option<TrafficMode>,
    active: &[AssociationNumber],
    message: &OwnMessage<M2uaParameter>,
) -> Vec<AssociationNumber> {
    if mode != Some(TrafficMode::Loadshare) || message.kind != kind::DATA {
        return active.to_vec();
    }
    let selection = message.own().find_map(|parameter| match parameter {
        // The last octet of the ITU routing label has the selection in its high half.
        M2uaParameter::ProtocolData(octets) => octets.get(4).map(|octet| usize::from(octet >> 4)),
        _ => None,
    });
    let at = selection.unwrap_or_default() % active.len().max(1);
    active.get(at).copied().into_iter().collect()
}

/// The message that an action is, if it is one.
pub(super) const fn confirmation(
    action: GatewayLinkAction,
) -> Option<slantpath_sigtran::common::MessageKind> {
    match action {
        GatewayLinkAction::SendEstablishConfirm => Some(kind::ESTABLISH_CONFIRM),
        GatewayLinkAction::SendReleaseConfirm => Some(kind::RELEASE_CONFIRM),
        GatewayLinkAction::SendReleaseIndication => Some(kind::RELEASE_INDICATION),
        GatewayLinkAction::Start | GatewayLinkAction::Stop => None,
    }
}

fn retrieval_confirm(
    interface: &InterfaceIdentifier,
    action: Action,
    succeeded: bool,
) -> OwnMessage<M2uaParameter> {
    about(interface, kind::RETRIEVAL_CONFIRM)
        .with(M2uaParameter::Action(action))
        .with(M2uaParameter::RetrievalResult(u32::from(!succeeded)))
}
