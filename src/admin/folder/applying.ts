import type * as rendering from '../../rendering/rendering.ts';

/** What became of what a file stands for. */
export type Become = {
  /** What was different, line by line; none of what was the same. */
  changes: string[];
  /** How it was before: its id and its version, as far as a change rests on it; null of what was not there. */
  was: string | null;
  /** The version that it has by now. */
  version: number;
};
/** Says that of a file. */
export type Say = (file: string, become: Become) => void;

/** How the files of a folder are applied. */
export type Applying = {
  say: Say;
  /** How templates are looked at before they are kept; in this thread, where it is not said. */
  examine: rendering.Examine | undefined;
};
