import { Plus, Trash2 } from 'lucide-react';
import { Form } from 'react-aria-components';
import { useRead, type Schemas } from '../api/index.ts';
import { Box, Button, CheckInput, ErrorNote, Fact, Facts, Name, SelectInput, SwitchInput, TextInput, t } from '../parts/index.ts';
import { useAgentForm, type AgentForm } from './agent-form.ts';
import { channelName, directionName } from './agent-names.ts';
import { TestLinks } from './test-links.tsx';
import { languageName } from './words.tsx';

type Agent = Schemas['AgentDetail'];
type Code = Schemas['LanguageCode'];
const NONE = 'none';

export function AgentSettings({ agent, may }: { agent: Agent; may: boolean }) {
  return <>{may ? <SettingsForm agent={agent} /> : <Reading agent={agent} />}{agent.channel === 'chat' && <TestLinks agent={agent} />}</>;
}

function Reading({ agent }: { agent: Agent }) {
  const languages = useRead('listVoices', {}, { fresh: 600_000 }).data?.data.languages;
  return <Box title={t('Settings')}><Facts><Fact name={t('Channel')}>{channelName(agent.channel)}</Fact><Fact name={t('Direction')}>{directionName(agent)}</Fact><Fact name={t('Languages')}>{agent.languages.map((code) => languageName(code, languages)).join(', ')}</Fact><Fact name={t('Voice')}>{agent.voice || t('The default voice')}</Fact><Fact name={t('Why it calls')}>{agent.callReason || '–'}</Fact></Facts></Box>;
}

function SettingsForm({ agent }: { agent: Agent }) {
  const form = useAgentForm(agent);
  const voices = useRead('listVoices', {}, { fresh: 600_000 }).data?.data;
  const tools = useRead('listTools', {}, { fresh: 300_000 }).data?.data ?? [];
  const bases = useRead('listKnowledgeBases', {}).data?.data ?? [];
  const languages = form.value('languages');
  const own = form.value('language');
  const toolIds = form.value('toolIds');
  const named = ['name', 'voice', 'language', 'languages', 'knowledgeBaseId', 'toolIds', 'allowedTransferNumbers', 'callReason', 'pronunciations'];
  return (
    <Form className="settings" onSubmit={(event) => { event.preventDefault(); form.save(); }} data-dirty={form.dirty}>
      <Box title={t('Who it is')} extra={<span className="meta">{channelName(agent.channel)} · {directionName(agent)}</span>}>
        <div className="fields">
          <TextInput label={t('Name')} value={form.value('name')} onChange={(name) => form.set('name', name)} maxLength={120} isRequired fault={form.fault('name')} />
          <SelectInput label={t('Language')} value={own} onChange={(code) => form.set('language', code)} choices={(voices?.languages ?? []).map((one) => ({ id: one.code, text: one.label }))} fault={form.fault('language')} />
          <SelectInput label={t('Voice')} value={form.value('voice') || NONE} onChange={(voice) => form.set('voice', voice === NONE ? '' : voice)} choices={[{ id: NONE, text: t('The default voice') }, ...(voices?.voices ?? []).map((one) => ({ id: one.id, text: one.name }))]} fault={form.fault('voice')} />
          {agent.direction === 'outbound' && <TextInput label={t('Why it calls')} value={form.value('callReason')} onChange={(reason) => form.set('callReason', reason)} maxLength={200} hint={t('One sentence for assistants that screen calls. Variables in braces are filled in.')} fault={form.fault('callReason')} />}
        </div>
        <div className="field" role="group" aria-label={t('Languages that it follows the customer into')}><span className="lab">{t('Languages that it follows the customer into')}</span>
          <div className="checks">{(voices?.languages ?? []).filter((one) => one.code !== own).map((one) => <CheckInput key={one.code} value={languages.includes(one.code)} onChange={(on) => form.set('languages', ordered(own, on ? [...languages, one.code] : languages.filter((code) => code !== one.code)))}>{one.label}</CheckInput>)}</div>
          {form.fault('languages') && <p className="fault">{form.fault('languages')}</p>}
        </div>
      </Box>
      <Box title={t('What it knows and may do')}>
        <div className="fields">
          <SelectInput label={t('Knowledge base')} value={form.value('knowledgeBaseId') ?? NONE} onChange={(base) => form.set('knowledgeBaseId', base === NONE ? null : base)} choices={[{ id: NONE, text: t('No knowledge base') }, ...bases.map((one) => ({ id: one.id, text: one.name }))]} fault={form.fault('knowledgeBaseId')} />
        </div>
        {tools.length > 0 && <div className="field" role="group" aria-label={t('Tools')}><span className="lab">{t('Tools')}</span>
          <div className="checks">{tools.map((tool) => <CheckInput key={tool.id} value={toolIds.includes(tool.id)} onChange={(on) => form.set('toolIds', on ? [...toolIds, tool.id] : toolIds.filter((id) => id !== tool.id))}><Name>{tool.name}</Name></CheckInput>)}</div>
        </div>}
        {agent.channel === 'call' && <TextInput label={t('Numbers that it may hand a call to')} lines={2} dir="ltr" value={form.value('allowedTransferNumbers').join('\n')} onChange={(text) => form.set('allowedTransferNumbers', text.split('\n'))} onBlur={() => form.set('allowedTransferNumbers', form.value('allowedTransferNumbers').map((one) => one.trim()).filter(Boolean))} hint={t('One a line, as +91 and ten digits.')} fault={form.fault('allowedTransferNumbers')} />}
      </Box>
      <Box title={t('How it speaks and what is kept')}>
        <div className="fields one">
          <SwitchInput value={form.value('speakable')} onChange={(on) => form.set('speakable', on)}>{t('Says numbers, sums and dates in words')}</SwitchInput>
          <SwitchInput value={form.value('redact')} onChange={(on) => form.set('redact', on)}>{t('Takes card numbers, OTPs and the like out of what is kept')}</SwitchInput>
        </div>
        <Pronunciations form={form} />
      </Box>
      {form.error && !named.includes(form.error.field?.split(/[.[]/)[0] ?? '') && <ErrorNote error={form.error} />}
      {form.dirty && <div className="savebar"><span className="grow">{t('There are changes that are not saved.')}</span><Button onPress={form.drop}>{t('Drop the changes')}</Button><Button type="submit" kind="primary" isPending={form.busy}>{t('Save')}</Button></div>}
    </Form>
  );
}
const ordered = (own: Code, codes: readonly Code[]): Code[] => [own, ...codes.filter((code) => code !== own)];

function Pronunciations({ form }: { form: AgentForm }) {
  const rows = form.value('pronunciations');
  const put = (at: number, change: Partial<Schemas['Pronunciation']>): void => form.set('pronunciations', rows.map((one, index) => (index === at ? { ...one, ...change } : one)));
  return (
    <div className="field" role="group" aria-label={t('How words of yours are said')}><span className="lab">{t('How words of yours are said')}</span>
      {rows.map((one, at) => <div className="row lines arg" key={at}><TextInput label={t('Written {n}', { n: at + 1 })} value={one.written} onChange={(written) => put(at, { written })} maxLength={60} /><TextInput label={t('Said {n}', { n: at + 1 })} value={one.spoken} onChange={(spoken) => put(at, { spoken })} maxLength={200} /><Button kind="bare" small icon={Trash2} label={t('Take out {name}', { name: one.written || String(at + 1) })} onPress={() => form.set('pronunciations', rows.filter((_, index) => index !== at))} /></div>)}
      {form.fault('pronunciations') && <p className="fault">{form.fault('pronunciations')}</p>}
      {rows.length < 100 && <div><Button small icon={Plus} onPress={() => form.set('pronunciations', [...rows, { written: '', spoken: '' }])}>{t('Add a word')}</Button></div>}
    </div>
  );
}
