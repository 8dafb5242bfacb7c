import { Plus, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useSend, useMay, type Schemas } from '../api/index.ts';
import { Bars, Button, Empty, ErrorBlock, ErrorNote, Facet, Finder, Grid, Head, More, Name, NoMatch, State, When, plural, t, toast, useCursorRows, useFilters, type Column } from '../parts/index.ts';
import { NewTemplateSheet } from './new-template.tsx';
import { TEMPLATE_STATUSES, categoryName, shownTemplate, templateState } from './template-states.ts';
import './page.css';

type Template = Schemas['ChannelTemplate'];
const columns = (): readonly Column<Template>[] => [
  { key: 'name', head: t('Template'), width: 'minmax(200px, 1fr)', cell: (one) => <Link href={`/templates/${one.id}`} className="under medium cut"><Name>{one.name}</Name></Link> },
  { key: 'status', head: t('At the provider'), width: '170px', cell: (one) => <State tone={templateState(one.status).tone}>{templateState(one.status).text}</State> },
  { key: 'language', head: t('Language'), width: '90px', cell: (one) => <span className="mono">{one.language}</span> },
  { key: 'category', head: t('Category'), width: '130px', cell: (one) => <span className="mid">{categoryName(one.category)}</span> },
  { key: 'text', head: t('Text'), width: 'minmax(200px, 2fr)', cell: (one) => <span className="mid cut"><Name>{shownTemplate(one.components).body}</Name></span> },
  { key: 'at', head: t('Changed, IST'), width: '120px', right: true, cell: (one) => <When at={one.updatedAt} /> },
];
const thin = (one: Template) => <div className="stack tight-rows"><div className="row"><span className="medium grow cut"><Name>{one.name}</Name></span><span className="mono dim">{one.language}</span></div><div className="row"><State tone={templateState(one.status).tone}>{templateState(one.status).text}</State></div></div>;

export function Page() {
  const filters = useFilters();
  const [, navigate] = useLocation();
  const [creating, setCreating] = useState(false);
  const [mayMake, maySync] = [useMay('createChannelTemplate'), useMay('syncChannelTemplates')];
  const [q, status] = [filters.one('name').trim(), TEMPLATE_STATUSES.find((one) => one === filters.one('status'))];
  const rows = useCursorRows<Template>('listChannelTemplates', { query: { ...(q ? { name: q } : {}), ...(status ? { status } : {}) } }, 100);
  const sync = useSend('syncChannelTemplates', { alters: ['listChannelTemplates'], done: ({ data }) => toast(data.added + data.updated + data.removed === 0 ? t('Nothing has changed at the provider') : t('{added} added, {updated} changed, {removed} gone', { added: data.added, updated: data.updated, removed: data.removed })) });
  const make = mayMake && <Button kind="primary" icon={Plus} onPress={() => setCreating(true)}>{t('New template')}</Button>;
  const none = !rows.loading && rows.count === 0;
  return (
    <>
      <Head title={t('Templates')} sub={<span className="dim wide cut">{t('approved by the provider before they can be sent')}</span>}>{!(none && !q && !status) && make}<More entries={[maySync && { text: t('Read the provider’s list'), act: () => sync.mutate({}) }]} /></Head>
      {sync.error && <div className="band"><ErrorNote error={sync.error} /></div>}
      <div className="toolbar"><Finder label={t('Find a template')} placeholder={t('Whole name')} value={filters.one('name')} onChange={(value) => filters.set('name', value, true)} /><div className="facets"><Facet single name={t('State')} on={status ? [status] : []} set={(values) => filters.set('status', values[0] ?? null)} items={TEMPLATE_STATUSES.map((id) => ({ id, text: templateState(id).text }))} /></div><span className="grow" />{rows.exact && rows.count > 0 && <span className="dim num">{plural(rows.count, '{n} template', '{n} templates')}</span>}</div>
      {rows.error && rows.all.length === 0 ? <ErrorBlock what={t('The templates could not be read.')} error={rows.error} again={rows.again} />
        : rows.loading ? <Bars />
          : rows.count > 0 ? <Grid label={t('Templates')} rows={rows} columns={columns()} id={(one) => one.id} open={(one) => navigate(`/templates/${one.id}`)} thin={thin} least={900} />
            : q || status ? <NoMatch title={t('No templates match.')} clear={() => filters.clear(['name', 'status'])} />
              : <Empty title={t('No template yet')} action={<div className="row">{make}{maySync && <Button icon={RefreshCw} onPress={() => sync.mutate({})} isPending={sync.isPending}>{t('Read the provider’s list')}</Button>}</div>}>{t('A template is a message that the provider has approved. Outside of the 24 hours after a customer wrote, only templates can be sent.')}</Empty>}
      <NewTemplateSheet open={creating} onClose={() => setCreating(false)} />
    </>
  );
}
