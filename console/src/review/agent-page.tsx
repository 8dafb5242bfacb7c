import { useLocation, useSearch } from 'wouter';
import { currentScope, useRead } from '../api/index.ts';
import { Body, Empty, Head, Shown, State, Tabs, t, useRaw, More } from '../parts/index.ts';
import { Criteria } from './criteria.tsx';
import './page.css';
import { Report } from './report.tsx';
import { Sweeps } from './sweeps.tsx';

const TABS = ['criteria', 'sweeps', 'report'] as const;

/** How one agent is graded: its criteria, gradings of the past, and what came out. */
export function Page({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.id ?? '';
  const [path] = useLocation();
  const asked = new URLSearchParams(useSearch()).get('tab');
  const tab = TABS.find((one) => one === asked) ?? 'criteria';
  const agent = useRead('getAgent', { path: { id } });
  const evaluation = useRead('getAgentEvaluation', { path: { id } });
  const raw = useRaw('getAgentEvaluation', { path: { id } }, evaluation.data?.data);
  const test = currentScope()?.test ?? false;
  const items = [{ id: 'criteria', text: t('Criteria'), count: evaluation.data?.data.criteria.length }, { id: 'sweeps', text: t('Past conversations') }, { id: 'report', text: t('Results') }].map((one) => ({ ...one, href: one.id === 'criteria' ? path : `${path}?tab=${one.id}` }));
  const kind = agent.data?.data.channel === 'chat' ? 'chat' as const : 'call' as const;
  return (
    <>
      <Head back={{ href: '/evaluation', text: t('Evaluation') }} title={agent.data?.data.name ?? t('Evaluation')} mark={evaluation.data && (evaluation.data.data.enabled ? <State tone="ok">{t('On')}</State> : <State tone="mute">{t('Off')}</State>)}><More entries={raw.entries} /></Head>
      {test ? <Body><Empty title={t('Test mode grades nothing')}>{t('Evaluations are of real conversations. Switch to live to see them.')}</Empty></Body> : (
        <Tabs label={t('What to show')} value={tab} items={items}>
          <Body>
            <Shown of={evaluation} what={t('The criteria could not be read.')}>
              {({ data }) => tab === 'criteria' ? <Criteria key={data.version} evaluation={data} kind={kind} /> : tab === 'sweeps' ? <Sweeps evaluation={data} kind={kind} /> : <Report agentId={id} kind={kind} />}
            </Shown>
          </Body>
        </Tabs>
      )}
      {raw.sheet}
    </>
  );
}
