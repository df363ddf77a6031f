import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { hint } from '../base/hints.ts';
import { JsonStream, route, STREAM_STALL_MS } from '../base/route.ts';
import type { Addressed, Limit } from '../base/route.ts';
import { UNITS } from '../base/work_units.ts';
import { findErasure } from './erase_queries.ts';
import {
  EraseInput,
  eraseHint,
  Erasure,
  findErasableProfile,
  REASON_CHARS_MAX,
  requestErasure,
  toErasure,
} from './erasures.ts';
import { exportOf, exportPerson } from './export.ts';
import type { OtherRooms } from './export.ts';
import { EXPORTS_OPEN_MAX } from './export_turns.ts';
import { findProfile, ProfileParams } from './find_profile.ts';

const ErasureParams = z.object({ id: z.uuid().meta({ description: "The erasure's id." }) });

const findToErase = ({ deps, caller, params }: Addressed): Promise<string | null> => {
  const named = ProfileParams.safeParse(params);
  if (!named.success) return Promise.resolve(null);
  return inProject(deps, caller.projectId, (scope) => findErasableProfile(scope, named.data.id));
};

const Erased = z.strictObject({ erasure: Erasure });

const eraseRoute = route({
  method: 'POST',
  path: '/v1/profiles/:id/erase',
  access: 'server',
  summary: 'Erase a person: everything about them, in every table.',
  description:
    'From the 202 on no profile of the person is answered and no mail to them begins; what is left goes within ' +
    'seconds, which is how long logs may still name them. The erase covers what arrives for any of their ' +
    'identifiers until it is done. After that, a late event starts a fresh person: nothing old comes back. ' +
    'Suppressed addresses stay suppressed, in a form that cannot be read. ' +
    'Asking again answers the same erasure: by any identifier while it is pending, by the id of the profile for ' +
    'ever.',
  params: ProfileParams,
  body: EraseInput,
  isBodyOptional: true,
  status: 202,
  answer: Erased,
  example: {
    erasure: {
      id: '019a9f0c-6c00-7cc3-98c4-dc0c0c07398f',
      profile_id: '019a9f0c-6c03-7a3c-9d17-3e2f4a1a2b03',
      status: 'pending',
      reason: 'Asked for by mail, ticket 4711',
      requested_at: '2026-01-31T12:00:00.000Z',
      done_at: null,
      receipt: null,
    },
  },
  again: {
    idIn: (answer) => Erased.parse(answer).erasure.id,
    find: async ({ deps, caller }, id) => {
      const erasure = await inProject(deps, caller.projectId, (scope) => findErasure(scope, id));
      return erasure && { erasure: toErasure(erasure) };
    },
  },
  find: findToErase,
  handle: async ({ deps, caller, found: profileId, body }) => {
    const { projectId } = caller;
    const erasure = await inProject(deps, projectId, (scope) =>
      requestErasure(scope, profileId, body.reason ?? null),
    );
    if (erasure.status === 'pending') await hint(deps, eraseHint(projectId, erasure.erasure_id));
    return { erasure: toErasure(erasure) };
  },
});

/** What is done with everything about a person; `rooms` is what the rooms above this one hold. */
export const personRoutes = (rooms: OtherRooms) => [
  route({
    method: 'GET',
    path: '/v1/profiles/:id/export',
    access: 'server',
    summary: 'Everything that is held about a person.',
    description:
      'One JSON document, however long the timeline: it is sent while it is read. A document that breaks off is ' +
      'never valid JSON; ask again. Whoever is erased, or linked to somebody, meanwhile breaks it off.',
    params: ProfileParams,
    status: 200,
    answer: exportOf(rooms),
    find: findProfile,
    workOf: () => [{ units: UNITS.export }],
    handle: ({ deps, caller, found }) =>
      Promise.resolve(new JsonStream(exportPerson(deps, caller.projectId, found.id, rooms))),
  }),
  route({
    method: 'GET',
    path: '/v1/erasures/:id',
    access: 'server',
    summary: 'How far an erase is; its receipt once it is done.',
    params: ErasureParams,
    status: 200,
    answer: Erasure,
    find: ({ deps, caller, params }) => {
      const named = ErasureParams.safeParse(params);
      if (!named.success) return Promise.resolve(null);
      return inProject(deps, caller.projectId, (scope) => findErasure(scope, named.data.id));
    },
    handle: ({ found }) => Promise.resolve(toErasure(found)),
  }),
  eraseRoute,
];

export const personLimits: readonly Limit[] = [
  { name: 'Reason of an erase', value: REASON_CHARS_MAX, unit: 'characters', where: '`reason`' },
  {
    name: 'Open exports of a project, per process',
    value: EXPORTS_OPEN_MAX,
    unit: 'items',
    where: 'export',
  },
  {
    name: 'Time to take 64 KiB of an export',
    value: STREAM_STALL_MS,
    unit: 'milliseconds',
    where: 'export',
  },
];
