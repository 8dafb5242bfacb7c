import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useOperator, useOperatorSend } from '../api/use-operator.ts';
import { Body, Box, Button, Confirm, ErrorNote, Fact, Facts, Figure, Figures, Head, More, Sheet, Shown, State, SwitchInput, TextInput, When, count, entityName, featureName, limitName, longDay, plural, rupees, rupeesWhole, t, toast } from '../parts/index.ts';
import { MembersBox } from './members-box.tsx';
import { NumbersBox } from './numbers-box.tsx';
import { SettingsSheet, useChange, type Form3 } from './settings-forms.tsx';
import type { Data, Workspace } from './types.ts';
import { WalletBox } from './wallet-box.tsx';
import { stateOf } from './names.ts';
import './page.css';

type Open = Form3 | 'suspend' | 'resume' | 'verify' | 'unverify' | 'accept' | 'lift' | null;
const nothing = (): void => undefined;

function Features({ workspace }: { workspace: Workspace }) {
  const change = useChange(workspace, nothing);
  return (
    <Box title={t('Features')}>
      <ul className="op-features">{Object.entries(workspace.features).map(([name, on]) => <li key={name}><SwitchInput value={on} onChange={(now) => change.mutate({ features: { [name]: now } })}>{featureName(name)}</SwitchInput></li>)}</ul>
      {change.error && <ErrorNote error={change.error} />}
    </Box>
  );
}

function AcceptForm({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const [reason, setReason] = useState('');
  const [missing, setMissing] = useState<string | null>(null);
  const accept = useOperatorSend<object, Data<{ accepted: { chain: string; witnessedSeq: number; seq: number }[] }>>((body) => ({ method: 'POST', path: `/workspaces/${workspace.id}/audit/accept`, body }), {
    alters: ['/log'], done: ({ data }) => { toast(data.accepted.length === 0 ? t('No chain was older than its last witnessed record') : plural(data.accepted.length, '{n} chain goes on from its older state', '{n} chains go on from their older state')); onClose(); },
  });
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); setMissing(reason.trim() ? null : t('Say why.')); if (reason.trim()) accept.mutate({ reason: reason.trim() }); }}>
      <h2>{t('Accept an older state of the log')}</h2>
      <p className="mid">{t('Only after a backup was restored: the chains are then shorter than what this service has seen. The log itself records that you accepted it, and why.')}</p>
      <TextInput label={t('Why')} hint={t('No personal data')} value={reason} onChange={setReason} fault={missing} maxLength={200} autoFocus autoComplete="off" />
      {accept.error && <ErrorNote error={accept.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="danger-full" isPending={accept.isPending}>{t('Accept the older state')}</Button></div>
    </Form>
  );
}

function LiftForm({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const [number, setNumber] = useState('');
  const [missing, setMissing] = useState<string | null>(null);
  const lift = useOperatorSend<string>((phone) => ({ method: 'DELETE', path: `/workspaces/${workspace.id}/dnc/${encodeURIComponent(phone)}` }), { alters: ['/log'], done: () => { toast(t('The opt-out is lifted')); onClose(); } });
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); setMissing(number.trim() ? null : t('The number is missing.')); if (number.trim()) lift.mutate(number.trim()); }}>
      <h2>{t('Lift an opt-out')}</h2>
      <p className="mid">{t('The number comes off the do-not-call list of this workspace, and the person may be called again. Do it only when the person has asked for it: the chain of consent records it.')}</p>
      <TextInput label={t('Whole number')} value={number} onChange={setNumber} fault={missing} inputMode="tel" dir="ltr" autoFocus autoComplete="off" />
      {lift.error && <ErrorNote error={lift.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="danger-full" isPending={lift.isPending}>{t('Lift the opt-out')}</Button></div>
    </Form>
  );
}

function Confirms({ workspace, open, onClose }: { workspace: Workspace; open: Open; onClose: () => void }) {
  const change = useChange(workspace, nothing);
  const name = workspace.name.trim();
  return (
    <>
      <Confirm open={open === 'suspend'} onClose={onClose} title={t('Suspend this workspace')} action={t('Suspend the workspace')} danger typed={{ label: t('Type the name of the workspace'), text: name }} act={() => change.mutateAsync({ suspended: true })}><p className="mid">{t('Its live calls end at once, calls to it are declined, every request is refused, and what comes due fails. Links to recordings stop working.')}</p></Confirm>
      <Confirm open={open === 'resume'} onClose={onClose} title={t('End the suspension')} action={t('End the suspension')} act={() => change.mutateAsync({ suspended: false })}><p className="mid">{t('Its members and keys work again. What failed meanwhile is not repeated.')}</p></Confirm>
      <Confirm open={open === 'verify'} onClose={onClose} title={t('Mark this workspace as verified')} action={t('It is verified')} act={() => change.mutateAsync({ kybVerified: true })}><p className="mid">{t('It may then place live calls, which are charged to its wallet.')}</p></Confirm>
      <Confirm open={open === 'unverify'} onClose={onClose} title={t('Take the verification back')} action={t('Take it back')} danger act={() => change.mutateAsync({ kybVerified: false })}><p className="mid">{t('It places no live calls any more. Calls that are on go on.')}</p></Confirm>
      <Sheet open={open === 'accept'} onClose={onClose} label={t('Accept an older state of the log')}><AcceptForm workspace={workspace} onClose={onClose} /></Sheet>
      <Sheet open={open === 'lift'} onClose={onClose} label={t('Lift an opt-out')}><LiftForm workspace={workspace} onClose={onClose} /></Sheet>
      <SettingsSheet form={open === 'prices' || open === 'limits' || open === 'entity' ? open : null} workspace={workspace} onClose={onClose} />
    </>
  );
}

function Content({ workspace }: { workspace: Workspace }) {
  const [open, set] = useState<Open>(null);
  const { tone, text } = stateOf(workspace);
  const free = Math.max(0, workspace.balanceMinor - workspace.reservedMinor);
  const minutes = workspace.costPerMinuteMinor > 0 ? Math.floor(free / workspace.costPerMinuteMinor) : null;
  const entries = [
    { text: t('Change…'), act: () => set('entity') }, { text: t('Prices…'), act: () => set('prices') }, { text: t('Limits…'), act: () => set('limits') }, '-' as const,
    workspace.kybVerified ? { text: t('Take the verification back…'), act: () => set('unverify') } : { text: t('Mark as verified…'), act: () => set('verify') },
    { text: t('Lift an opt-out…'), act: () => set('lift') }, { text: t('Accept an older log…'), act: () => set('accept') }, '-' as const,
    workspace.suspended ? { text: t('End the suspension…'), act: () => set('resume') } : { text: t('Suspend…'), danger: true, act: () => set('suspend') },
  ];
  return (
    <>
      <Head back={{ href: '/workspaces', text: t('Workspaces') }} title={workspace.name} mark={<State tone={tone}>{text}</State>} sub={<span className="mono dim wide cut">{workspace.id}</span>}>
        {!workspace.kybVerified && <Button kind="primary" onPress={() => set('verify')}>{t('Mark as verified…')}</Button>}
        <More entries={entries} />
      </Head>
      <Body>
        <Figures>
          <Figure name={t('Balance')} value={rupeesWhole(workspace.balanceMinor)} under={minutes === null ? t('a minute costs nothing') : plural(minutes, '{n} minute of talk', '{n} minutes of talk')} />
          <Figure name={t('Held')} value={rupeesWhole(workspace.reservedMinor)} under={t('by calls and chats that are on')} />
          <Figure name={t('A started minute of talk')} value={rupees(workspace.costPerMinuteMinor)} under={t('a chat {chat}, a grade {grade}', { chat: rupees(workspace.costPerChatMinor), grade: rupees(workspace.costPerEvaluationMinor) })} />
          <Figure name={t('Calls at the same time')} value={count(workspace.limits.concurrentCalls ?? 0)} under={t('{n} placed a minute', { n: count(workspace.limits.callsPerMinute ?? 0) })} />
        </Figures>
        <div className="op-two">
          <WalletBox workspace={workspace} />
          <NumbersBox workspace={workspace.id} />
          <MembersBox workspace={workspace.id} />
          <Box title={t('About')} extra={<Button small onPress={() => set('entity')}>{t('Change…')}</Button>}>
            <Facts>
              <Fact name={t('Regulated as')}>{entityName(workspace.regulatedAs)}</Fact>
              <Fact name={t('Id in the registers')}>{workspace.dltEntityId ? <span className="mono">{workspace.dltEntityId}</span> : t('none')}</Fact>
              <Fact name={t('Marketing')}>{workspace.marketingOptInRule ? t('only to people whose opt-in is recorded') : t('also to people without a recorded opt-in')}</Fact>
              <Fact name={t('Warns below')}>{workspace.lowBalanceMinor === null ? t('the price of 30 minutes') : rupees(workspace.lowBalanceMinor)}</Fact>
              <Fact name={t('Since')}><When at={workspace.createdAt}>{longDay(workspace.createdAt)}</When></Fact>
            </Facts>
          </Box>
          <Features workspace={workspace} />
          <Box title={t('Limits')} extra={<Button small onPress={() => set('limits')}>{t('Change…')}</Button>}><dl className="op-limitlist">{Object.entries(workspace.limits).map(([name, limit]) => <div key={name}><dt>{limitName(name)}</dt><dd className="num">{count(limit)}</dd></div>)}</dl></Box>
        </div>
      </Body>
      <Confirms workspace={workspace} open={open} onClose={() => set(null)} />
    </>
  );
}

export function Page({ params }: { params: Readonly<Record<string, string>> }) {
  const workspace = useOperator<Data<Workspace>>(`/workspaces/${params.id ?? ''}`, { every: 30_000 });
  if (workspace.data) return <Content workspace={workspace.data.data} />;
  return <><Head back={{ href: '/workspaces', text: t('Workspaces') }} title={t('Workspace')} /><div className="body"><Shown of={workspace} what={t('The workspace could not be read.')}>{() => null}</Shown></div></>;
}
