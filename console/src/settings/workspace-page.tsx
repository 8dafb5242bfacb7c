import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useQueryClient } from '@tanstack/react-query';
import { currentScope, useHasRole, useRead, useSend, type Schemas } from '../api/index.ts';
import { ME } from '../api/use.ts';
import { ReadOnlyNote } from '../shell/index.ts';
import { Body, Box, Button, ErrorNote, Fact, Facts, Name, Shown, State, TextInput, When, count, entityName, featureName, limitName, longDay, rupees, t, toast } from '../parts/index.ts';
import { Frame } from './frame.tsx';

type Workspace = Schemas['Workspace'];

function NameForm({ workspace }: { workspace: Workspace }) {
  const client = useQueryClient();
  const [name, setName] = useState(workspace.name);
  const [missing, setMissing] = useState<string | null>(null);
  const save = useSend('updateOwnWorkspace', { alters: ['getOwnWorkspace'], done: () => { toast(t('Changed')); void client.invalidateQueries({ queryKey: ME }); } });
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    setMissing(name.trim() ? null : t('A workspace needs a name.'));
    if (name.trim()) save.mutate({ body: { name: name.trim() } });
  };
  return (
    <Form className="se-inline" onSubmit={submit}>
      <div className="grow"><TextInput label={t('Name')} value={name} onChange={setName} fault={missing ?? (save.error?.field === 'name' ? save.error.message : null)} maxLength={120} /></div>
      <Button type="submit" isPending={save.isPending}>{t('Save the name')}</Button>
      {save.error && save.error.field !== 'name' && <ErrorNote error={save.error} />}
    </Form>
  );
}

function Content({ workspace }: { workspace: Workspace }) {
  const may = useHasRole('admin');
  return (
    <>
      {!may && <ReadOnlyNote role="admin" />}
      <div className="se-two">
        <Box title={t('Workspace')}>
          <div className="stack se-gap">
            {may && <NameForm key={workspace.name} workspace={workspace} />}
            <Facts>
              {!may && <Fact name={t('Name')}><Name>{workspace.name}</Name></Fact>}
              <Fact name={t('Id')}><span className="mono">{workspace.id}</span></Fact>
              <Fact name={t('State')}>{workspace.suspended ? <State tone="bad">{t('Suspended')}</State> : workspace.kybVerified ? <State tone="ok">{t('Verified, may call')}</State> : <State tone="wait">{t('Not verified: no live calls yet')}</State>}</Fact>
              <Fact name={t('Regulated as')}>{entityName(workspace.regulatedAs)}</Fact>
              <Fact name={t('Id in the registers')}>{workspace.dltEntityId ? <span className="mono">{workspace.dltEntityId}</span> : t('none')}</Fact>
              <Fact name={t('Marketing')}>{workspace.marketingOptInRule ? t('only to people whose opt-in is recorded') : t('also to people without a recorded opt-in')}</Fact>
              <Fact name={t('Since')}><When at={workspace.createdAt}>{longDay(workspace.createdAt)}</When></Fact>
            </Facts>
          </div>
        </Box>
        <Box title={t('Prices')}>
          <Facts>
            <Fact name={t('A started minute of talk')}><span className="num">{rupees(workspace.costPerMinuteMinor)}</span></Fact>
            <Fact name={t('A chat')}><span className="num">{rupees(workspace.costPerChatMinor)}</span></Fact>
            <Fact name={t('A graded conversation')}><span className="num">{rupees(workspace.costPerEvaluationMinor)}</span></Fact>
          </Facts>
          <p className="meta se-under">{t('Prices, limits and features are set by who runs this service.')}</p>
        </Box>
        <Box title={t('Features')}><ul className="se-list">{Object.entries(workspace.features).map(([name, on]) => <li key={name}><State tone={on ? 'pass' : 'mute'}>{featureName(name)}</State>{!on && <span className="dim"> {t('off')}</span>}</li>)}</ul></Box>
        <Box title={t('Limits')}><dl className="se-limits">{Object.entries(workspace.limits).map(([name, limit]) => <div key={name}><dt>{limitName(name)}</dt><dd className="num">{count(limit)}</dd></div>)}</dl></Box>
      </div>
    </>
  );
}

export function Page() {
  const workspace = useRead('getOwnWorkspace', {}, { fresh: 10_000 });
  return <Frame tab="workspace"><Body key={currentScope()?.workspace}><Shown of={workspace} what={t('The workspace could not be read.')}>{({ data }) => <Content workspace={data} />}</Shown></Body></Frame>;
}
