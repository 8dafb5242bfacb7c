//! The carrier of live calls, as the use cases know it.

use std::sync::Arc;

use domain::call::{Fact, HangupRequest, Network, script};
use domain::ids::{Call, Id};
use domain::phone::Phone as Number;
use domain::ports::{
    Answer, Carrier, DialError, DialFailed, DialOrder, DialStatus, HangUpFailed, LegOrder, Scripted,
};

use super::live::{LEASE, Lines};
use super::session;

/// A dial that is on its way.
struct Dialling<'a>(&'a Lines, Id<Call>);

impl<'a> Dialling<'a> {
    fn begin(lines: &'a Lines, order: &DialOrder) -> Self {
        lines.lock_dialling().insert(order.call, order.workspace);
        lines.lock_room().take_up();
        Self(lines, order.call)
    }
}

impl Drop for Dialling<'_> {
    fn drop(&mut self) {
        self.0.lock_dialling().remove(&self.1);
        self.0.ended.send_modify(|ended| *ended += 1);
    }
}

/// The lines as the carrier of live calls.
pub struct LineCarrier(pub Arc<Lines>);

impl Carrier for LineCarrier {
    fn simulated(&self) -> bool {
        self.0.phones.is_some()
    }

    fn network(&self, _: Number) -> Option<Network> {
        self.0.phones.as_ref().map(|_| Network::Sandbox)
    }

    /// The sandbox plays as many calls with audio as it has lines. The rest, and all calls of a drained node, are played
    /// by the table, which any node works; so are calls whose agent fails, since nothing that a phone does causes that.
    fn takes_line(&self, to: Number) -> bool {
        self.0.phones.is_some()
            && self.0.in_service()
            && !script(Network::Sandbox, to).iter().any(|step| step.fact == Fact::AgentFailed)
    }

    fn reserve_line(&self) -> bool {
        self.0.reserve()
    }

    fn lease(&self) -> Option<i64> {
        Some(LEASE)
    }

    fn dial(&self, order: DialOrder) -> Answer<'_, Result<String, DialError>> {
        Box::pin(async move {
            let lines = &self.0;
            if let Some(network) = order.network {
                return Scripted(network).dial(order).await;
            }
            // What was decided before the node was drained is dialled; until then a stop waits for it.
            let Some(app) = lines.app().filter(|app| !app.clock.stopping()) else {
                return Err(DialError::ProviderErrorBeforeRing);
            };
            let _dialling = Dialling::begin(lines, &order);
            let dial = LegOrder {
                id: order.call.to_string(),
                to: order.to,
                from: order.from.clone(),
                carrier: order.carrier.clone(),
                ring_timeout: None,
            };
            let leg = match lines.dial_leg(dial).await {
                Ok(leg) => leg,
                Err(DialFailed::ProviderErrorBeforeRing { status, reason }) => {
                    tracing::warn!(call = %order.call, status, reason, "no trunk took the call");
                    return Err(DialError::ProviderErrorBeforeRing);
                }
                Err(DialFailed::Uncertain { reason }) => {
                    tracing::warn!(call = %order.call, reason, "it is not known whether a dial went out");
                    return Err(DialError::Uncertain);
                }
            };
            Ok(session::begin(lines, &app, &order, leg))
        })
    }

    fn ask(&self, order: DialOrder) -> Answer<'_, DialStatus> {
        Box::pin(async move {
            if let Some(network) = order.network {
                return Scripted(network).ask(order).await;
            }
            // In this order: a dial that is answered is held first, and then no longer on its way.
            let on_its_way = self.0.lock_dialling().contains_key(&order.call);
            match self.0.lock().get(&order.call) {
                Some(held) => DialStatus::Taken(held.provider_call.clone()),
                None if on_its_way => DialStatus::OnItsWay,
                // Another node, or this one before a crash, may have sent the INVITE.
                None => DialStatus::Unknown,
            }
        })
    }

    fn settled(&self, call: Id<Call>, kept: bool) {
        if let Some(settled) = self.0.lock().get_mut(&call).and_then(|held| held.settled.take()) {
            let _ = settled.send(kept);
        }
    }

    fn hang_up(&self, provider_call: &str) -> Answer<'_, Result<(), HangUpFailed>> {
        let found =
            self.0.lock().iter().find(|(_, held)| held.provider_call == provider_call).map(|(id, _)| *id);
        if let Some(id) = found {
            self.0.carry_out(id, HangupRequest::HangUp);
        }
        // Otherwise the node that holds the call finds the wish in the store.
        Box::pin(std::future::ready(Ok(())))
    }

    fn carry_out(&self, call: Id<Call>, wish: HangupRequest) {
        self.0.carry_out(call, wish);
    }
}
