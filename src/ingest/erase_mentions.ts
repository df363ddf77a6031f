import type { Scope } from '../base/db.ts';
import type { InStep, Person } from '../base/whole_person.ts';
import { BEGINNING, ERASE_EVENTS_MAX } from './erase.ts';
import {
  deletePairs,
  eraseMentionsAfter,
  forgetDevices,
  holdFlushes,
  listCompanions,
  listDevices,
  listPending,
} from './erase_queries.ts';

/** How many flushes that wait one transaction looks through: of some events each, at most some hundreds. */
const FLUSHES_MAX = 20;

const valuesOf = ({ identities }: Person, wanted: 'external' | 'anonymous'): string[] =>
  identities.filter(({ kind }) => kind === wanted).map(({ value }) => value);

/** Forgets which devices somebody was seen with; answers whether there may be more. */
const forgetDevicesOf = async (scope: Scope, externalId: string) => {
  const devices = await listDevices(scope, externalId, ERASE_EVENTS_MAX);
  const pairs = await deletePairs(scope, { externalId, devices });
  return { rows: { 'ingest.devices': pairs }, value: devices.length === ERASE_EVENTS_MAX };
};

/** Takes devices out of the next events of somebody else; with the last of them, forgets that they were seen. */
const removeMentions = async (
  scope: Scope,
  pair: { externalId: string; devices: string[] },
  after: Date,
) => {
  const batch = await eraseMentionsAfter(scope, pair, after, ERASE_EVENTS_MAX);
  const isLast = batch.events < ERASE_EVENTS_MAX;
  const pairs = isLast ? await deletePairs(scope, pair) : 0;
  return {
    rows: { 'ingest.events': batch.mentions, 'ingest.devices': pairs },
    value: isLast ? null : batch.last_at,
  };
};

/** Takes devices out of the events of everybody who was seen with them. */
const eraseFromOthers = async (devices: string[], inStep: InStep): Promise<void> => {
  const findCompanions = () =>
    inStep(async (scope) => ({
      rows: {},
      value: await listCompanions(scope, devices, ERASE_EVENTS_MAX),
    }));
  for (let companions = await findCompanions(); companions.length > 0;) {
    for (const externalId of companions) {
      for (let after: Date | null = BEGINNING; after !== null;) {
        const from: Date = after;
        after = await inStep((scope) => removeMentions(scope, { externalId, devices }, from));
      }
    }
    companions = await findCompanions();
  }
};

/** Takes devices out of events that wait to be processed, some flushes a step. */
const eraseInFlushes = async (
  devices: string[],
  inStep: InStep,
  nextOf: typeof listPending,
): Promise<void> => {
  let after: string | null = null;
  do {
    const from: string | null = after;
    after = await inStep(async (scope) => {
      const flushIds = await nextOf(scope, from, FLUSHES_MAX);
      const mentions = devices.length === 0 ? 0 : await forgetDevices(scope, flushIds, devices);
      return { rows: { 'ingest.events': mentions }, value: flushIds.at(-1) ?? null };
    });
  } while (after !== null);
};

/**
 * Takes a person's devices out of the events of others, step by step, and forgets which devices they were
 * seen with. Whoever processes events at this moment is waited for first: from then on everybody who does
 * knows of the erase, and leaves nothing of the person behind.
 */
export const eraseMentions = async (person: Person, inStep: InStep): Promise<void> => {
  const devices = valuesOf(person, 'anonymous');
  await eraseInFlushes(devices, inStep, holdFlushes);
  for (const externalId of valuesOf(person, 'external'))
    while (await inStep((scope) => forgetDevicesOf(scope, externalId)));
  if (devices.length > 0) await eraseFromOthers(devices, inStep);
};

/** Takes a person's devices out of events of others that came since and wait to be processed. */
export const eraseWaiting = async (person: Person, inStep: InStep): Promise<void> => {
  const devices = valuesOf(person, 'anonymous');
  if (devices.length > 0) await eraseInFlushes(devices, inStep, listPending);
};
