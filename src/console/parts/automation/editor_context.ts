import { createContext, useContext } from 'react';
import type { Issue, Occurrence, Simulation } from '../../automation_queries.ts';
import type { Followed } from '../../follow_simulation.ts';
import type { Definition, Kind, Place, Step } from './exits.ts';
import type { Names } from './words.ts';

/** Where there is room for the panel beside the graph. */
export const WIDE = '(min-width: 62em)';

/** What is looked at: a step, or one of these. */
export const TRIGGER_PANEL = '/trigger';
export const SETTINGS_PANEL = '/settings';
export const SIMULATE_PANEL = '/simulate';

/** What runs an automation that is kept over the past. */
export type Simulator = {
  run: (days: number) => void;
  result: Simulation | null;
  isRunning: boolean;
  /** How far it is, while it runs and says so. */
  progress: Followed | null;
  isDirty: boolean;
  canRun: boolean;
  error: unknown;
};

/** People at a step, of every version. */
export type Here = { people: number; isCapped: boolean };

export type Editor = {
  projectId: string;
  definition: Definition;
  change: (next: Definition, tag?: string) => void;
  setStep: (id: string, step: Step) => void;
  add: (place: Place, kind: Kind) => void;
  remove: (id: string) => void;
  /** Which step, or which of the panels above, is open beside the graph. */
  selected: string | null;
  select: (what: string | null) => void;
  issues: readonly Issue[];
  /** What only activation is refused for. */
  activation: readonly Issue[];
  /** The next times of its schedule. */
  occurrences: readonly Occurrence[];
  names: Names;
  /** How many people are at a step now, or more than so many. */
  inside: ReadonlyMap<string, Here>;
  /** What the graph shows of a simulation: nothing once the definition is another. */
  simulated: Simulation | null;
  simulator: Simulator | null;
};

const EditorContext = createContext<Editor | null>(null);
export const EditorProvider = EditorContext.Provider;

export const useEditor = (): Editor => {
  const editor = useContext(EditorContext);
  if (!editor) throw new Error('there is no editor around this');
  return editor;
};

/** What is wrong at a place of the definition, or anywhere inside of it. */
export const errorAt = (issues: readonly Issue[], pointer: string): string | undefined =>
  issues.find(({ path }) => path === pointer || path.startsWith(`${pointer}/`))?.message;

/** What is wrong at fields of one part of the definition, by their names. */
export const useErrors = (part: string): ((field: string) => string | undefined) => {
  const { issues } = useEditor();
  return (field) => errorAt(issues, field === '' ? part : `${part}/${field}`);
};
