// The same flow as rows, for the keyboard and for screen readers. The chosen step is edited in the panel beside it.
import { useMemo, useRef } from 'react';
import { Grid, Icon, Name, State, fixedRows, t, type Column } from '../parts/index.ts';
import { edgesOf, inOrder, stepOf, type Graph, type Step } from './graph.ts';
import { gist } from './layout.ts';
import { cutTo, edgeName, iconOf, kindName, nameIn, stepName } from './words.tsx';

interface ListProps {
  graph: Graph;
  chosen: string | null;
  choose: (id: string) => void;
  edit: (id: string) => void;
  issues: ReadonlyMap<string, 'error' | 'warning'>;
  marks: ReadonlyMap<string, 'at' | 'been'>;
  visits: (id: string) => { share: string } | null;
}

const Issue = ({ level }: { level: 'error' | 'warning' | undefined }) => (level === undefined ? null : <State tone={level === 'error' ? 'bad' : 'wait'}>{level === 'error' ? t('Error') : t('Warning')}</State>);

export function StepsList({ graph, chosen, choose, edit, issues, marks, visits }: ListProps) {
  const steps = useMemo(() => inOrder(graph), [graph]);
  const box = useRef<HTMLDivElement>(null);
  const goes = (step: Step): string => edgesOf(step).map(({ path, to }) => `${edgeName(step, path)} → ${to === null ? '–' : nameIn(graph, to)}`).join(' · ');
  const columns: readonly Column<Step>[] = [
    { key: 'kind', head: t('Kind'), width: '118px', cell: (step) => <span className="row dim"><Icon of={iconOf(step.type)} />{kindName(step.type)}</span> },
    { key: 'name', head: t('Step'), width: 'minmax(140px, 1fr)', cell: (step) => <span className="row"><span className="medium cut"><Name>{stepName(step)}</Name></span>{graph.startNodeId === step.id && <span className="meta">{t('begins')}</span>}{marks.get(step.id) === 'at' && <State tone="accent">{t('here')}</State>}</span> },
    { key: 'says', head: t('Says or does'), width: 'minmax(120px, 1.2fr)', cell: (step) => <span className="mid" dir="auto">{cutTo(gist(step), 160)}</span> },
    { key: 'goes', head: t('Goes to'), width: 'minmax(140px, 1.4fr)', cell: (step) => <span className="meta" dir="auto">{goes(step)}</span> },
    { key: 'share', head: t('7 days'), width: '52px', right: true, cell: (step) => <span className="meta num">{visits(step.id)?.share ?? ''}</span> },
    { key: 'issue', head: t('Issues'), width: '84px', cell: (step) => <Issue level={issues.get(step.id)} /> },
  ];
  return (
    <div className="steplist fill" ref={box} data-steps={graph.nodes.length}>
      <Grid
        label={t('Steps of the flow')} rows={fixedRows(steps)} columns={columns} id={(step) => step.id} current={chosen ?? undefined} least={720} open={(step) => edit(step.id)} onActive={(step) => { if (stepOf(graph, step.id)) choose(step.id); }}
        thin={(step) => <span className="thinrow"><span className="row"><Icon of={iconOf(step.type)} small /><span className="medium cut grow"><Name>{stepName(step)}</Name></span><Issue level={issues.get(step.id)} /></span><span className="meta cut" dir="auto">{goes(step)}</span></span>}
      />
    </div>
  );
}
