//! Outgoing calls: failover over the trunks of one carrier.

use std::sync::Arc;
use std::time::Duration;

use domain::phone::Phone as Number;
use domain::ports::DialFailed;
use rsipstack::sip::Header;
use tokio::sync::oneshot;

use super::actor::Actor;
use super::calling::Calling;
use super::core::Core;
use super::dialog::Dialog;
use super::leg::{First, Leg, LegControl};
use super::message::{header, new_tag};
use super::net::REQUEST_LIMIT;
use super::sound::Sound;
use super::trunk::Trunk;

/// A call to make.
#[derive(Debug, Clone)]
pub struct Dial {
    /// Becomes the user part of the Call-ID: `id` on the first trunk that is tried, `id.2` on the second, so
    /// that every attempt can be identified and found.
    pub id: String,
    /// The number that is called.
    pub to: Number,
    /// The caller's number that is shown, in E.164; empty for the trunk's own.
    pub from: String,
    /// The carrier whose trunks are tried, in their order; `None` for the carrier of the first trunk.
    pub carrier: Option<String>,
    /// Only this trunk of the carrier.
    pub trunk: Option<String>,
    /// An unanswered call is ended with CANCEL after this; none uses the setting.
    pub ring_timeout: Option<Duration>,
}

/// The carrier of a dial that names none: that of the first trunk.
fn carrier_of<'a>(core: &'a Core, order: &'a Dial) -> Option<&'a str> {
    order.carrier.as_deref().or_else(|| core.trunks.first().map(|trunk| trunk.settings.carrier.as_str()))
}

/// Tries the trunks of the carrier in order (see [`super::UserAgent::dial`]).
pub(super) async fn dial(core: &Arc<Core>, order: Dial) -> Result<Leg, DialFailed> {
    let mut reasons: Vec<String> = Vec::new();
    let mut last = None;
    let mut tries = 0;
    let carrier = carrier_of(core, &order);
    for trunk in &core.trunks {
        let name = &trunk.settings.name;
        let is_of_carrier = Some(trunk.settings.carrier.as_str()) == carrier;
        if !is_of_carrier || order.trunk.as_ref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        if let Some(why) = trunk.unusable() {
            reasons.push(format!("{name}: {why}"));
            continue;
        }
        if let Err(why) = trunk.answers(&core.net).await {
            tracing::info!(call = %order.id, trunk = %name, error = %why, "trunk does not answer and is not dialled");
            reasons.push(format!("{name}: {why}"));
            continue;
        }
        tries += 1;
        let (status, reason) = match attempt(core, trunk, &order, tries).await {
            Ok((leg, First::Taken)) => return Ok(leg),
            Ok((_, First::Uncertain)) => {
                trunk.doubt("no answer to INVITE");
                return Err(DialFailed::Uncertain { reason: format!("{name}: no answer to INVITE") });
            }
            Ok((_, First::Refused { status, reason, after })) => {
                if let Some(seconds) = after {
                    trunk.close_for(seconds);
                }
                (status, reason)
            }
            Err(reason) => (None, reason),
        };
        tracing::info!(call = %order.id, trunk = %name, error = %reason, "trunk did not take the call");
        trunk.failed(reason.clone());
        reasons.push(format!("{name}: {reason}"));
        last = status.or(last);
    }
    if reasons.is_empty() {
        reasons.push(format!("no trunk of the carrier {}", carrier.unwrap_or("-")));
    }
    Err(DialFailed::ProviderErrorBeforeRing { status: last, reason: reasons.join("; ") })
}

/// One INVITE on one trunk. An error is a trunk that was never asked.
async fn attempt(
    core: &Arc<Core>,
    trunk: &Arc<Trunk>,
    order: &Dial,
    number: u32,
) -> Result<(Leg, First), String> {
    if core.stopping() {
        return Err("shutting down".into());
    }
    let slot = super::share::channel(trunk).await.ok_or("all channels in use")?;
    let hops = tokio::time::timeout(REQUEST_LIMIT, trunk.hops(&core.net.resolver))
        .await
        .map_err(|_| "name not resolved in time")??;
    let mut reached = Err("no address".to_owned());
    for hop in hops.into_iter().take(4) {
        reached = core.net.connection(&hop).await.map(|connection| (hop, connection));
        if reached.is_ok() {
            break;
        }
    }
    let (hop, connection) = reached?;
    let bind = core.net.local_ip(hop.address);
    let shown_ip = core.net.shown_ip(hop.address);
    let sound = Arc::new(Sound::open(
        &core.engine,
        bind,
        shown_ip,
        trunk.sources(hop.address.ip()),
        &trunk.settings.codecs,
        trunk.settings.encryption,
    )?);

    let shown = core.net.shown(&hop);
    let user = if number == 1 { order.id.clone() } else { format!("{}.{number}", order.id) };
    let dialog = dialog_for(trunk, order, &format!("{user}@{shown_ip}"), &shown);
    let (control, commands) = LegControl::new(dialog.call_id.clone(), &trunk.settings, sound.clone());
    let identity = identity_headers(trunk, order, &shown);
    let (mut actor, events) = Actor::start(core, trunk, slot, sound, dialog, hop, commands);
    actor.goodbye.as_caller();
    actor.signalling.travels_on(connection);
    let (first, outcome) = oneshot::channel();
    let ring = order.ring_timeout.unwrap_or(core.settings.ring_timeout);
    core.clone().spawn_leg(Calling::new(actor, identity, first, ring).run());
    let outcome =
        outcome.await.unwrap_or(First::Refused { status: None, reason: "shutting down".into(), after: None });
    Ok((Leg { control, events }, outcome))
}

fn dialog_for(trunk: &Trunk, order: &Dial, call_id: &str, shown: &str) -> Dialog {
    let own = trunk.settings.caller_id.as_deref().filter(|own| !own.is_empty());
    let from = trunk.user(own.unwrap_or(&order.from));
    let from = if from.is_empty() { "anonymous".to_owned() } else { from };
    let host = our_host(trunk, shown);
    let (tag, target) = (new_tag(), trunk.uri(&trunk.user(&order.to.to_string()), trunk.domain()));
    Dialog {
        call_id: call_id.to_owned(),
        local: format!("<{}>;tag={tag}", trunk.uri(&from, &host)),
        local_tag: tag,
        remote: format!("<{target}>"),
        remote_tag: None,
        target,
        routes: trunk.route().into_iter().collect(),
        contact: format!("<sip:{from}@{shown}{}>", trunk.settings.transport.parameter()),
        remote_seq: None,
    }
}

/// A trunk that knows us by name expects its own domain; a static one our address.
fn our_host(trunk: &Trunk, shown: &str) -> String {
    if trunk.login.is_some() {
        trunk.realm()
    } else {
        shown.rsplit_once(':').map_or(shown, |(ip, _)| ip).to_owned()
    }
}

fn identity_headers(trunk: &Trunk, order: &Dial, shown: &str) -> Vec<Header> {
    let user = trunk.user(&order.from);
    if user.is_empty() {
        return vec![];
    }
    vec![header("P-Asserted-Identity", format!("<{}>", trunk.uri(&user, &our_host(trunk, shown))))]
}
