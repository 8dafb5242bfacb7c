import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { ReadOnlyNote, useCommands } from '../shell/index.ts';
import { useHasRole } from '../api/index.ts';
import { Button, Empty, Grid, More, Shown, When, fixedRows, t, useKeys, useRaw, type Column } from '../parts/index.ts';
import { EndpointSheet } from './endpoint-form.tsx';
import { Frame } from './frame.tsx';
import { EndpointState, HealthMarks, placeOf, subscribed } from './health.tsx';
import { useEndpoints, useFailing, useHealth, useMayChange } from './queries.ts';
import { answerOf, type Endpoint } from './names.ts';

const Marks = ({ id }: { id: string }) => <HealthMarks health={useHealth(id)} />;
function Last({ id }: { id: string }) {
  const last = useHealth(id)?.last;
  if (!last) return <span className="dim">–</span>;
  return <span className="row"><When at={last.createdAt} /><span className="dim cut" dir="auto">{answerOf(last.attempts.at(-1))}</span></span>;
}

function columns(failing: ReadonlyMap<string, number>): readonly Column<Endpoint>[] {
  return [
    { key: 'state', head: t('State'), width: '176px', cell: (row) => <EndpointState endpoint={row} failing={failing.get(row.id)} /> },
    { key: 'url', head: t('Address'), width: 'minmax(240px, 1.6fr)', cell: (row) => <span className="medium" dir="ltr">{placeOf(row.url)}</span> },
    { key: 'what', head: t('Description'), width: 'minmax(120px, 1fr)', cell: (row) => <bdi className="mid" dir="auto" translate="no">{row.description ?? '–'}</bdi> },
    { key: 'events', head: t('Events'), width: '150px', cell: (row) => <span className="mid">{subscribed(row)}</span> },
    { key: 'health', head: t('Last 24 hours'), width: '208px', cell: (row) => <Marks id={row.id} /> },
    { key: 'last', head: t('Last delivery, IST'), width: 'minmax(180px, 1fr)', cell: (row) => <Last id={row.id} /> },
  ];
}

export function Page() {
  const endpoints = useEndpoints();
  const failing = useFailing();
  const may = useMayChange();
  const admin = useHasRole('admin');
  const [making, setMaking] = useState(false);
  const [, navigate] = useLocation();
  const raw = useRaw('listWebhooks', {}, endpoints.data);
  const make = (): void => setMaking(true);
  useKeys(may ? [{ key: 'n', text: t('New endpoint'), act: make }] : []);
  useCommands(may ? [{ id: 'new-endpoint', text: t('New endpoint…'), act: make }] : []);
  const button = <Button kind="primary" icon={Plus} onPress={make}>{t('New endpoint')}</Button>;
  return (
    <Frame tab="endpoints" actions={<>{may && button}<More entries={raw.entries} /></>}>
      <div className="body dv-list">
        {!admin && <div className="dv-note"><ReadOnlyNote role="admin" /></div>}
        <Shown of={endpoints} what={t('The endpoints could not be read.')}>
          {({ data }) => (data.length === 0 ? (
            <Empty title={t('No endpoint yet')} action={may ? button : undefined}>{t('An endpoint is an address of your own system that is told what happens here: calls that end, outcomes, opt-outs.')}</Empty>
          ) : (
            <Grid
              label={t('Endpoints')} rows={fixedRows(data)} columns={columns(failing)} id={(row) => row.id} open={(row) => navigate(`/developers/endpoints/${row.id}`)} least={1080} rowHeight={44}
              thin={(row) => <div className="dv-thin"><div className="row"><span className="grow cut medium" dir="ltr">{placeOf(row.url)}</span><EndpointState endpoint={row} failing={failing.get(row.id)} /></div><div className="row"><Marks id={row.id} /></div></div>}
            />
          ))}
        </Shown>
      </div>
      {raw.sheet}
      <EndpointSheet open={making} onClose={() => setMaking(false)} />
    </Frame>
  );
}
