import type { Template } from 'liquidjs';
import { analyzeSync } from 'liquidjs';
import { LEVELS_MAX } from './limits.ts';

/** A variable of a template: `profile.address.city` is `profile` and the way `address`, `city`. */
export type RenderedVariable = {
  root: string;
  way: string[];
  line: number;
  column: number;
};

export const ROOTS = ['profile', 'event', 'run', 'project', 'unsubscribe_url'];

/** The names on the way as far as they are written out; one that is computed ends it. */
const wayOf = (segments: readonly unknown[]): string[] => {
  const computed = segments.findIndex((one) => Array.isArray(one));
  return (computed < 0 ? segments : segments.slice(0, computed)).map(String);
};

/**
 * What a template mentions that it does not make itself, in the order of their names. Other templates are not looked
 * for, here: there are none, which rendering says with its place.
 */
export const listMentioned = (parsed: Template[]): RenderedVariable[] =>
  Object.values(analyzeSync(parsed, { partials: false }).globals).flatMap((those) =>
    those.map(({ segments, location }) => {
      const [root = '', ...way] = wayOf(segments);
      return { root, way, line: location.row, column: location.col };
    }),
  );

export const nameOf = ({ root, way }: Pick<RenderedVariable, 'root' | 'way'>): string =>
  [root, ...way].join('.');

const findFault = (one: RenderedVariable): string | null => {
  if (one.way.length > LEVELS_MAX)
    return `nothing lies as deep as this: at most ${LEVELS_MAX} levels.`;
  if (ROOTS.includes(one.root)) return null;
  const advice = 'Variables begin with profile, event, run, project, or are unsubscribe_url.';
  return `undefined variable: ${nameOf(one)}. ${advice}`;
};

/** What is no variable at all, each with its place and what there is instead. */
export const findUnknown = (mentioned: readonly RenderedVariable[]): string[] =>
  mentioned.flatMap((one) => {
    const fault = findFault(one);
    return fault === null ? [] : [`line ${one.line}, column ${one.column}: ${fault}`];
  });

/** As a template says it: what is no word of Liquid's stands in brackets. */
export const toLiquid = ([root = '', ...way]: readonly string[]): string =>
  way.reduce(
    (said, name) => (/^[A-Za-z_][\w-]*$/.test(name) ? `${said}.${name}` : `${said}["${name}"]`),
    root,
  );

/** What people write in the way of other tools, and what is meant here; null where nothing is odd about it. */
const findMeant = ({ root, way: [first, ...rest] }: RenderedVariable): string | null => {
  if (root === 'event' && first === 'name' && rest.length === 0) return 'event.event';
  const isNested = first === 'properties' || (root === 'profile' && first === 'traits');
  const isOfOne = root === 'event' || root === 'profile';
  return isOfOne && isNested && rest.length > 0 ? toLiquid([root, ...rest]) : null;
};

/** Variables that are most likely not there when the mail is made, which would fail then. */
export const listUnlikely = (mentioned: readonly RenderedVariable[]): string[] =>
  mentioned.flatMap((one) => {
    const meant = findMeant(one);
    if (meant === null) return [];
    const { root, way, line, column } = one;
    const has = root === 'event' ? 'the event has a property' : 'the profile has a trait';
    return [
      `line ${line}, column ${column}: ${nameOf(one)} is only there if ${has} named ${way[0]}. ` +
        `Otherwise write ${meant}.`,
    ];
  });
