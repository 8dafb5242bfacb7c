import { Link } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useRead } from '../api/index.ts';
import { Empty, Finder, Grid, Head, Name, NoMatch, Shown, Tag, count, fixedRows, plural, t, useFilters, type Column } from '../parts/index.ts';
import './page.css';

interface Owner { readonly id: string; readonly name: string; readonly kind: 'campaign' | 'agent'; readonly waits: number }

const columns = (): readonly Column<Owner>[] => [
  { key: 'name', head: t('Board of'), width: 'minmax(220px, 2fr)', cell: (one) => <Link href={`/boards/${one.id}`} className="under medium"><Name>{one.name}</Name></Link> },
  { key: 'kind', head: t('Kind'), width: '140px', cell: (one) => <span className="mid">{one.kind === 'campaign' ? t('Campaign') : t('Agent that answers')}</span> },
  { key: 'waits', head: t('Needs a look'), width: '140px', right: true, cell: (one) => (one.waits > 0 ? <Link href={`/boards/${one.id}?view=review`}><Tag tone="wait">{count(one.waits)}</Tag></Link> : <span className="dim">–</span>) },
];

/** Boards of campaigns, and of agents that answer calls or chats; first those with cards that wait for a person. */
export function Page() {
  const campaigns = useRead('listCampaigns', {});
  const agents = useRead('listAgents', {});
  const attention = useRead('listAttention', {}).data?.data ?? [];
  const waits = (id: string): number => attention.find((item) => item.kind === 'cards_to_review' && item.subject.id === id)?.count ?? 0;
  const filters = useFilters();
  const [, navigate] = useLocation();
  return (
    <>
      <Head title={t('Boards')} sub={<span className="dim wide">{t('where each person stands')}</span>} />
      <Shown of={campaigns} what={t('The boards could not be read.')}>
        {({ data }) => {
          const owners: Owner[] = [
            ...data.map((one) => ({ id: one.id, name: one.name || t('Campaign without a name'), kind: 'campaign' as const, waits: waits(one.id) })),
            ...(agents.data?.data ?? []).filter((one) => one.direction === 'inbound' || one.channel === 'chat').map((one) => ({ id: one.id, name: one.name, kind: 'agent' as const, waits: waits(one.id) })),
          ].sort((a, b) => b.waits - a.waits);
          if (owners.length === 0) return <Empty title={t('No board yet')}>{t('Every campaign has a board, and so has every agent that answers.')}</Empty>;
          const q = filters.one('q').trim().toLocaleLowerCase();
          const shown = owners.filter((one) => one.name.toLocaleLowerCase().includes(q));
          return (
            <>
              <div className="toolbar"><Finder label={t('Find a board')} placeholder={t('Name')} value={filters.one('q')} onChange={(value) => filters.set('q', value, true)} /><span className="dim num">{plural(owners.length, '{n} board', '{n} boards')}</span></div>
              {shown.length === 0 ? <NoMatch title={t('No boards match.')} clear={() => filters.clear(['q'])} /> : <Grid label={t('Boards')} rows={fixedRows(shown)} columns={columns()} id={(one) => one.id} open={(one) => navigate(`/boards/${one.id}`)} />}
            </>
          );
        }}
      </Shown>
    </>
  );
}
