import { useState } from 'react';
import { Link } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useMay, useRead, useSend, type Schemas } from '../api/index.ts';
import { Body, Box, Confirm, Fact, Facts, Head, More, Name, Shown, State, Tag, TextInput, When, t, useRaw } from '../parts/index.ts';
import type { PageProps } from '../shell/index.ts';
import { campaignName } from './list-page.tsx';
import { campaignState } from './states.ts';
import { categoryName, filledText, placesOf, shownTemplate, templateState } from './template-states.ts';
import './page.css';

export function Page({ params }: PageProps) {
  const id = params.id ?? '';
  const template = useRead('getChannelTemplate', { path: { id } });
  const may = useMay('deleteChannelTemplate');
  const raw = useRaw('getChannelTemplate', { path: { id } }, template.data);
  const [asking, setAsking] = useState(false);
  const [, navigate] = useLocation();
  const remove = useSend('deleteChannelTemplate', { alters: ['listChannelTemplates'] });
  const one = template.data?.data;
  return (
    <>
      <Head back={{ href: '/templates', text: t('Templates') }} title={one?.name ?? t('Template')} mark={one && <State tone={templateState(one.status).tone}>{templateState(one.status).text}</State>}><More entries={[...raw.entries, '-', may && one !== undefined && { text: t('Delete…'), danger: true, act: () => setAsking(true) }]} /></Head>
      <Body><Shown of={template} what={t('The template could not be read.')}>{({ data }) => <Template template={data} />}</Shown></Body>
      {raw.sheet}
      <Confirm open={asking} onClose={() => setAsking(false)} danger title={t('Delete {name}', { name: one?.name ?? '' })} typed={{ label: t('Its name'), text: one?.name ?? '' }} action={t('Delete it at the provider, too')} act={async () => { await remove.mutateAsync({ path: { id } }); navigate('/templates', { replace: true }); }}><p>{t('Messages that use it are refused from then on.')}</p></Confirm>
    </>
  );
}

function Template({ template }: { template: Schemas['ChannelTemplate'] }) {
  const shown = shownTemplate(template.components);
  const places = placesOf(`${shown.header ?? ''} ${shown.body}`);
  const [values, setValues] = useState<Readonly<Record<string, string>>>(shown.samples);
  const same = useRead('listChannelTemplates', { query: { name: template.name, limit: 50 } }).data?.data ?? [];
  const campaigns = (useRead('listCampaigns', {}).data?.data ?? []).filter((one) => one.chatapp?.templateId === template.id);
  return (
    <div className="cgrid">
      <div className="stack gap">
        <Box title={t('What it is')}>
          <Facts>
            <Fact name={t('At the provider')}><State tone={templateState(template.status).tone}>{templateState(template.status).text}</State></Fact>
            {template.rejectedReason && <Fact name={t('Why')}>{template.rejectedReason}</Fact>}
            <Fact name={t('Category')}>{categoryName(template.category)}{template.pendingCategory && <> <Tag tone="wait">{t('becomes {category}', { category: categoryName(template.pendingCategory) })}</Tag></>}</Fact>
            <Fact name={t('Quality')}>{template.qualityScore ?? t('not known yet')}</Fact>
            <Fact name={t('Changed')}><When at={template.updatedAt} /></Fact>
            <Fact name={t('Languages')}>{same.length === 0 ? <span className="mono">{template.language}</span> : <span className="row wrap">{same.map((one) => (one.id === template.id ? <Tag key={one.id}>{one.language}</Tag> : <Link key={one.id} href={`/templates/${one.id}`} className="link mono">{one.language}</Link>))}</span>}</Fact>
          </Facts>
        </Box>
        {places.length > 0 && <Box title={t('Sample values')}><div className="fields">{places.map((place) => <TextInput key={place} label={t('Value of {place}', { place })} value={values[place] ?? ''} onChange={(value) => setValues((before) => ({ ...before, [place]: value }))} />)}</div></Box>}
        <Box title={t('Where it is used')}>{campaigns.length === 0 ? <p className="mid">{t('By no campaign. Boards and your systems may send it, too.')}</p> : <ul className="stack">{campaigns.map((one) => <li key={one.id} className="row"><Link href={`/campaigns/${one.id}`} className="link"><Name>{campaignName(one)}</Name></Link><State tone={campaignState(one.status).tone}>{campaignState(one.status).text}</State></li>)}</ul>}</Box>
      </div>
      <Box title={t('As the phone shows it')}>
        {template.components.length === 0 ? <p className="mid">{t('Its text is known once the provider’s list was read.')}</p> : (
          <div className="phone"><div className="bubble">
            {shown.headerKind && <p className="media meta">{shown.headerKind.toLowerCase()}</p>}
            {shown.header && <p className="strong" dir="auto">{filledText(shown.header, values)}</p>}
            <p className="said" dir="auto" translate="no">{filledText(shown.body, values)}</p>
            {shown.footer && <p className="meta" dir="auto" translate="no">{shown.footer}</p>}
          </div>{shown.buttons.map((text, at) => <p key={at} className="answer" dir="auto" translate="no">{text}</p>)}</div>
        )}
      </Box>
    </div>
  );
}
