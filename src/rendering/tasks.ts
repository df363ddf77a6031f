import type { Examined, Written } from './examine.ts';
import type { RenderOutcome, Source } from './render.ts';
import type { Shown } from './show.ts';
import type { Variables } from './variables.ts';

/** What a thread is asked to do. All of it is data: it is copied. */
export type Task =
  | { kind: 'render'; source: Source; variables: Variables; key: string }
  | { kind: 'show'; source: Source; variables: Variables }
  | { kind: 'examine'; written: Written };

export type Outcome = RenderOutcome | Shown | Examined;

/** What becomes of any task that a thread had to be stopped for. */
export const stopped = (reason: string): Outcome => ({ kind: 'failed', reason });
