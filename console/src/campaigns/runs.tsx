import { Link } from 'react-aria-components';
import { useState } from 'react';
import { useRead, type Schemas } from '../api/index.ts';
import { Body, Button, Empty, Shown, State, When, count, t } from '../parts/index.ts';
import { runState, skippedWords } from './states.ts';

const PAGE = 50;
const source = (run: Schemas['CampaignRun']): string => (run.source === 'schedule' ? t('by its hours') : run.source === 'api' ? t('over the API') : t('by hand'));

/** Sessions of dialling. One that dialled nothing says why, and what helps. */
export function Runs({ id }: { id: string }) {
  const [limit, setLimit] = useState(PAGE);
  const runs = useRead('listCampaignRuns', { path: { id }, query: { limit } }, { keep: true });
  return (
    <Body>
      <Shown of={runs} what={t('The runs could not be read.')}>
        {({ data }) => (data.length === 0 ? <Empty title={t('No run yet')}>{t('A run is one session of dialling. The first begins when the campaign is launched and its hours are open.')}</Empty> : (
          <>
            <div className="box over" tabIndex={0} role="region" aria-label={t('Dialling runs')}>
              <table className="tbl runs">
                <thead><tr><th>{t('Began, IST')}</th><th>{t('State')}</th><th>{t('Begun')}</th><th className="r">{t('Tried')}</th><th className="r">{t('Dialled')}</th><th className="r">{t('Refused')}</th><th>{t('Ended, IST')}</th><th>{t('Why, and what helps')}</th></tr></thead>
                <tbody>{data.map((run) => <Run key={run.id} run={run} />)}</tbody>
              </table>
            </div>
            {data.length === limit && limit < 200 && <div className="row"><Button onPress={() => setLimit(Math.min(200, limit + PAGE))} isPending={runs.isFetching}>{t('Show earlier runs')}</Button></div>}
          </>
        ))}
      </Shown>
    </Body>
  );
}

function Run({ run }: { run: Schemas['CampaignRun'] }) {
  const { text, tone } = runState(run.status);
  const skipped = run.skippedReason ? skippedWords(run.skippedReason) : null;
  return (
    <tr data-run={run.status}>
      <td><When at={run.createdAt} /></td>
      <td><State tone={tone}>{text}</State></td>
      <td className="mid">{source(run)}</td>
      <td className="r">{count(run.attempted)}</td>
      <td className="r">{count(run.placed)}</td>
      <td className="r">{count(run.rejected)}</td>
      <td>{run.finishedAt ? <When at={run.finishedAt} /> : <span className="dim">–</span>}</td>
      <td className="whys">{skipped && <span>{skipped.why}. <span className="mid">{skipped.help}</span> {skipped.href && <Link href={skipped.href} className="link">{t('Go there')}</Link>}</span>}{run.error && <span className="dim" dir="auto"> {run.error}</span>}</td>
    </tr>
  );
}
