import { X } from 'lucide-react';
import { useCallback, useState } from 'react';
import { readKey, useRead, type Schemas } from '../api/index.ts';
import { Button, Empty, Fact, Facet, Facts, Finder, Grid, Name, NoMatch, When, count, t, useCursorRows, useFilters, useKeys, type Column } from '../parts/index.ts';
import { Listed, useNewer } from '../parts/list.tsx';
import { KNOWN, actionSaid } from './actions.ts';
import { Frame } from './frame.tsx';
import { DateRange, useRange } from './range.tsx';
import { ChainLinks, ObjectLink } from './record.tsx';

type Action = Schemas['Action'];
const NAMES = ['actor', 'operation', 'object', 'from', 'to'] as const;

/** Who did it: a member by name, a key, or the operator. */
function useActors(): { name: (actor: string) => string; members: readonly { id: string; text: string }[] } {
  const members = useRead('listWorkspaceMembers', {}, { fresh: 300_000 });
  const all = members.data?.data ?? [];
  return {
    name: (actor) => (actor === 'operator' ? t('The operator') : all.find((one) => one.id === actor)?.name ?? (actor.startsWith('usr_') ? t('A former member') : actor)),
    members: [...all.map((one) => ({ id: one.id, text: one.name })), { id: 'operator', text: t('The operator') }],
  };
}

const What = ({ operation }: { operation: string }) => { const said = actionSaid(operation); return said ? <span>{said}</span> : <span className="mono">{operation}</span>; };
const shown = (value: unknown): string => (value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value));

function columns(name: (actor: string) => string, beside: boolean): readonly Column<Action>[] {
  const all: readonly Column<Action>[] = [
    { key: 'seq', head: t('Record'), width: '76px', right: true, cell: (row) => count(row.seq) },
    { key: 'at', head: 'IST', width: '116px', right: true, cell: (row) => <When at={row.at} /> },
    { key: 'who', head: t('Who'), width: 'minmax(130px, 1fr)', cell: (row) => (row.actor.startsWith('key_') ? <span className="mono">{row.actor}</span> : <Name>{name(row.actor)}</Name>) },
    { key: 'what', head: t('What'), width: 'minmax(180px, 1.2fr)', cell: (row) => <What operation={row.operation} /> },
    { key: 'object', head: t('About'), width: 'minmax(200px, 1.2fr)', cell: (row) => (row.objectId ? <ObjectLink id={row.objectId} /> : <span className="dim">–</span>) },
    { key: 'fields', head: t('Fields'), width: 'minmax(100px, .8fr)', cell: (row) => <span className="mid">{row.changes.map((one) => one.field).join(', ') || '–'}</span> },
    { key: 'from', head: t('From'), width: '120px', cell: (row) => <span className="mono dim">{row.address}</span> },
  ];
  return beside ? all.filter((column) => column.key !== 'from' && column.key !== 'fields') : all;
}

/** A change beside the list: what it was before and after, and from where it came. */
function ChangeRail({ action, name, onClose }: { action: Action; name: (actor: string) => string; onClose: () => void }) {
  return (
    <aside className="cp-rail" aria-label={t('Change')}>
      <header className="row"><h2 className="num grow">{t('Record {seq}', { seq: count(action.seq) })}</h2><Button kind="bare" small icon={X} label={t('Close')} onPress={onClose} /></header>
      <section>
        <Facts>
          <Fact name={t('Who')}><Name>{name(action.actor)}</Name> <span className="mono dim">{action.actor === 'operator' ? '' : action.actor}</span></Fact>
          <Fact name={t('What')}><What operation={action.operation} /> <span className="mono dim">{action.operation}</span></Fact>
          {action.objectId && <Fact name={t('About')}><ObjectLink id={action.objectId} /></Fact>}
          {action.path.filter((id) => id !== action.objectId).map((id) => <Fact key={id} name={t('Also')}><ObjectLink id={id} /></Fact>)}
          <Fact name={t('When')}><When at={action.at} /></Fact>
        </Facts>
      </section>
      <section>
        <h3>{t('Changed')}</h3>
        {action.changes.length === 0 && <p className="mid">{t('The record names no field.')}</p>}
        {action.changes.map((change) => (
          <div key={change.field} className="cp-change"><span className="mono">{change.field}</span>
            {change.before === undefined && change.after === undefined ? <span className="dim">{t('changed; the value is secret or personal and is not kept')}</span> : <><span className="cp-before" dir="auto"><span className="vh">{t('Before')}: </span>{shown(change.before)}</span><span dir="auto"><span className="vh">{t('After')}: </span>{shown(change.after)}</span></>}
          </div>
        ))}
      </section>
      <section>
        <h3>{t('From where')}</h3>
        <Facts>
          <Fact name={t('Address')}><span className="mono">{action.address || '–'}</span></Fact>
          {action.sessionId && <Fact name={t('Session')}><span className="mono">{action.sessionId}</span></Fact>}
          {action.userAgent && <Fact name={t('Browser')}><Name>{action.userAgent}</Name></Fact>}
          <Fact name={t('Request')}><span className="mono">{action.requestId}</span></Fact>
        </Facts>
      </section>
      <section><h3>{t('Chain')}</h3><ChainLinks seq={action.seq} hash={action.hash} prevHash={action.prevHash} /></section>
    </aside>
  );
}

function Toolbar({ members }: { members: readonly { id: string; text: string }[] }) {
  const filters = useFilters();
  const [find, setFind] = useState(filters.one('object'));
  const type = (text: string): void => { setFind(text); filters.set('object', /^[a-z]+_\w+$/.test(text.trim()) ? text.trim() : null, true); };
  const operations = KNOWN.map((id) => ({ id, text: actionSaid(id) ?? id })).sort((one, other) => one.text.localeCompare(other.text)).filter((one, at, all) => all[at - 1]?.text !== one.text);
  return (
    <>
      <div className="facets"><DateRange />
        <Facet name={t('Who')} single on={filters.all('actor')} set={(values) => filters.set('actor', values.slice(-1))} items={members} />
        <Facet name={t('What')} single on={filters.all('operation')} set={(values) => filters.set('operation', values.slice(-1))} items={operations} />
      </div>
      <Finder label={t('Id of what was changed')} placeholder={t('Id of what was changed')} value={find} onChange={type} />
    </>
  );
}

export function Page() {
  const filters = useFilters();
  const actors = useActors();
  const pick = (name: string): string | undefined => filters.one(name) || undefined;
  const query = { ...useRange(), actor: pick('actor'), operation: pick('operation'), objectId: pick('object') } as Record<string, string>;
  const rows = useCursorRows<Action>('listActions', { query }, 100);
  const newest = useRead('listActions', { query: { ...query, limit: 20 } as never }, { every: 10_000, keep: true });
  const { again } = rows;
  const take = useCallback(() => again(), [readKey('listActions', { query: query as never }).join(), again]);
  const newer = useNewer(newest.data?.data.map((one) => one.id), rows.all.slice(0, 40).map((one) => one.id), take);
  const open = rows.all.find((one) => one.id === filters.one('record'));
  const close = (): void => filters.set('record', null);
  useKeys(open ? [{ key: 'Escape', text: t('Close the record'), act: close }] : []);
  return (
    <Frame tab="changes">
      <div className="cp-split" data-open={open !== undefined}>
        <div className="cp-main">
          <div className="toolbar"><Toolbar members={actors.members} />{newer.pill}</div>
          <Listed rows={rows} what={t('The changes could not be read.')} none={filters.any(NAMES) ? <NoMatch title={t('No changes match.')} clear={() => filters.clear(NAMES)} /> : <Empty title={t('Nobody has changed anything yet')}>{t('What members, keys and the operator change comes here, with who did it and from where.')}</Empty>}>
            <Grid
              label={t('Changes by people')} rows={rows} columns={columns(actors.name, open !== undefined)} id={(row) => row.id} current={open?.id} open={(row) => filters.set('record', row.id)} least={open ? 780 : 1000} onHover={newer.onHover}
              thin={(row) => <div className="cp-thin"><div className="row"><span className="grow cut medium"><What operation={row.operation} /></span><When at={row.at} /></div><div className="row"><span className="grow cut dim"><Name>{actors.name(row.actor)}</Name></span><span className="num dim">{count(row.seq)}</span></div></div>}
            />
          </Listed>
        </div>
        {open && <ChangeRail key={open.id} action={open} name={actors.name} onClose={close} />}
      </div>
    </Frame>
  );
}
