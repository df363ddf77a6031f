import { inProject } from '../../../src/base/db.ts';
import type { Scope } from '../../../src/base/db.ts';
import { newId } from '../../../src/base/ids.ts';
import { Refusal } from '../../../src/base/refusal.ts';
import * as identity from '../../../src/identity/identity.ts';
import { accept } from '../../../src/ingest/ingest.ts';
import { alias, identify } from '../../../src/profiles/identify.ts';
import { toLink } from '../../../src/profiles/link.ts';
import { listProfiles, unlinkPeople } from '../../../src/profiles/profiles.ts';
import { pageTimeline } from '../../../src/profiles/timeline.ts';
import { admit } from '../../../src/quotas/quotas.ts';
import type { TestDatabase } from '../database.ts';
import { timeOf } from './ops.ts';
import type { Op, Track } from './ops.ts';
import type { Place, Stage, View } from './stage.ts';
import { workOn } from '../work_on.ts';

const LANES = 4;
const PAGE_ITEMS = 200;

const allLinks = { limit: PAGE_ITEMS, beforeId: null, profileId: null, status: null };

const track = (database: TestDatabase, projectId: string, op: Track) => {
  const { who, minute, id, key: kind } = op;
  const event = {
    event: 'page_viewed',
    ...who,
    properties: { op: id },
    occurred_at: timeOf(minute),
    ...(op.repeats === 'message_id' ? { message_id: id } : {}),
  };
  const repetitionId = op.repeats === 'idempotency_key' ? id : undefined;
  return accept(database.deps, { projectId, kind }, { events: [event], repetitionId, admit });
};

const undo = async (scope: Scope, device: string): Promise<void> => {
  const links = await identity.listLinks(scope, { ...allLinks, status: 'active' });
  for (const { link_id } of links.filter(({ anonymous_id }) => anonymous_id === device))
    await unlinkPeople(scope, link_id, 'test');
};

const perform = async (database: TestDatabase, projectId: string, op: Op): Promise<void> => {
  const { deps } = database;
  switch (op.kind) {
    case 'track':
      await track(database, projectId, op);
      return;
    case 'identify': {
      const { person: external_id, device, traits, minute, key: kind } = op;
      const told = { external_id, traits, occurred_at: timeOf(minute) };
      const of = device === null ? {} : { anonymous_id: device };
      await identify(deps, { projectId, kind }, { ...told, ...of });
      return;
    }
    case 'alias': {
      const wish = { anonymous_id: op.device, external_id: op.person };
      await alias(deps, { projectId, kind: 'server' }, wish).catch((error: unknown) => {
        if (!(error instanceof Refusal) || error.reason !== 'identity_conflict') throw error;
      });
      return;
    }
    case 'undo':
      await inProject(deps, projectId, (scope) => undo(scope, op.device));
  }
};

const isIdle = async ({ owner }: TestDatabase, projectId: string): Promise<boolean> => {
  const { rowCount } = await owner.query('select from ingest.pending where project_id = $1', [
    projectId,
  ]);
  return rowCount === 0;
};

const viewOf = (scope: Scope): View => ({
  findProfile: async (by, value) => (await listProfiles(scope, { by, value }))[0],
  listTimeline: async (profileId) =>
    (await pageTimeline(scope, profileId, { limit: PAGE_ITEMS })).items,
  listLinks: async () => (await identity.listLinks(scope, allLinks)).map(toLink),
});

const place = (database: TestDatabase, projectId: string): Place => ({
  perform: async (op) => {
    await perform(database, projectId, op);
    // A job that finds nothing does nothing: that is shown elsewhere, and most find nothing.
    if (op.kind !== 'track' && !(await isIdle(database, projectId)))
      await workOn(database, projectId);
  },
  settle: async () => {
    while (!(await isIdle(database, projectId))) await workOn(database, projectId);
  },
  look: (read) => inProject(database.deps, projectId, (scope) => read(viewOf(scope))),
});

/** In this process: the rooms themselves, four things at a time. A worker follows what overtakes events. */
export const inRooms = (database: TestDatabase): Stage => ({
  lanes: LANES,
  open: () => Promise.resolve(place(database, newId())),
});
