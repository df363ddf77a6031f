import type { Examined, Written } from './examine.ts';
import type { RenderOutcome, Source } from './render.ts';
import type { Shown } from './show.ts';
import type { Asserted, Variables } from './variables.ts';

/** A template, and what it is rendered with. Null where a browser asserted none of it. */
export type Filled = {
  source: Source;
  variables: Variables;
  asserted: Asserted | null;
  /** Whether it is rendered without what a browser asserted. */
  isBare?: boolean;
};

/** What a thread is asked to do. All of it is data: it is copied. */
export type Task =
  | ({ kind: 'render'; key: string } & Filled)
  | ({ kind: 'show' } & Filled)
  | { kind: 'examine'; written: Written };

export type Outcome = RenderOutcome | Shown | Examined;

/** What becomes of any task that a thread had to be stopped for. */
export const stopped = (reason: string): Outcome => ({ kind: 'failed', reason });
