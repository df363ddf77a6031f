import type * as rendering from '../../rendering/rendering.ts';

/** Says what is different in a file, and how what it stands for was before; null of what was not there. */
export type Say = (file: string, changes: string[], was: string | null) => void;

/** How the files of a folder are applied. */
export type Applying = {
  say: Say;
  /** How templates are looked at before they are kept; in this thread, where it is not said. */
  examine: rendering.Examine | undefined;
};
