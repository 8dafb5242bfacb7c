//! Text filters of the list of calls, and how many calls a list has.
//!
//! Live calls are counted from the packed hours of `domain::analytics`, so a count over a year reads about 40 bytes of each
//! call. Calls of a person, of people or of test keys are counted by the indexes of the list.

use std::collections::HashMap;

use api::calls::{CallCounts as CountsView, CallFacet, CallsOfDay};
use domain::analytics::{CallCounts, CallFilter, CallKind, Figures};
use domain::names;
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use store::call_lists::{self, Filter, MOST_IN_RANGE, People};
use store::{TenantTx, contacts, search};

use crate::analytics::{each_hour, hours_of};
use crate::{App, Failure};

/// Most values of a property that are shown.
const MOST_VALUES: usize = 200;

/// The filters of a list that are looked up first.
#[derive(Debug, Clone, Default)]
pub struct Sought {
    /// A whole number of a person.
    pub number: Option<Phone>,
    /// Words of a name, or a reference.
    pub text: Option<String>,
}

impl Sought {
    /// Reads the parameters `number` and `q`.
    ///
    /// # Errors
    /// `number` is none.
    pub fn read(number: Option<&str>, text: Option<&str>) -> Result<Self, Failure> {
        let number = number.map(Phone::normalize).transpose().map_err(|why| Failure::field("number", why))?;
        Ok(match text.map(|text| (Phone::normalize(text), text)) {
            None => Self { number, text: None },
            Some((Ok(other), _)) if number.is_none_or(|number| number == other) => {
                Self { number: Some(other), text: None }
            }
            // Two numbers that differ, or a number and a name: nothing of the text is a person with that number.
            Some((_, text)) => Self { number, text: Some(text.trim().to_owned()) },
        })
    }

    /// The filter with the people that are asked for.
    ///
    /// # Errors
    /// 400 when a text is asked for in a range of time with more than [`MOST_IN_RANGE`] calls.
    pub(super) fn narrow(self, tx: &mut TenantTx, mode: Mode, filter: Filter) -> Result<Filter, Failure> {
        let modes: &[Mode] = if mode == Mode::Test { &[Mode::Live, Mode::Test] } else { &[Mode::Live] };
        if let Some(number) = self.number {
            let number = number.to_string();
            let mut of_number = Vec::new();
            for mode in modes {
                of_number.extend(contacts::find_by_phone(tx, *mode, &number)?);
            }
            if let Some(text) = &self.text {
                let words = names::words(text);
                of_number.retain(|row| {
                    row.name.as_deref().is_some_and(|name| names::matches(name, &words))
                        || row.external_ref.as_deref().is_some_and(|known| known.starts_with(text.as_str()))
                });
            }
            let contacts = of_number.into_iter().map(|row| row.id).collect();
            // Calls of nobody that is known have no name.
            let people = People::Known { contacts, number: Some(number).filter(|_| self.text.is_none()) };
            return Ok(Filter { people: Some(people), ..filter });
        }
        let Some(text) = self.text else { return Ok(filter) };
        few(tx, mode, &filter, "a search for text")?;
        let words = names::words(&text);
        let people = match call_lists::people_named(tx, modes, &text, &words)? {
            Some(contacts) => People::Known { contacts, number: None },
            None => People::Named(words),
        };
        Ok(Filter { people: Some(people), ..filter })
    }
}

/// Refuses ranges of time with too many calls.
fn few(tx: &mut TenantTx, mode: Mode, filter: &Filter, what: &str) -> Result<(), Failure> {
    let whole = Filter { before: None, ..filter.clone() };
    if call_lists::in_range(tx, mode, &whole)? > MOST_IN_RANGE {
        let must = format!("must be later: {what} needs a range of time with at most {MOST_IN_RANGE} calls");
        return Err(Failure::field("from", must));
    }
    Ok(())
}

/// `GET /v1/calls/counts`.
pub async fn counts(
    app: &App,
    tenant: Tenant,
    mode: Mode,
    sought: Sought,
    filter: Filter,
) -> Result<CountsView, Failure> {
    let asked = CallFilter {
        from: filter.from,
        to: filter.to,
        agent: filter.agent.map(|id| id.to_string()),
        campaign: filter.campaign.map(|id| id.to_string()),
        direction: filter.direction,
        stage: filter.stage,
        status: filter.status,
        outcome: filter.outcome.clone(),
        cause: filter.end_cause.clone(),
    };
    let by_people = filter.contact.is_some() || sought.number.is_some() || sought.text.is_some();
    let counted = if by_people || mode == Mode::Test {
        let read = app.of(tenant).read_long(move |tx| {
            let filter = sought.clone().narrow(tx, mode, filter.clone())?;
            if filter.people.is_none() && filter.contact.is_none() {
                few(tx, mode, &filter, "a count of test calls")?;
            }
            Ok::<_, Failure>(call_lists::alike(tx, mode, &filter)?)
        });
        let mut counted = CallCounts::default();
        for alike in read.await? {
            let kind = CallKind {
                status: alike.status,
                direction: alike.direction,
                agent: alike.agent.as_deref(),
                campaign: alike.campaign.as_deref(),
                outcome: alike.outcome.as_deref(),
                cause: alike.end_cause.as_deref(),
            };
            counted.count(&asked, &kind, alike.day, alike.calls.unsigned_abs());
        }
        counted
    } else {
        let hours = hours_of(app, tenant, asked.from, asked.to).await?;
        let mut counted = CallCounts::default();
        each_hour(app, tenant, &hours, |hour, packed| counted.add(&asked, hour, &packed.details)).await?;
        counted
    };
    view(app, tenant, counted).await
}

async fn view(app: &App, tenant: Tenant, counted: CallCounts) -> Result<CountsView, Failure> {
    let (agents, campaigns) = (most(counted.agents), most(counted.campaigns));
    let ids = |counts: &[(String, u64)]| counts.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>();
    let (of_agents, of_campaigns) = (ids(&agents), ids(&campaigns));
    let named = app.of(tenant).read(move |tx| {
        let agents: HashMap<_, _> = search::agent_names(tx, &of_agents)?.into_iter().collect();
        let campaigns: HashMap<_, _> = search::campaign_names(tx, &of_campaigns)?.into_iter().collect();
        Ok::<_, Failure>((agents, campaigns))
    });
    let (of_agents, of_campaigns) = named.await?;
    let words = |counts: Vec<(String, u64)>| facets(counts, &HashMap::new());
    let owned = |counts: std::collections::BTreeMap<&'static str, u64>| {
        words(most(counts.into_iter().map(|(word, count)| (word.to_owned(), count)).collect()))
    };
    Ok(CountsView {
        total: counted.total,
        state: owned(counted.states),
        direction: owned(counted.directions),
        outcome: words(most(counted.outcomes)),
        end_cause: words(most(counted.causes)),
        agent: facets(agents, &of_agents),
        campaign: facets(campaigns, &of_campaigns),
        days: counted
            .days
            .into_iter()
            .map(|(day, count)| CallsOfDay { day: Figures::date(day), count })
            .collect(),
    })
}

/// The counts of no call.
pub fn no_counts() -> CountsView {
    CountsView {
        total: 0,
        state: Vec::new(),
        direction: Vec::new(),
        outcome: Vec::new(),
        end_cause: Vec::new(),
        agent: Vec::new(),
        campaign: Vec::new(),
        days: Vec::new(),
    }
}

/// The most frequent values first, and those of the same frequency in their order.
fn most(counts: HashMap<String, u64>) -> Vec<(String, u64)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    counts.truncate(MOST_VALUES);
    counts
}

fn facets(counts: Vec<(String, u64)>, names: &HashMap<String, String>) -> Vec<CallFacet> {
    let facet = |(value, count): (String, u64)| CallFacet { name: names.get(&value).cloned(), value, count };
    counts.into_iter().map(facet).collect()
}
