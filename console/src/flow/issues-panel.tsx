import { Button as KitButton } from 'react-aria-components';
import type { Schemas } from '../api/index.ts';
import { Name, State, t } from '../parts/index.ts';
import type { Graph } from './graph.ts';
import { nameIn } from './words.tsx';

/** Errors first; pressing one goes to its step. */
export function IssuesPanel({ issues, graph, choose, stale }: { issues: readonly Schemas['FlowIssue'][]; graph: Graph; choose: (id: string | null) => void; stale: boolean }) {
  const sorted = [...issues].sort((one, other) => Number(other.level === 'error') - Number(one.level === 'error'));
  return (
    <div data-issues={issues.length}>
      {sorted.length === 0 && <p className="meta pad0">{t('Nothing is wrong with this draft.')}</p>}
      <ul className="issues">{sorted.map((issue, at) => (
        <li key={at}><KitButton onPress={() => choose(issue.nodeId)}><State tone={issue.level === 'error' ? 'bad' : 'wait'}>{issue.level === 'error' ? t('Error') : t('Warning')}</State><span className="medium cut"><Name>{issue.nodeId ? nameIn(graph, issue.nodeId) : t('The whole flow')}</Name></span><span className="mid" dir="auto">{issue.message}</span></KitButton></li>
      ))}</ul>
      <p className="meta pad0">{stale ? t('Looks again when the draft is saved.') : t('Errors stop publishing. Warnings do not.')}</p>
    </div>
  );
}
