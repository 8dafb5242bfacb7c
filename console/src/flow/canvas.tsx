// The flow as a picture. Heights and handles are known without measuring: only what is on the screen has elements.
import { Background, BackgroundVariant, Controls, Handle, MiniMap, Position, ReactFlow, ReactFlowProvider, useNodesState, useReactFlow, type Connection, type Edge, type Node, type NodeHandle, type NodeProps } from '@xyflow/react';
import { CircleAlert, CirclePlay, TriangleAlert } from 'lucide-react';
import { memo, useEffect, useMemo, useRef } from 'react';
import { Icon, t } from '../parts/index.ts';
import { edgesOf, stepOf, type Graph, type Step } from './graph.ts';
import { ONE_LINE, WIDTH, exitTop, gist, heightOf, layout, neighbour, type Place } from './layout.ts';
import { edgeKey, edgeName, iconOf, kindName, stepName } from './words.tsx';

type Level = 'error' | 'warning';
interface StepData extends Record<string, unknown> { step: Step; issue: Level | null; mark: 'at' | 'been' | null; start: boolean; chosen: boolean }
type StepNode = Node<StepData>;
export interface CanvasProps {
  graph: Graph;
  chosen: string | null;
  choose: (id: string | null) => void;
  issues: ReadonlyMap<string, Level>;
  /** The share of conversations that took an edge, by step and path. */
  shares: ReadonlyMap<string, number>;
  marks: ReadonlyMap<string, 'at' | 'been'>;
  taken: ReadonlySet<string>;
  edits: boolean;
  move: (places: ReadonlyMap<string, Place>) => void;
  connect: (from: string, path: string, to: string | null) => void;
}

const StepBox = memo(function StepBox({ data: { step, issue, mark, start, chosen } }: NodeProps<StepNode>) {
  const words = gist(step);
  return (
    <div className="node" data-kind={step.type} data-chosen={chosen} data-issue={issue ?? undefined} data-mark={mark ?? undefined}>
      <Handle type="target" position={Position.Left} />
      <header><Icon of={iconOf(step.type)} small /><span className="cut grow" dir="auto">{stepName(step)}</span>{start && <span className="begins"><Icon of={CirclePlay} small /></span>}{issue && <span className="iss" data-level={issue}><Icon of={issue === 'error' ? CircleAlert : TriangleAlert} small /></span>}</header>
      {step.type !== 'branch' && <p className={ONE_LINE.has(step.type) ? 'one' : ''} dir="auto">{words || '–'}</p>}
      {edgesOf(step).length > 0 && <ol>{edgesOf(step).map(({ path }) => <li key={path}><span className="cut" dir="auto">{edgeName(step, path)}</span><Handle type="source" id={path} position={Position.Right} /></li>)}</ol>}
    </div>
  );
});
const words = () => ({
  'node.a11yDescription.default': t('Arrows go to the steps before and after. Enter edits, Delete takes the step out, A adds one.'), 'edge.a11yDescription.default': '',
  'controls.ariaLabel': t('Zoom'), 'controls.zoomIn.ariaLabel': t('Zoom in'), 'controls.zoomOut.ariaLabel': t('Zoom out'), 'controls.fitView.ariaLabel': t('Show the whole flow'), 'minimap.ariaLabel': t('Map of the flow'),
});
const TYPES = { step: StepBox };
const SIZE = 8;
function handlesOf(step: Step): NodeHandle[] {
  const height = heightOf(step);
  const handle = (type: 'source' | 'target', id: string | null, x: number, y: number): NodeHandle => ({ type, id, x: x - SIZE / 2, y: y - SIZE / 2, width: SIZE, height: SIZE, position: type === 'source' ? Position.Right : Position.Left });
  return [handle('target', null, 0, height / 2), ...edgesOf(step).map(({ path }, at) => handle('source', path, WIDTH, exitTop(step, at)))];
}

/** Nodes of React Flow; one that is as before stays the same object, so that it is not drawn again. */
function useNodes({ graph, issues, marks, chosen }: CanvasProps): StepNode[] {
  const before = useRef(new Map<string, StepNode>());
  return useMemo(() => {
    const places = layout(graph);
    const next = new Map<string, StepNode>();
    const focus = stepOf(graph, chosen)?.id ?? stepOf(graph, graph.startNodeId ?? null)?.id ?? graph.nodes[0]?.id;
    for (const step of graph.nodes) {
      const data: StepData = { step, issue: issues.get(step.id) ?? null, mark: marks.get(step.id) ?? null, start: graph.startNodeId === step.id, chosen: step.id === chosen };
      const position = places.get(step.id) ?? { x: 0, y: 0 };
      const old = before.current.get(step.id);
      const kept = old && old.data.step === step && old.data.issue === data.issue && old.data.mark === data.mark && old.data.start === data.start && old.data.chosen === data.chosen && old.position.x === position.x && old.position.y === position.y && old.focusable === (step.id === focus);
      const height = heightOf(step);
      next.set(step.id, kept ? old : { id: step.id, type: 'step', position, data, width: WIDTH, height, measured: { width: WIDTH, height }, handles: handlesOf(step), selectable: false, focusable: step.id === focus, ariaLabel: `${kindName(step.type)}: ${stepName(step)}`, domAttributes: { 'aria-roledescription': t('step') } } as StepNode);
    }
    before.current = next;
    return [...next.values()];
  }, [graph, issues, marks, chosen]);
}

function useEdges({ graph, shares, taken }: CanvasProps): Edge[] {
  return useMemo(() => graph.nodes.flatMap((step) => edgesOf(step).flatMap(({ path, to }): Edge[] => {
    if (to === null || !stepOf(graph, to)) return [];
    const key = edgeKey(step.id, path);
    const share = shares.get(key);
    return [{
      id: key, ariaLabel: `${stepName(step)}: ${edgeName(step, path)} → ${stepName(stepOf(graph, to))}`, domAttributes: { 'aria-roledescription': t('edge') }, source: step.id, sourceHandle: path, target: to, focusable: false, interactionWidth: 16, className: taken.has(key) ? 'taken' : '',
      style: { strokeWidth: share === undefined ? 1.5 : 1 + share * 6 }, ...(share === undefined ? {} : { label: `${Math.round(share * 100)}%`, labelBgPadding: [4, 2], labelBgBorderRadius: 3 }),
    } as Edge];
  })), [graph, shares, taken]);
}

function Inner(props: CanvasProps) {
  const { graph, chosen, choose, edits, move, connect } = props;
  const flow = useReactFlow();
  const box = useRef<HTMLDivElement>(null);
  const made = useNodes(props);
  const edges = useEdges(props);
  const [nodes, setNodes, onNodes] = useNodesState<StepNode>(made);
  useEffect(() => setNodes(made), [made, setNodes]);
  const moved = (): void => move(new Map(flow.getNodes().map((node) => [node.id, { x: Math.round(node.position.x), y: Math.round(node.position.y) }])));

  // The chosen step is brought into view, and has the focus if the canvas had it.
  const shown = useRef(chosen);
  useEffect(() => {
    if (chosen === null || shown.current === chosen) return;
    shown.current = chosen;
    const place = layout(graph).get(chosen);
    const step = stepOf(graph, chosen);
    const view = box.current?.getBoundingClientRect();
    if (!place || !step || !view) return;
    const at = flow.flowToScreenPosition(place);
    const zoom = flow.getZoom();
    if (at.x < view.left + 8 || at.y < view.top + 56 || at.x + WIDTH * zoom > view.right - 8 || at.y + heightOf(step) * zoom > view.bottom - 8) void flow.setCenter(place.x + WIDTH / 2, place.y + heightOf(step) / 2, { zoom });
    if (box.current?.contains(document.activeElement)) requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(chosen)}"]`)?.focus());
  }, [chosen, graph, flow]);

  const arrows = (event: React.KeyboardEvent): void => {
    if (!/^Arrow(Up|Down|Left|Right)$/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = chosen === null ? (graph.startNodeId ?? null) : neighbour(graph, chosen, event.key as 'ArrowUp');
    event.preventDefault();
    if (next !== null) choose(next);
  };
  return (
    <div className="canvas-in" ref={box} onKeyDown={arrows} data-steps={graph.nodes.length}>
      <ReactFlow
        nodes={nodes} edges={edges} nodeTypes={TYPES} onNodesChange={onNodes} onNodeClick={(_, node) => choose(node.id)} onNodeDragStop={moved} onPaneClick={() => choose(null)}
        onConnect={({ source, sourceHandle, target }: Connection) => { if (sourceHandle) connect(source, sourceHandle, target); }}
        onEdgeDoubleClick={(_, edge) => { if (edits) connect(edge.source, edge.sourceHandle ?? '', null); }}
        nodesDraggable={edits} nodesConnectable={edits} onlyRenderVisibleElements disableKeyboardA11y deleteKeyCode={null} selectionKeyCode={null} multiSelectionKeyCode={null} zoomOnDoubleClick={false}
        fitView fitViewOptions={{ padding: 0.12, maxZoom: 0.9, minZoom: 0.5 }} ariaLabelConfig={words()} minZoom={0.1} maxZoom={1.5} nodeDragThreshold={3}
      >
        <Background variant={BackgroundVariant.Dots} gap={20} size={1} />
        <Controls showInteractive={false} position="bottom-left" />
        <MiniMap position="bottom-right" pannable zoomable />
      </ReactFlow>
    </div>
  );
}
export const Canvas = (props: CanvasProps) => <ReactFlowProvider><Inner {...props} /></ReactFlowProvider>;
