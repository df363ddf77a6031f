// Random steps about the same few people, done as the service does them.
import fc from 'fast-check';
import { inProject } from '../../src/base/db.ts';
import { Refusal } from '../../src/base/refusal.ts';
import * as identity from '../../src/identity/identity.ts';
import { accept } from '../../src/ingest/ingest.ts';
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

export const steps = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('track' as const),
      who,
      event: fc.constantFrom(...EVENTS),
      properties,
      daysAgo: fc.integer({ min: 0, max: 20 }),
      times: fc.integer({ min: 1, max: 2 }),
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
  { weight: 4, arbitrary: fc.constant({ kind: 'process' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'refresh' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      days: fc.integer({ min: 1, max: 9 }),
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

/** Does one step; those of time and of refreshing are the caller's. */
export const perform = async (
  database: TestDatabase,
  projectId: string,
  step: Step,
): Promise<void> => {
  const { deps } = database;
  const caller = { projectId, kind: 'server' as const };
  switch (step.kind) {
    case 'track': {
      const occurred_at = new Date(
        TODAY * DAY_MS - step.daysAgo * DAY_MS + 3_600_000,
      ).toISOString();
      const event = { event: step.event, ...step.who, properties: step.properties, occurred_at };
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
    case 'process':
      await workOn(database, projectId);
      return;
    case 'wait':
    case 'refresh':
  }
};
