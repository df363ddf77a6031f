import { graphlib, layout } from '@dagrejs/dagre';
import { exitsOf } from './exits.ts';
import type { Definition } from './exits.ts';
import { listReached } from './model.ts';

export const NODE_WIDTH_PX = 250;
const EXIT_WIDTH_PX = 126;
const NODE_HEIGHT_PX = 90;
const EXITS_HEIGHT_PX = 30;
const END_WIDTH_PX = 56;
const END_HEIGHT_PX = 24;
const BETWEEN_RANKS_PX = 46;
const BETWEEN_NODES_PX = 36;

export const TRIGGER = '/trigger';

export type Box = { id: string; x: number; y: number; width: number; height: number };
export type Point = { x: number; y: number };
/** A way from one step to another, by the points where it bends. */
export type Line = { from: string; exit: number; to: string; label: string; bends: Point[] };
export type Drawn = { boxes: Box[]; ends: Box[]; lines: Line[] };

const sizeOf = (exits: number) => ({
  width: Math.max(NODE_WIDTH_PX, exits > 1 ? exits * EXIT_WIDTH_PX : 0),
  height: NODE_HEIGHT_PX + (exits > 1 ? EXITS_HEIGHT_PX : 0),
});

const endOf = (from: string, exit: number): string => `${from}/end/${exit}`;

/** Where each step is drawn: the trigger on top, every way downwards. What nobody comes to is drawn, too. */
export const draw = (definition: Definition): Drawn => {
  const { steps, entry } = definition;
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', ranksep: BETWEEN_RANKS_PX, nodesep: BETWEEN_NODES_PX });
  graph.setDefaultEdgeLabel(() => ({}));
  const lines: Line[] = [];
  const connect = (from: string, exit: number, given: string | null, label = ''): void => {
    const isThere = given !== null && Object.hasOwn(steps, given);
    const to = isThere ? given : endOf(from, exit);
    if (!isThere) graph.setNode(to, { width: END_WIDTH_PX, height: END_HEIGHT_PX });
    graph.setEdge(from, to, {}, String(exit));
    lines.push({ from, exit, to, label, bends: [] });
  };
  const reached = listReached(definition);
  const ids = [...reached, ...Object.keys(steps).filter((id) => !reached.includes(id))];
  graph.setNode(TRIGGER, sizeOf(1));
  for (const id of ids) graph.setNode(id, sizeOf(exitsOf(steps[id] ?? { kind: 'exit' }).length));
  connect(TRIGGER, 0, entry === '' ? null : entry);
  for (const id of ids) {
    const step = steps[id];
    if (step) exitsOf(step).forEach(({ next, label }, at) => connect(id, at, next, label));
  }
  layout(graph);
  const boxOf = (id: string): Box => {
    const { x, y, width, height } = graph.node(id) as Omit<Box, 'id'>;
    return { id, width, height, x: Math.round(x - width / 2), y: Math.round(y - height / 2) };
  };
  const endIds = lines.filter(({ to }) => to.includes('/end/')).map(({ to }) => to);
  const bent = lines.map((line) => {
    const { points } = graph.edge(line.from, line.to, String(line.exit)) as { points: Point[] };
    return { ...line, bends: points.slice(1, -1) };
  });
  return {
    boxes: [TRIGGER, ...ids].map(boxOf),
    ends: endIds.map(boxOf),
    lines: bent,
  };
};

/** The ways on from a step from left to right, as they are drawn. */
export const fromLeft = ({ lines, boxes, ends }: Drawn, from: string): Line[] => {
  const boxOf = new Map([...boxes, ...ends].map((box) => [box.id, box]));
  const headingOf = ({ bends, to }: Line): number => {
    const box = boxOf.get(to);
    return bends[0]?.x ?? (box ? box.x + box.width / 2 : 0);
  };
  return lines
    .filter((line) => line.from === from)
    .toSorted((left, right) => headingOf(left) - headingOf(right));
};
