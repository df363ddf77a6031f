import '@xyflow/react/dist/style.css';
import { Text, useComputedColorScheme } from '@mantine/core';
import { Background, Controls, Handle, Position, ReactFlow } from '@xyflow/react';
import type { Edge, Node, NodeProps } from '@xyflow/react';
import { useMemo } from 'react';
import { AddStep } from './add_step.tsx';
import { useEditor } from './editor_context.ts';
import { exitsOf } from './exits.ts';
import type { Place } from './exits.ts';
import { draw, TRIGGER } from './layout.ts';
import type { Drawn } from './layout.ts';
import { StepCard, TriggerCard } from './step_card.tsx';

type Shown = Node<{ id: string }>;

const Exits = ({ exits }: { exits: { label: string; place: Place; where: string }[] }) => (
  <div className="graph-exits">
    {exits.map(({ label, place, where }, at) => (
      <div className="graph-exit" key={where}>
        {label !== '' && (
          <Text size="xs" c="dimmed" truncate maw={120} title={label}>
            {label}
          </Text>
        )}
        <AddStep place={place} where={where} />
        <Handle
          id={String(at)}
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
    <Exits exits={[{ label: '', place: { after: null }, where: 'after the trigger' }]} />
  </div>
);

const StepNode = ({ data: { id } }: NodeProps<Shown>) => {
  const { definition } = useEditor();
  const step = definition.steps[id];
  if (!step) return null;
  const exits = exitsOf(step).map(({ label }, exit) => ({
    label,
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

const toNodes = ({ boxes, ends }: Drawn): Shown[] => [
  ...boxes.map(({ id, x, y, width, height }) => ({
    id,
    type: id === TRIGGER ? 'trigger' : 'step',
    position: { x, y },
    width,
    height,
    data: { id },
  })),
  ...ends.map(({ id, x, y, width, height }) => ({
    id,
    type: 'end',
    position: { x, y },
    width,
    height,
    data: { id },
  })),
];

const toEdges = ({ lines }: Drawn, reached: Record<string, number> | null): Edge[] =>
  lines.map(({ from, exit, to }) => {
    const isOnlyWay = lines.filter((line) => line.to === to).length === 1;
    const people = isOnlyWay ? reached?.[to] : undefined;
    return {
      id: `${from}>${exit}`,
      source: from,
      sourceHandle: String(exit),
      target: to,
      type: 'smoothstep',
      ...(people === undefined ? {} : { label: people.toLocaleString() }),
    };
  });

/** The way of people through the automation, drawn from top to bottom. */
const Graph = () => {
  const { definition, simulated, select } = useEditor();
  const scheme = useComputedColorScheme('light');
  const drawn = useMemo(() => draw(definition), [definition]);
  const nodes = useMemo(() => toNodes(drawn), [drawn]);
  const edges = useMemo(() => toEdges(drawn, simulated?.reached ?? null), [drawn, simulated]);
  return (
    <div className="graph">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        colorMode={scheme}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        zoomOnDoubleClick={false}
        panOnScroll
        deleteKeyCode={null}
        minZoom={0.25}
        maxZoom={1.25}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.12 }}
        onPaneClick={() => select(null)}
      >
        <Background gap={22} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
};

export default Graph;
