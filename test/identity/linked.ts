// Identities of a project, and links between them, as tests of links ask for them.
import { expect } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import type { LinkAnswer, LinkRow } from '../../src/identity/identity.ts';
import { linkPeople, seePeople, unlinkPeople } from '../../src/profiles/profiles.ts';
import type { TestDatabase } from '../support/database.ts';

const at = new Date('2026-03-01T00:00:00Z');

export type Wish = { source?: 'identify' | 'alias'; key_type?: 'publishable' | 'server' };
const BY_BROWSER: Required<Wish> = { source: 'identify', key_type: 'publishable' };

/** A project in which anonymous ids and people are made and linked. */
export const identitiesOf = (database: TestDatabase, projectId: string) => {
  const within = <T>(work: (scope: Scope) => Promise<T>) =>
    inProject(database.deps, projectId, work);

  const see = (kind: 'anonymous' | 'external', ...values: string[]) =>
    within(async (scope) => {
      const seen = values.map((value) => ({ kind, value, first_seen_at: at, last_seen_at: at }));
      const people = await identity.see(scope, seen);
      await seePeople(scope, people);
      return people;
    });

  /** Links two identities, and nothing above them; null as `identity.link` says. */
  const ask = (
    anonymous_id: string,
    external_id: string,
    wish: Wish = {},
  ): Promise<LinkAnswer | null> =>
    within((scope) => identity.link(scope, { anonymous_id, external_id, ...BY_BROWSER, ...wish }));

  const link = async (...wish: Parameters<typeof ask>): Promise<LinkAnswer> => {
    const answer = await ask(...wish);
    if (!answer) throw new Error('one of the two is being erased, or the log is full');
    return answer;
  };

  /** Links two identities and folds their profiles, for a browser unless `wish` says otherwise. */
  const join = (anonymous_id: string, external_id: string, wish: Wish = {}) =>
    within((scope) => linkPeople(scope, { anonymous_id, external_id, ...BY_BROWSER, ...wish }));
  const undo = (linkId: string, by = 'test') => within((scope) => unlinkPeople(scope, linkId, by));

  const find = (kind: 'anonymous' | 'external', value: string) =>
    within((scope) => identity.findByValue(scope, kind, value));
  const profileOf = async (kind: 'anonymous' | 'external', value: string) =>
    (await find(kind, value))?.profile_id;

  const read = (linkId: string): Promise<LinkRow | null> =>
    within((scope) => identity.findLink(scope, linkId));
  /** Every row of the log, the oldest first. */
  const readLog = async (): Promise<LinkRow[]> => {
    const all = { limit: 1_000, beforeId: null, profileId: null, status: null };
    return (await within((scope) => identity.listLinks(scope, all))).toReversed();
  };
  const countLog = async (reason: LinkRow['reason']): Promise<number> =>
    (await readLog()).filter((row) => row.reason === reason).length;

  return { within, see, ask, link, join, undo, find, profileOf, read, readLog, countLog };
};

export const BY_SERVER: Wish = { key_type: 'server' };

/** A project in which Ann and Bob are known, as browsers link devices to them. */
export const openForBrowsers = async (database: TestDatabase) => {
  const projectId = newId();
  const world = identitiesOf(database, projectId);
  await world.see('external', 'ann', 'bob');
  const seeDevices = async (prefix: string, count: number) => {
    const devices = named(prefix, count);
    await world.see('anonymous', ...devices);
    return devices;
  };
  /** Has browsers link as many devices to Ann as they may within a day. */
  const fillDay = async (prefix = 'day-'): Promise<void> => {
    for (const device of await seeDevices(prefix, identity.BROWSER_LINKS_A_DAY_MAX))
      expect(await world.link(device, 'ann')).toMatchObject({ link: { status: 'active' } });
  };
  /** Makes the log look as old as a day. */
  const passDay = () =>
    database.owner.query(
      `update identity.links set created_at = created_at - interval '24 hours' where project_id = $1`,
      [projectId],
    );
  return { ...world, projectId, seeDevices, fillDay, passDay };
};

/** A project with a device that a browser said is Mallory's, before its owner signed in. */
export const openPreLinked = async (database: TestDatabase) => {
  const projectId = newId();
  const world = identitiesOf(database, projectId);
  await world.see('anonymous', 'device');
  await world.see('external', 'mallory', 'ann', 'bob');
  const { link: older } = await world.link('device', 'mallory');
  const erase = async (kind: 'anonymous' | 'external', value: string) => {
    const known = await world.find(kind, value);
    const ids = [known?.identity_id ?? ''];
    await world.within((scope) => identity.markErased(scope, newId(), ids));
  };
  const isOf = async (person: string) =>
    (await world.profileOf('anonymous', 'device')) === (await world.profileOf('external', person));
  return { ...world, projectId, older, erase, isOf };
};

export const named = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}`);
