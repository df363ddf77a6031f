// Random steps about the same few people, done as the service does them.
import fc from 'fast-check';
import { inProject } from '../../src/base/db.ts';
import { Refusal } from '../../src/base/refusal.ts';
import * as identity from '../../src/identity/identity.ts';
import { accept, observe } from '../../src/ingest/ingest.ts';
import type { Observed } from '../../src/ingest/ingest.ts';
import { alias, identify } from '../../src/profiles/identify.ts';
import { changeAddresses, listProfiles, unlinkPeople } from '../../src/profiles/profiles.ts';
import { lift, resubscribe, suppress, unsubscribe } from '../../src/suppression/suppression.ts';
import { askToErase, runErasure } from '../support/erase.ts';
import { workOn } from '../support/work_on.ts';
import type { TestDatabase } from '../support/database.ts';
import { EVENTS, properties, TODAY, TRAITS, values } from './arbitrary.ts';
import { DAY_MS } from '../../src/segments/moments.ts';

const person = fc.constantFrom('ann', 'bob', 'cid');
const device = fc.constantFrom('phone', 'pad', 'desk');
const email = fc.constantFrom('ann@example.com', 'bob@example.com');
const who = fc.oneof(
  fc.record({ external_id: person }),
  fc.record({ anonymous_id: device }),
  fc.record({ external_id: person, anonymous_id: device }),
);

/** Days before today: tomorrow too, as a clock may say, and what is told very late. */
const daysAgo = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 20 }) },
  fc.constant(-1),
  fc.integer({ min: 100, max: 700 }),
);

/** What happens to people. */
export const deeds = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('track' as const),
      who,
      event: fc.constantFrom(...EVENTS),
      isObserved: fc.boolean(),
      properties,
      daysAgo,
      times: fc.integer({ min: 1, max: 2 }),
      /** Told before, or to be told again, whatever it says this time. */
      messageId: fc.option(fc.constantFrom('one', 'two', 'three'), { freq: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('identify' as const),
      person,
      device: fc.option(device),
      traits: fc.oneof(
        fc.dictionary(fc.constantFrom(...TRAITS), fc.option(values), { maxKeys: 2 }),
        fc.record({ email: fc.option(email) }),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('alias' as const), device, person }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('undo' as const), device }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('erase' as const), person }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'suppress' as const,
        'lift' as const,
        'unsubscribe' as const,
        'resubscribe' as const,
      ),
      email,
    }),
  },
);
type Deed = typeof deeds extends fc.Arbitrary<infer T> ? T : never;

/** The same, and what a worker and the time do. */
export const steps = fc.oneof(
  { weight: 14, arbitrary: deeds },
  { weight: 2, arbitrary: fc.constant({ kind: 'process' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'refresh' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      days: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('at_once' as const),
      deeds: fc.array(deeds, { minLength: 1, maxLength: 3 }),
    }),
  },
);
export type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never;

const change = (database: TestDatabase, projectId: string, step: { kind: string; email: string }) =>
  inProject(database.deps, projectId, (scope) =>
    changeAddresses(scope, [step.email], async (inner) => {
      const said = { email: step.email, source: 'test' };
      if (step.kind === 'suppress') await suppress(inner, { ...said, reason: 'manual' });
      else if (step.kind === 'unsubscribe') await unsubscribe(inner, said);
      else if (step.kind === 'resubscribe') await resubscribe(inner, said);
      else await lift(inner, { ...said, note: 'test', liftsComplaints: true });
    }),
  );

const ofConflicts = (error: unknown): void => {
  if (!(error instanceof Refusal)) throw error;
};

/** Does what happens to somebody. */
const performDeed = async (
  database: TestDatabase,
  projectId: string,
  step: Deed,
): Promise<void> => {
  const { deps } = database;
  const caller = { projectId, kind: 'server' as const };
  switch (step.kind) {
    case 'track': {
      // Midnight: the only time of tomorrow that is never too far ahead.
      const occurred_at = new Date((TODAY - step.daysAgo) * DAY_MS).toISOString();
      const event = {
        event: step.event,
        ...step.who,
        properties: step.properties,
        occurred_at,
        ...(step.messageId === null ? {} : { message_id: step.messageId }),
      };
      if (step.event === 'email_opened' && step.isObserved) {
        const seen = {
          name: step.event,
          externalId: 'external_id' in step.who ? step.who.external_id : null,
          anonymousId: 'anonymous_id' in step.who ? step.who.anonymous_id : null,
          properties: step.properties as Observed['properties'],
          occurredAt: new Date(occurred_at),
        };
        await inProject(deps, projectId, (scope) =>
          observe(
            scope,
            Array.from({ length: step.times }, () => seen),
          ),
        );
        return;
      }
      await accept(deps, caller, { events: Array.from({ length: step.times }, () => event) });
      return;
    }
    case 'identify':
      await identify(deps, caller, {
        external_id: step.person,
        traits: step.traits,
        ...(step.device === null ? {} : { anonymous_id: step.device }),
      });
      return;
    case 'alias':
      await alias(deps, caller, { external_id: step.person, anonymous_id: step.device }).catch(
        ofConflicts,
      );
      return;
    case 'undo':
      await inProject(deps, projectId, async (scope) => {
        const filter = { limit: 50, beforeId: null, profileId: null, status: 'active' as const };
        for (const link of await identity.listLinks(scope, filter))
          if (link.anonymous_id === step.device) await unlinkPeople(scope, link.link_id, 'test');
      });
      return;
    case 'erase': {
      const found = await inProject(deps, projectId, (scope) =>
        listProfiles(scope, { by: 'external', value: step.person }),
      );
      const [profile] = found;
      if (!profile) return;
      await runErasure(database, projectId, await askToErase(database, projectId, profile.id));
      return;
    }
    case 'suppress':
    case 'lift':
    case 'unsubscribe':
    case 'resubscribe':
      await change(database, projectId, step);
      return;
  }
};

/** Does one step; those of time and of refreshing are the caller's, who says what else goes on at once. */
export const perform = async (
  database: TestDatabase,
  projectId: string,
  step: Step,
  meanwhile: readonly (() => Promise<unknown>)[] = [],
): Promise<void> => {
  if (step.kind === 'wait' || step.kind === 'refresh') return;
  if (step.kind === 'process') return workOn(database, projectId);
  if (step.kind !== 'at_once') return performDeed(database, projectId, step);
  await Promise.all([
    ...step.deeds.map((deed) => performDeed(database, projectId, deed)),
    ...meanwhile.map((work) => work()),
  ]);
};
