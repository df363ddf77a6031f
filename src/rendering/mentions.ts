import type { Template } from 'liquidjs';
import { analyzeSync } from 'liquidjs';

/** A variable of a template: `profile.address.city` is `profile` and the way `address`, `city`. */
export type RenderedVariable = {
  root: string;
  way: string[];
  line: number;
  column: number;
};

const ROOTS = ['profile', 'event', 'run', 'project', 'unsubscribe_url'];

/** The names on the way as far as they are written out; one that is computed ends it. */
const wayOf = (segments: readonly unknown[]): string[] => {
  const computed = segments.findIndex((one) => Array.isArray(one));
  return (computed < 0 ? segments : segments.slice(0, computed)).map(String);
};

/** What a template mentions that it does not make itself, in the order of their names. */
export const listMentioned = (parsed: Template[]): RenderedVariable[] =>
  Object.values(analyzeSync(parsed).globals).flatMap((those) =>
    those.map(({ segments, location }) => {
      const [root = '', ...way] = wayOf(segments);
      return { root, way, line: location.row, column: location.col };
    }),
  );

export const nameOf = ({ root, way }: RenderedVariable): string => [root, ...way].join('.');

/** What is no variable at all, each with its place and what there is instead. */
export const findUnknown = (mentioned: readonly RenderedVariable[]): string[] =>
  mentioned.flatMap((one) =>
    ROOTS.includes(one.root)
      ? []
      : [
          `line ${one.line}, column ${one.column}: undefined variable: ${nameOf(one)}. ` +
            'Variables begin with profile, event, run, project, or are unsubscribe_url.',
        ],
  );
