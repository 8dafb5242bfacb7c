// The flow of an agent: canvas or list, and beside it the step, the issues, the tester and the versions.
import './flow.css';
import { CircleAlert, Play, Plus, Redo2, Search, Undo2 } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useRead, type Schemas } from '../api/index.ts';
import { Avatar, Bars, Button, Head, Icon, MenuButton, More, Segment, Shown, Tabs, Tag, clockSeconds, day, dayOf, indiaDay, plural, t, toast, useFilters, useKeys, useMedia, useRaw, type PageKey } from '../parts/index.ts';
import { useCommands } from '../shell/index.ts';
import { Button as KitButton } from 'react-aria-components';
import { Canvas } from './canvas.tsx';
import { ConflictBand } from './conflict.tsx';
import { counted } from './diff.tsx';
import { useDraft, type Draft } from './draft.ts';
import { KINDS, addStep, changeStep, removeStep, stepOf, withAt, type Kind } from './graph.ts';
import { IssuesPanel } from './issues-panel.tsx';
import { StepPicker } from './picker.tsx';
import { Publish } from './publish.tsx';
import { StepPanel } from './step-panel.tsx';
import { StepsList } from './steps-list.tsx';
import { Tester } from './tester.tsx';
import { usePresence } from './use-presence.ts';
import { useTraffic } from './use-traffic.ts';
import { useTry } from './use-try.ts';
import { VersionsPanel } from './versions-panel.tsx';
import { kindHint, kindName, nameIn } from './words.tsx';
import { useWrites, WhyReadOnly } from './writes.tsx';

type Panel = 'step' | 'issues' | 'test' | 'versions';
interface Loaded { agent: Schemas['AgentDetail']; flow: Schemas['Flow'] }

export function Page({ params }: { params: Readonly<Record<string, string>> }) {
  const id = params.id ?? '';
  const agent = useRead('getAgent', { path: { id } });
  // Editing begins with the draft of now, not with one that was read before.
  const flow = useRead('getFlow', { path: { id } }, { fresh: 0 });
  if (agent.data && flow.data && flow.isFetchedAfterMount) return <Builder key={id} agent={agent.data.data} flow={flow.data.data} />;
  return <><Head back={{ href: '/agents', text: t('Agents') }} title={agent.data?.data.name ?? t('Flow')} /><Shown of={agent} what={t('The flow could not be read.')}>{() => <Shown of={flow} what={t('The flow could not be read.')}>{() => <Bars />}</Shown>}</Shown></>;
}

const level = (issues: readonly Schemas['FlowIssue'][]): ReadonlyMap<string, 'error' | 'warning'> => {
  const found = new Map<string, 'error' | 'warning'>();
  for (const issue of issues) if (issue.nodeId && found.get(issue.nodeId) !== 'error') found.set(issue.nodeId, issue.level);
  return found;
};

/** The keys of a text field's own undo stay with it where the text is no part of the flow. */
function useOwnUndo(): void {
  useEffect(() => {
    const keep = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || !/^[zy]$/i.test(event.key)) return;
      if (event.target instanceof HTMLElement && event.target.closest('[data-own-undo]')) event.stopImmediatePropagation();
    };
    document.addEventListener('keydown', keep, { capture: true });
    return () => document.removeEventListener('keydown', keep, { capture: true });
  }, []);
}

function Builder({ agent, flow }: Loaded) {
  const edits = useWrites('saveFlow');
  const publishes = useWrites('publishFlow');
  const draft = useDraft(agent.id, flow, edits);
  const { graph, change, issues } = draft;
  const filters = useFilters();
  const small = useMedia('(max-width: 760px)');
  const view = (filters.one('view') || (small ? 'list' : 'canvas')) as 'canvas' | 'list';
  const panel = (filters.one('panel') || 'step') as Panel;
  const chosen = stepOf(graph, filters.one('step'))?.id ?? null;
  const [beside, setBeside] = useState(filters.one('step') !== '' || filters.one('panel') !== '');
  const [adding, setAdding] = useState(false);
  const [publishing, setPublishing] = useState(false);
  const [finding, setFinding] = useState(false);
  const side = useRef<HTMLElement>(null);
  const tools = useRead('listTools', {}, { fresh: 300_000 }).data?.data ?? [];
  const languages = useRead('listVoices', {}, { fresh: 600_000 }).data?.data.languages ?? [];
  const versions = useRead('listFlowVersions', { path: { id: agent.id }, query: { limit: 1 } });
  const live = versions.data?.data.find((one) => one.live)?.number ?? null;
  const diff = useRead('compareFlowVersions', { path: { id: agent.id, number: String(live) }, query: { to: 'draft' } }, { enabled: live !== null });
  const changes = diff.data ? counted(diff.data.data.changes) : null;
  const others = usePresence(agent.id, edits, flow.editing);
  const traffic = useTraffic(agent.id, live, graph);
  const run = useTry(agent.id, graph);
  const levels = useMemo(() => level(issues), [issues]);
  const raw = useRaw('getFlow', { path: { id: agent.id } }, flow);
  useOwnUndo();

  const errors = issues.filter((issue) => issue.level === 'error').length;
  const warnings = issues.length - errors;
  const show = (next: Panel): void => { filters.set('panel', next === 'step' ? null : next, true); setBeside(true); };
  const choose = (step: string | null): void => { filters.set('step', step, true); };
  const see = (step: string | null): void => { choose(step); if (panel === 'issues' || step !== null) setBeside(true); };
  const openStep = (step: string | null): void => { filters.set('step', step, true); filters.set('panel', null, true); setBeside(true); };
  const focusField = (): void => { requestAnimationFrame(() => side.current?.querySelector<HTMLElement>('.insp input')?.focus()); };
  const edit = (step: string | null): void => { openStep(step); focusField(); };
  const add = (kind: Kind, after: string | null = chosen, path?: string): void => {
    const made = addStep(graph, kind, after, path);
    change(() => made.graph);
    edit(made.id);
  };
  const remove = (step: string): void => {
    const name = nameIn(graph, step);
    change((before) => removeStep(before, step));
    choose(null);
    toast(t('“{name}” is deleted', { name }), { undo: draft.undoOne });
  };
  const keys: PageKey[] = [
    ...(edits ? [
      { key: 'a', text: t('Add a step behind the chosen one'), act: () => setAdding(true) },
      { key: 'Delete', text: t('Delete the chosen step'), act: () => { if (chosen) remove(chosen); } },
      { key: 'Mod+z', text: t('Undo'), act: draft.undoOne }, { key: 'Mod+y', text: t('Redo'), act: draft.redoOne },
    ] : []),
    { key: 'Enter', text: t('Edit the chosen step'), act: () => edit(chosen) },
    ...(edits ? [{ key: 't', text: t('Test in writing'), act: () => show('test') }] : []),
    { key: 'f', text: t('Find a step'), act: () => setFinding(true) },
    { key: 'Escape', text: t('Choose no step'), act: () => choose(null) },
  ];
  useKeys(keys);
  useCommands([{ id: 'flow-publish', text: t('Publish the draft…'), act: () => void press() }, { id: 'flow-test', text: t('Test in writing'), act: () => show('test') }].filter((one) => (one.id === 'flow-publish' ? publishes : edits)));
  /** Never grey: errors lead to themselves. */
  const press = async (): Promise<void> => {
    const found = await draft.flush();
    if (found === null) return;
    if (found.some((issue) => issue.level === 'error')) { show('issues'); return; }
    setPublishing(true);
  };
  const panels = [
    { id: 'step', text: t('Step') }, { id: 'issues', text: t('Issues'), count: issues.length > 0 ? issues.length : undefined },
    ...(edits ? [{ id: 'test', text: t('Test') }] : []), { id: 'versions', text: t('Versions') },
  ];
  return (
    <>
      <Head back={{ href: '/agents', text: t('Agents') }} title={agent.name} mark={live !== null ? <Tag tone="ok">{t('v{n} is live', { n: live })}</Tag> : undefined} sub={<Saved draft={draft} changes={changes} others={others.map((one) => one.name)} edits={edits} />}>
        <span className="row wide">{others.map((one) => <Avatar key={one.member} name={one.name} kind="team" small />)}</span>
        {edits && <Button icon={Play} onPress={() => show('test')}>{t('Test')}</Button>}
        {publishes && <Button kind="primary" onPress={() => void press()} data-errors={errors}>{t('Publish…')}</Button>}
        <More entries={[{ text: t('Settings'), href: `/agents/${agent.id}/settings` }, { text: t('Numbers'), href: `/agents/${agent.id}/numbers` }, { text: t('Hours and rules'), href: `/agents/${agent.id}/hours` }, '-', ...raw.entries]} />
      </Head>
      {raw.sheet}
      {!edits && <div className="whynot"><WhyReadOnly /></div>}
      <ConflictBand draft={draft} />
      <div className="flow" data-beside={beside} data-view={view} data-saved={!draft.dirty && !draft.saving} data-version={draft.version}>
        <div className="canvas">
          <div className="ctop">
            <Segment label={t('View')} value={view} onChange={(next) => filters.set('view', next, true)} items={[['canvas', t('Canvas')], ['list', t('List')]]} />
            {edits && <AddStep open={adding} setOpen={setAdding} add={add} chat={agent.channel === 'chat'} />}
            {edits && <><Button icon={Undo2} label={t('Undo')} isDisabled={draft.undo.length === 0} onPress={draft.undoOne} /><Button icon={Redo2} label={t('Redo')} isDisabled={draft.redo.length === 0} onPress={draft.redoOne} /></>}
            <FindStep open={finding} setOpen={setFinding} graph={graph} pick={openStep} />
            <span className="grow" />
            {issues.length > 0 && <KitButton className="facet issue-chip" data-level={errors > 0 ? 'error' : 'warning'} onPress={() => show('issues')}><Icon of={CircleAlert} small /><span className="vh-thin">{issueWords(errors, warnings)}</span><span className="thin num" aria-hidden>{issues.length}</span></KitButton>}
          </div>
          {view === 'canvas'
            ? <Canvas
              graph={graph} chosen={chosen} choose={(step) => { if (step === null) choose(null); else if (small) openStep(step); else { choose(step); if (panel !== 'test') filters.set('panel', null, true); } }} issues={levels} shares={traffic.shares} marks={panel === 'test' ? run.marks : NONE} taken={panel === 'test' ? run.taken : NOT_TAKEN} edits={edits}
              move={(places) => change((before) => ({ ...before, nodes: before.nodes.map((node) => { const place = places.get(node.id); const old = node.position as { x?: number; y?: number } | undefined; return place && (old?.x !== place.x || old.y !== place.y) ? { ...node, position: place } : node; }) }))}
              connect={(from, path, to) => change((before) => changeStep(before, from, (step) => withAt(step, path, to ?? undefined)))}
            />
            : <StepsList graph={graph} chosen={chosen} choose={(step) => { if (!small) { choose(step); if (panel !== 'test') filters.set('panel', null, true); } }} edit={edit} issues={levels} marks={panel === 'test' ? run.marks : NONE} visits={traffic.visits} />}
        </div>
        <aside className="side-r" aria-label={t('Beside the flow')} ref={side}>
          <div className="thin back"><Button kind="bare" small onPress={() => setBeside(false)}>{t('Back to the steps')}</Button></div>
          <Tabs inside label={t('Beside the flow')} value={panel} items={panels} onChange={(next) => show(next as Panel)}>
            <div className="sr-body">
              {panel === 'step' && <StepPanel graph={graph} chosen={chosen} choose={choose} change={change} issues={issues} agent={agent} tools={tools} languages={languages} edits={edits} share={traffic.share} visits={traffic.visits} remove={remove} add={() => setAdding(true)} refused={(step) => refusedAt(draft, step)} />}
              {panel === 'issues' && <IssuesPanel issues={issues} graph={graph} choose={edit} stale={draft.dirty} />}
              {panel === 'test' && edits && <Tester graph={graph} run={run} choose={see} fix={edit} />}
              {panel === 'versions' && <VersionsPanel agent={agent.id} draft={draft} live={live} changes={changes} edits={edits} />}
            </div>
          </Tabs>
        </aside>
      </div>
      <Publish agent={agent.id} draft={draft} live={live} open={publishing} onClose={() => setPublishing(false)} />
    </>
  );
}
const NONE: ReadonlyMap<string, 'at' | 'been'> = new Map();
const NOT_TAKEN: ReadonlySet<string> = new Set();

function issueWords(errors: number, warnings: number): string {
  const words = [errors > 0 && plural(errors, '{n} error', '{n} errors'), warnings > 0 && plural(warnings, '{n} warning', '{n} warnings')];
  return words.filter(Boolean).join(', ');
}

/** What the service refused of the draft, said at the step that it names. */
function refusedAt(draft: Draft, step: string): string | null {
  const field = draft.error?.field ?? '';
  const at = Number(/^graph\.nodes\[(\d+)\]/.exec(field)?.[1] ?? -1);
  return at >= 0 && draft.graph.nodes[at]?.id === step ? (draft.error?.message ?? null) : null;
}

function Saved({ draft, changes, others, edits }: { draft: Draft; changes: number | null; others: readonly string[]; edits: boolean }) {
  const at = draft.savedAt;
  const state = draft.conflict ? t('Not saved: two drafts')
    : draft.error ? t('Not saved: {why}', { why: draft.error.message })
      : draft.saving || draft.dirty ? t('Saving…')
        : at === null ? t('Draft') : t('Draft saved {time}', { time: dayOf(at) === indiaDay() ? clockSeconds(at) : day(at) });
  const words = [state, changes !== null && changes > 0 && plural(changes, '{n} change', '{n} changes'), others.length > 0 && plural(others.length, '{names} has it open too', '{names} have it open too', { names: others.join(', ') })];
  return (
    <span className="row saved" data-state={draft.error || draft.conflict ? 'failed' : draft.saving || draft.dirty ? 'saving' : 'saved'}>
      <span className={draft.error || draft.conflict ? 'cut fault' : 'dim cut wide'} role="status" dir="auto">{words.filter(Boolean).join(' · ')}</span>
      {draft.error && edits && <Button small onPress={() => void draft.flush()}>{t('Try again')}</Button>}
    </span>
  );
}

function AddStep({ open, setOpen, add, chat }: { open: boolean; setOpen: (open: boolean) => void; add: (kind: Kind) => void; chat: boolean }) {
  const button = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const found = button.current?.querySelector('button');
    found?.focus();
    // As an arrow key opens it: the first kind has the focus at once.
    found?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true, cancelable: true }));
    setOpen(false);
  }, [open, setOpen]);
  return <div ref={button}><MenuButton label={t('Add a step')} button={<Button icon={Plus} keys="A"><span className="wide">{t('Add a step')}</span></Button>} entries={KINDS.filter((kind) => chat || kind !== 'document').map((kind) => ({ text: kindName(kind), hint: kindHint(kind), act: () => add(kind) }))} /></div>;
}
function FindStep({ open, setOpen, graph, pick }: { open: boolean; setOpen: (open: boolean) => void; graph: Draft['graph']; pick: (id: string) => void }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => { if (open) { box.current?.querySelector('button')?.click(); setOpen(false); } }, [open, setOpen]);
  return <div ref={box}><StepPicker label={t('Find a step')} graph={graph} value={null} onPick={(id) => { if (id) pick(id); }} button={<Button icon={Search} label={t('Find a step')} />} /></div>;
}
