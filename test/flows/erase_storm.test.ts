// Identity storms: the same few people are tracked, identified, linked, unlinked and erased, many at once.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { Refusal } from '../../src/base/refusal.ts';
import * as identity from '../../src/identity/identity.ts';
import { accept } from '../../src/ingest/ingest.ts';
import { findErasableProfile, requestErasure } from '../../src/profiles/erasures.ts';
import { alias, identify } from '../../src/profiles/identify.ts';
import { changeTraits, listProfiles, unlinkPeople } from '../../src/profiles/profiles.ts';
import { runErasure } from '../support/erase.ts';
import { testDatabase } from '../support/database.ts';
import { findRemains } from '../support/remains.ts';
import { workOn } from '../support/work_on.ts';

const RUNS = 10;
const LANES = 5;
const TEST_TIMEOUT_MS = 180_000;

const database = testDatabase();

type Op = {
  kind:
    'track' | 'identify' | 'browser' | 'tell_device' | 'alias' | 'undo' | 'erase' | 'erase_device';
  person: number;
  device: number;
};

const op: fc.Arbitrary<Op> = fc.record({
  kind: fc.constantFrom(
    ...(['track', 'track', 'identify', 'browser', 'browser', 'tell_device', 'alias'] as const),
    ...(['undo', 'undo', 'erase', 'erase_device'] as const),
  ),
  person: fc.nat({ max: 2 }),
  device: fc.nat({ max: 2 }),
});

/** A project with three people and three devices, whose words are nobody else's. */
const makeWorld = () => {
  const projectId = newId();
  const mark = newId().slice(-12);
  const person = (at: number) => `person-${at}-${mark}`;
  const device = (at: number) => `device-${at}-${mark}`;
  const server = { projectId, kind: 'server' } as const;
  const browser = { projectId, kind: 'publishable' } as const;
  const within = <T>(work: Parameters<typeof inProject<T>>[2]) =>
    inProject(database.deps, projectId, work);

  const work = () => workOn(database, projectId);
  const eraseFound = async (find: (scope: Scope) => Promise<string | null>): Promise<void> => {
    const asked = await within(async (scope) => {
      const profileId = await find(scope);
      return profileId === null ? null : requestErasure(scope, profileId, null);
    });
    if (asked) await runErasure(database, projectId, asked.erasure_id);
  };
  const erase = (ref: string) => eraseFound((scope) => findErasableProfile(scope, ref));
  /** Whoever has the device now: its owner, or after an undo the device alone. */
  const eraseDevice = (deviceId: string) =>
    eraseFound(async (scope) => {
      const known = await identity.findByValue(scope, 'anonymous', deviceId);
      return known?.profile_id ?? null;
    });
  const tellDevice = (deviceId: string) =>
    within(async (scope) => {
      const known = await identity.findByValue(scope, 'anonymous', deviceId);
      if (!known) return;
      await changeTraits(scope, {
        identityId: known.identity_id,
        traits: { email: `${deviceId}@x.org`, town: deviceId },
        setAt: new Date(),
        authority: 'publishable',
      });
    });
  const undo = (deviceId: string) =>
    within(async (scope) => {
      const filter = { limit: 50, beforeId: null, profileId: null, status: 'active' } as const;
      for (const link of await identity.listLinks(scope, filter))
        if (link.anonymous_id === deviceId) await unlinkPeople(scope, link.link_id, 'test');
    });

  const perform = async ({ kind, person: p, device: d }: Op): Promise<unknown> => {
    const [external_id, anonymous_id] = [person(p), device(d)];
    switch (kind) {
      case 'track':
        await accept(database.deps, server, {
          events: [
            { event: 'seen', anonymous_id, message_id: `${anonymous_id}-${newId()}` },
            { event: 'seen', external_id, anonymous_id },
          ],
        });
        return work();
      case 'identify':
        return identify(database.deps, server, {
          external_id,
          anonymous_id,
          traits: { email: `${external_id}@x.org`, device: anonymous_id },
          message_id: newId(),
        });
      case 'browser':
        return identify(database.deps, browser, { external_id, anonymous_id });
      case 'tell_device':
        return tellDevice(anonymous_id);
      case 'alias':
        return alias(database.deps, server, { anonymous_id, external_id });
      case 'undo':
        return undo(anonymous_id);
      case 'erase':
        return erase(`external_id:${external_id}`);
      case 'erase_device':
        return eraseDevice(anonymous_id);
    }
  };
  return { projectId, mark, person, device, within, work, erase, eraseDevice, perform };
};

/** What a caller may be told at any time: somebody else has the device, or the person is going or gone. */
const isExpected = (error: unknown): boolean =>
  error instanceof Refusal &&
  ['identity_conflict', 'being_erased', 'not_found'].includes(error.reason);

test(
  'whatever happens at once is done or refused as documented, and who is erased at the end is gone',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(op, { minLength: 20, maxLength: 40 }), async (ops) => {
        const world = makeWorld();
        const unexpected: unknown[] = [];
        const rest = ops.values();
        const lane = async (): Promise<void> => {
          for (const one of rest) {
            await world.perform(one).catch((error: unknown) => {
              if (!isExpected(error)) unexpected.push([one, error]);
            });
          }
        };
        await Promise.all(Array.from({ length: LANES }, lane));
        expect(unexpected).toEqual([]);

        // Everybody who is left can be read whole, and every pending erase ends.
        await world.work();
        const { rows } = await database.owner.query<{ erasure_id: string }>(
          `select erasure_id from profiles.erasures where project_id = $1 and status = 'pending'`,
          [world.projectId],
        );
        expect(rows).toEqual([]);
        for (const at of [0, 1, 2]) {
          await world.within((scope) =>
            listProfiles(scope, { by: 'external', value: world.person(at) }),
          );
          await world.erase(`external_id:${world.person(at)}`);
        }
        for (const at of [0, 1, 2]) await world.eraseDevice(world.device(at));
        expect(await findRemains(database.owner, [world.mark])).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  },
);
