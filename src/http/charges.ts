import type { Limit, Standing } from './limit.ts';

/** A counter, and how much a request takes from it. */
export type Charge = { limit: Limit; name: string | number; units: number };

type Row = readonly [limit: Limit | null, nameOf: () => string | number, units: number];

export const toCharges = (rows: readonly (Row | false)[]): Charge[] =>
  rows.flatMap((row) => {
    if (row === false) return [];
    const [limit, nameOf, units] = row;
    return limit ? [{ limit, name: nameOf(), units }] : [];
  });

/** In the order key, address. */
export const toStandings = (charges: readonly Charge[]): Standing[] =>
  charges.map(({ limit, name }) => limit.standing(name)).toReversed();

/** Returns the first counter that has no room, or null. */
export const findFull = (charges: readonly Charge[]): Standing | null => {
  const full = charges.find(({ limit, name, units }) => !limit.hasRoom(name, units));
  return full ? full.limit.standing(full.name, true) : null;
};

/** Charges all counters or none. Returns the first that has no room, or null. */
export const takeAll = (charges: readonly Charge[]): Standing | null => {
  const full = findFull(charges);
  if (!full) chargeAll(charges);
  return full;
};

/** Charges all counters, whether they have room or not. */
export const chargeAll = (charges: readonly Charge[]): void => {
  for (const { limit, name, units } of charges) limit.charge(name, units);
};
