import '@xyflow/react/dist/style.css';
import { Text, useComputedColorScheme } from '@mantine/core';
import {
  Background,
  BaseEdge,
  Controls,
  Handle,
  Position,
  ReactFlow,
  ReactFlowProvider,
} from '@xyflow/react';
import type { Edge, EdgeProps, Node, NodeProps } from '@xyflow/react';
import { useMemo } from 'react';
import { AddStep } from './add_step.tsx';
import { useEditor } from './editor_context.ts';
import type { Place } from './exits.ts';
import { draw, fromLeft, TRIGGER } from './layout.ts';
import type { Drawn, Point } from './layout.ts';
import { ZOOM_MIN } from './opening.ts';
import { useSight } from './sight.ts';
import { StepCard, TriggerCard } from './step_card.tsx';

type Shown = Node<{ id: string; exits: { exit: number; label: string }[] }>;
type Way = Edge<{ bends: Point[]; people: number | undefined }>;

type ExitsProps = { exits: { label: string; place: Place; where: string; exit: number }[] };

const Exits = ({ exits }: ExitsProps) => (
  <div className="graph-exits">
    {exits.map(({ label, place, where, exit }, at) => (
      <div className="graph-exit" key={where}>
        {label !== '' && (
          <Text size="xs" c="dimmed" truncate maw={120} title={label}>
            {label}
          </Text>
        )}
        <AddStep place={place} where={where} />
        <Handle
          id={String(exit)}
          type="source"
          position={Position.Bottom}
          isConnectable={false}
          style={{ left: `${((at + 0.5) / exits.length) * 100}%` }}
        />
      </div>
    ))}
  </div>
);

const TriggerNode = () => (
  <div className="graph-step">
    <TriggerCard />
    <Exits exits={[{ label: '', place: { after: null }, where: 'after the trigger', exit: 0 }]} />
  </div>
);

const StepNode = ({ data: { id, exits: ways } }: NodeProps<Shown>) => {
  const { definition } = useEditor();
  const step = definition.steps[id];
  if (!step) return null;
  const exits = ways.map(({ label, exit }) => ({
    label,
    exit,
    place: { after: id, exit },
    where: label === '' ? `after ${id}` : `after ${id}, ${label}`,
  }));
  return (
    <div className="graph-step">
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <StepCard id={id} />
      <Exits exits={exits} />
    </div>
  );
};

const EndNode = () => (
  <div className="graph-end">
    <Handle type="target" position={Position.Top} isConnectable={false} />
    End
  </div>
);

const nodeTypes = { trigger: TriggerNode, step: StepNode, end: EndNode };

const toNodes = (drawn: Drawn): Shown[] => [
  ...drawn.boxes.map(({ id, x, y, width, height }) => ({
    id,
    type: id === TRIGGER ? 'trigger' : 'step',
    position: { x, y },
    width,
    height,
    data: { id, exits: fromLeft(drawn, id) },
  })),
  ...drawn.ends.map(({ id, x, y, width, height }) => ({
    id,
    type: 'end',
    position: { x, y },
    width,
    height,
    data: { id, exits: [] },
  })),
];

const toEdges = ({ lines }: Drawn, reached: Record<string, number> | null): Way[] =>
  lines.map(({ from, exit, to, bends }) => {
    const isOnlyWay = lines.filter((line) => line.to === to).length === 1;
    return {
      id: `${from}>${exit}`,
      source: from,
      sourceHandle: String(exit),
      target: to,
      type: 'way',
      data: { bends, people: isOnlyWay ? reached?.[to] : undefined },
    };
  });

/** A line through some points, rounded where it bends. */
const toPath = (points: readonly Point[]): string =>
  points.reduce((path, point, at) => {
    const before = points[at - 1];
    if (!before) return `M ${point.x} ${point.y}`;
    const half = (before.y + point.y) / 2;
    return `${path} C ${before.x} ${half} ${point.x} ${half} ${point.x} ${point.y}`;
  }, '');

const WayEdge = ({ id, sourceX, sourceY, targetX, targetY, data }: EdgeProps<Way>) => {
  const source = { x: sourceX, y: sourceY };
  const target = { x: targetX, y: targetY };
  const { bends = [], people } = data ?? {};
  const inner = bends.filter(({ y }) => y > sourceY + 8 && y < targetY - 8);
  const last = inner.at(-1) ?? source;
  return (
    <BaseEdge
      id={id}
      path={toPath([source, ...inner, target])}
      labelX={(last.x + target.x) / 2}
      labelY={(last.y + target.y) / 2}
      {...(people === undefined ? {} : { label: people.toLocaleString() })}
    />
  );
};

const edgeTypes = { way: WayEdge };

/** The way of people through the automation, drawn from top to bottom. */
const Drawing = () => {
  const { definition, simulated, selected, select } = useEditor();
  const scheme = useComputedColorScheme('light');
  const drawn = useMemo(() => draw(definition), [definition]);
  const nodes = useMemo(() => toNodes(drawn), [drawn]);
  const edges = useMemo(() => toEdges(drawn, simulated?.reached ?? null), [drawn, simulated]);
  const { opening, pane } = useSight(selected, drawn);
  return (
    <div className="graph" {...pane}>
      {opening && (
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          colorMode={scheme}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          zoomOnDoubleClick={false}
          panOnScroll
          deleteKeyCode={null}
          minZoom={ZOOM_MIN}
          maxZoom={1.25}
          defaultViewport={opening}
          onPaneClick={() => select(null)}
        >
          <Background gap={22} />
          <Controls showInteractive={false} />
        </ReactFlow>
      )}
    </div>
  );
};

const Graph = () => (
  <ReactFlowProvider>
    <Drawing />
  </ReactFlowProvider>
);

export default Graph;
