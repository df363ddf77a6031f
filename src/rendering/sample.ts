import type { RenderedVariable } from './mentions.ts';
import type { Sample, Variables } from './variables.ts';

/** What stands for the link in a template that is only looked at. */
export const SAMPLE_URL = 'https://trunkline.invalid/u/sample';
const SAMPLE_ID = '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f';
const SAMPLE_AT = '2026-01-31T12:00:00.000Z';
const SAMPLE_PROJECT = { name: 'Sample' };

type Tree = { [name: string]: Tree | string };

const isTree = (value: Tree | string | undefined): value is Tree => typeof value === 'object';

/** Puts a text at the end of a way, unless something is there already. */
const plant = (tree: Tree, way: readonly string[]): void => {
  const [name, ...rest] = way;
  if (name === undefined) return;
  const known = Object.hasOwn(tree, name) ? tree[name] : undefined;
  if (rest.length === 0) {
    if (known === undefined) set(tree, name, name.replaceAll('_', ' '));
    return;
  }
  const inside: Tree = isTree(known) ? known : {};
  set(tree, name, inside);
  plant(inside, rest);
};

/** As JSON would: a name such as `__proto__` is a name like any other. */
const set = (tree: Tree, name: string, value: Tree | string): void => {
  Object.defineProperty(tree, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
};

/** Somebody who has whatever a template mentions, each called by its own name. */
export const makeSample = (mentioned: readonly RenderedVariable[]): Sample => {
  const made = {
    profile: { email: 'ann@example.com' } as Tree,
    event: { event: 'sample_happened', occurred_at: SAMPLE_AT } as Tree,
  };
  for (const { root, way } of mentioned)
    if (root === 'profile' || root === 'event') plant(made[root], way);
  return made;
};

/** A sample with all that is not the author's to choose. */
export const withRest = ({ profile, event }: Sample, projectName?: string): Variables => ({
  profile,
  event,
  run: { send_id: SAMPLE_ID },
  project: projectName === undefined ? SAMPLE_PROJECT : { name: projectName },
  unsubscribe_url: SAMPLE_URL,
});
