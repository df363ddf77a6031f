import type { ByFamily, Fault, Survey, Use } from './survey.ts';
import type { Network } from './address.ts';
import type { SpfResult } from './evaluate.ts';

/** How many terms send queries, those of included records counted. */
export const countLookups = (found: Survey): number =>
  found.uses.reduce((sum, use) => sum + lookupsOf(use), 0);

/** The same for one term. */
export const lookupsOf = (use: Use): number =>
  (use.isLookup ? 1 : 0) + (use.child ? countLookups(use.child) : 0);

/** Everything that is wrong, in the order in which a receiver meets it. */
export const listFaults = (found: Survey): Fault[] =>
  found.fault
    ? [found.fault]
    : found.uses.flatMap((use) => [
        ...(use.fault ? [use.fault] : []),
        ...(use.child ? listFaults(use.child) : []),
      ]);

/** Every term, those of included records too, in the order of evaluation. */
export function* everyUse(found: Survey): Generator<Use> {
  for (const use of found.uses) {
    yield use;
    if (use.child) yield* everyUse(use.child);
  }
}

/** The terms whose queries may find nothing, and how many queries of all terms find nothing for any client. */
export const findVoids = (found: Survey): { uses: Use[]; count: number } => {
  const uses = [...everyUse(found)].filter(({ canMatch }) => !canMatch[4] && !canMatch[6]);
  const counts = [...everyUse(found)].map(({ term, isOfMessage, voids }) =>
    // A client may have a name, and what depends on the message may be there.
    term?.mechanism.kind === 'ptr' || isOfMessage ? 0 : Math.min(voids[4], voids[6]),
  );
  return { uses, count: counts.reduce((sum, count) => sum + count, 0) };
};

/** The same for a client of a family, up to the last term that can match it: beyond the limit it may not pass. */
export const findVoidsBefore = (
  found: Survey,
  family: keyof ByFamily<unknown>,
): { uses: Use[]; count: number } => {
  const uses: Use[] = [];
  let before = { uses: 0, count: 0 };
  let count = 0;
  for (const use of everyUse(found)) {
    const isAll = use.term?.mechanism.kind === 'all';
    const voids = use.voids[family];
    // A match ends the evaluation, so what the term does not find after it counts only for others.
    const inside = use.voidsBefore[family];
    if (use.child === null && !isAll && use.canMatch[family])
      before = { uses: uses.length + (inside > 0 ? 1 : 0), count: count + inside };
    if (voids > 0) uses.push(use);
    count += voids;
  }
  return { uses: uses.slice(0, before.uses), count: before.count };
};

/** What becomes of a client that no network, host or name of the record is about, and the term that decides it. */
export const strangersOf = (found: Survey): { result: SpfResult; by: Use | null } => {
  const results = { '+': 'pass', '-': 'fail', '~': 'softfail', '?': 'neutral' } as const;
  for (const use of found.uses) {
    const { term, child } = use;
    if (term === null) {
      if (!child) return { result: 'neutral', by: null };
      const { result, by } = strangersOf(child);
      return { result, by: by && use };
    }
    if (matchesEveryone(use)) return { result: results[term.qualifier], by: use };
  }
  return { result: 'neutral', by: null };
};

const matchesEveryone = ({ term, child, canMatch, isForStrangers }: Use): boolean => {
  const mechanism = term?.mechanism;
  switch (mechanism?.kind) {
    case 'all':
      return true;
    case 'ip':
      return mechanism.network.prefix === 0;
    case 'a':
    case 'mx':
      return (mechanism.cidr[4] === 0 && canMatch[4]) || (mechanism.cidr[6] === 0 && canMatch[6]);
    case 'include':
      return child !== null && strangersOf(child).result === 'pass';
    case 'exists':
      return isForStrangers;
    case 'ptr':
    case undefined:
      return false;
  }
};

/** Whether what a term says counts for senders that pass. */
const isPositive = ({ term }: Use): boolean => term === null || term.qualifier === '+';

/**
 * The domains whose records are included or redirected to, and theirs, as far as everything that they authorize passes:
 * up to the first term that excludes some of it.
 */
export const listIncluded = (found: Survey): string[] => {
  const exclusion = found.uses.findIndex((use) => !isPositive(use));
  const first = exclusion < 0 ? found.uses : found.uses.slice(0, exclusion);
  return first.flatMap(({ child }) => (child ? [child.domain, ...listIncluded(child)] : []));
};

/** The networks that pass, in order; what hosts and exchanges add is not among them. */
export const listNetworks = (found: Survey): Network[] =>
  found.uses.filter(isPositive).flatMap(({ term, child }) => {
    if (child) return listNetworks(child);
    return term?.mechanism.kind === 'ip' ? [term.mechanism.network] : [];
  });

/** Whether anything of the record can pass. */
export const authorizesAnyone = (found: Survey): boolean =>
  found.uses.some((use) => {
    if (!isPositive(use)) return false;
    // What could not be read may authorize someone.
    if (use.fault || use.child?.fault) return true;
    if (use.child) return authorizesAnyone(use.child);
    return use.canMatch[4] || use.canMatch[6];
  });
