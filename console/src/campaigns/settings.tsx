import { useEffect, useState } from 'react';
import { Form } from 'react-aria-components';
import { useRead, useSend } from '../api/index.ts';
import { Body, Box, Button, ErrorNote, Fact, Facts, Name, SelectInput, TextInput, When, t, toast, type Choice } from '../parts/index.ts';
import { ReadOnlyNote } from '../shell/index.ts';
import { isMessaging, useMayEdit } from './queries.ts';
import { asChange, asForm, faultOf, firstFault, type SettingsForm } from './settings-form.ts';
import { hoursWords, type Campaign } from './states.ts';

export function Settings({ campaign }: { campaign: Campaign }) {
  const may = useMayEdit();
  const over = campaign.status === 'completed' || campaign.status === 'archived';
  return (
    <Body>
      <div className="settings">
        {may && !over ? <Editing campaign={campaign} /> : <Reading campaign={campaign} />}
        {!may && <ReadOnlyNote role="editor" />}
      </div>
    </Body>
  );
}

function useAgentName(id: string | null): string {
  const agents = useRead('listAgents', {});
  return agents.data?.data.find((one) => one.id === id)?.name ?? '–';
}

function Reading({ campaign }: { campaign: Campaign }) {
  const { settings } = campaign;
  return (
    <Box title={t('Settings')}>
      <Facts>
        <Fact name={t('Name')}><Name>{campaign.name}</Name></Fact>
        <Fact name={t('Agent')}><Name>{useAgentName(campaign.agentId)}</Name></Fact>
        <Fact name={t('Calls from')}><span dir="ltr">{settings.fromNumber ?? t('the first active number')}</span></Fact>
        <Fact name={t('Hours')}>{hoursWords(settings)}</Fact>
        <Fact name={t('Begins')}>{settings.startAt ? <When at={settings.startAt} /> : t('when it is launched')}</Fact>
        <Fact name={t('Ends')}>{settings.endAt ? <When at={settings.endAt} /> : t('when everybody was called')}</Fact>
        <Fact name={t('Attempts')}>{t('{n}, {minutes} minutes apart', { n: settings.retryCount + 1, minutes: settings.cooldownMinutes })}</Fact>
        <Fact name={t('Calls at once')}>{settings.maxConcurrentCalls ?? t('all lines of the workspace')}</Fact>
      </Facts>
    </Box>
  );
}

function Editing({ campaign }: { campaign: Campaign }) {
  // What the form began with: only what differs from it is sent, so what another person changes meanwhile stays.
  const [base, setBase] = useState(campaign);
  const [form, setForm] = useState<SettingsForm>(() => asForm(campaign));
  const untouched = (Object.keys(form) as (keyof SettingsForm)[]).every((key) => form[key] === asForm(base)[key]);
  useEffect(() => { if (untouched && campaign.updatedAt !== base.updatedAt) { setBase(campaign); setForm(asForm(campaign)); } }, [untouched, campaign, base]);
  const [shown, setShown] = useState(false);
  const agents = useRead('listAgents', {});
  const numbers = useRead('listNumbers', {});
  const saving = useSend('updateCampaign', { alters: ['getCampaign', 'listCampaigns'], done: ({ data }) => { setBase(data); setForm(asForm(data)); setShown(false); toast(t('Saved')); } });
  const set = <K extends keyof SettingsForm>(key: K) => (value: SettingsForm[K]): void => setForm((before) => ({ ...before, [key]: value }));
  const fault = (key: keyof SettingsForm): string | null => (shown ? faultOf(form, key) : null) ?? (saving.error && (saving.error.field === `settings.${key}` || saving.error.field === key) ? saving.error.message : null);
  const text = (key: TextKey, label: string, more: { hint?: string; placeholder?: string; type?: string; inputMode?: 'numeric' } = {}) => <TextInput label={label} value={form[key]} onChange={set(key)} fault={fault(key)} {...more} />;
  const voice = !isMessaging(campaign);
  const agentChoices: readonly Choice[] = (agents.data?.data ?? []).filter((one) => one.channel === 'call' && one.direction === 'outbound').map((one) => ({ id: one.id, text: one.name }));
  const numberChoices: readonly Choice[] = [{ id: '', text: t('the first active number') }, ...(numbers.data?.data ?? []).filter((one) => one.status === 'active').map((one) => ({ id: one.number, text: one.number }))];
  const submit = (): void => {
    setShown(true);
    const wrong = firstFault(form);
    if (wrong) { document.querySelector<HTMLElement>('.settings [aria-invalid="true"]')?.focus(); return; }
    saving.mutate({ path: { id: campaign.id }, body: asChange(form, base) });
  };
  const elsewhere = saving.error && !(Object.keys(form) as (keyof SettingsForm)[]).some((key) => saving.error?.field === key || saving.error?.field === `settings.${key}`);
  return (
    <Form className="settings-form" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <Box title={t('What it is')}>
        <div className="fields">
          {text('name', t('Name'))}
          {voice && (campaign.agentId === null && campaign.status === 'draft' ? <SelectInput label={t('Agent')} value={form.agentId} onChange={set('agentId')} choices={agentChoices} fault={fault('agentId')} /> : <Facts><Fact name={t('Agent')}><Name>{agents.data?.data.find((one) => one.id === campaign.agentId)?.name ?? '–'}</Name></Fact></Facts>)}
          {voice && <SelectInput label={t('Calls from')} value={form.fromNumber} onChange={set('fromNumber')} choices={numberChoices} fault={fault('fromNumber')} />}
          {voice && text('dltTemplateRef', t('Template of the registry (DLT)'), { hint: t('Needed for promotion where the rules want one.') })}
        </div>
      </Box>
      <Box title={t('When')} extra={<span className="dim">{t('the hours of the rules apply in addition')}</span>}>
        <div className="fields two">
          {text('dailyFrom', t('Daily from'), { placeholder: '09:00' })}
          {text('dailyTo', t('Daily to'), { placeholder: '19:00' })}
          {text('startAt', t('Not before (India time)'), { type: 'datetime-local' })}
          {text('endAt', t('Not after (India time)'), { type: 'datetime-local' })}
        </div>
      </Box>
      {voice && (
        <Box title={t('How often')}>
          <div className="fields two">
            {text('retryCount', t('Attempts after the first'), { hint: t('0 to 10'), inputMode: 'numeric' })}
            {text('cooldownMinutes', t('Minutes between two attempts'), { inputMode: 'numeric' })}
            {text('maxConcurrentCalls', t('Calls at once, at most'), { hint: t('Empty: all lines of the workspace'), inputMode: 'numeric' })}
          </div>
        </Box>
      )}
      <Box title={t('Who is told')}><div className="fields">{text('emailNotifications', t('E-mail addresses'), { hint: t('With commas between them. They hear when it is over, and when it cannot dial.') })}</div></Box>
      {elsewhere && saving.error && <ErrorNote error={saving.error} />}
      <div className="row"><Button type="submit" kind="primary" isPending={saving.isPending}>{t('Save the settings')}</Button>{campaign.status === 'active' && <span className="dim">{t('They take effect at once.')}</span>}</div>
    </Form>
  );
}
type TextKey = Exclude<{ [K in keyof SettingsForm]: SettingsForm[K] extends string ? K : never }[keyof SettingsForm], undefined>;
