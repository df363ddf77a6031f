import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { hint } from '../base/hints.ts';
import { newId } from '../base/ids.ts';
import { pageOf, pageQuery, readCursor, toPage } from '../base/page.ts';
import { NothingNeeded, route } from '../base/route.ts';
import type { Limit } from '../base/route.ts';
import { ofAutomation } from './addressed.ts';
import { advanceHint } from './advance.ts';
import {
  activate,
  addVersion,
  archive,
  create,
  moveInside,
  pause,
  rename,
  resume,
} from './life.ts';
import type { Doors } from './life.ts';
import { findVersion, getAutomation, listKept } from './queries.ts';
import type { Kept } from './queries.ts';
import { endpointRoutes } from './endpoint_routes.ts';
import { endpointLimits } from './endpoint_shown.ts';
import type { Vault } from './endpoints.ts';
import { runRoutes } from './run_routes.ts';
import { segmentStartRoutes } from './segment_start_routes.ts';
import {
  Activate,
  Automation,
  automationLimits as limits,
  DEFINITION_BYTES_MAX,
  Listed,
  Moved,
  NewAutomation,
  NewVersion,
  NEXT_SHOWN,
  Rename,
  shownAs,
  toAutomation,
  toListed,
} from './shown.ts';

export { sendExplainRoutes } from './send_routes.ts';
export const automationLimits: readonly Limit[] = [...limits, ...endpointLimits];

const answered = { ...ofAutomation, method: 'POST', status: 200, answer: Automation } as const;

const beforeId = (cursor: string | undefined): string | null =>
  readCursor(z.tuple([z.uuid()]), cursor)?.[0] ?? null;

const readRoutes = [
  route({
    method: 'GET',
    path: '/v1/automations',
    access: 'server',
    summary: 'List automations, newest first.',
    query: z.strictObject(pageQuery),
    status: 200,
    answer: pageOf(Listed),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, async (scope) => {
        const page = { limit: query.limit + 1, beforeId: beforeId(query.cursor) };
        const rows = await listKept(scope, page);
        return toPage(rows, query.limit, {
          item: toListed,
          position: (row) => [row.automation_id],
        });
      }),
  }),
  route({
    ...ofAutomation,
    method: 'GET',
    path: '/v1/automations/:id',
    summary: 'One automation, with the definition of its latest version.',
    status: 200,
    answer: Automation,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, (scope) => show(scope, found)),
  }),
];

const show = async (scope: Parameters<typeof findVersion>[0], kept: Kept) =>
  toAutomation(kept, await findVersion(scope, kept.automation_id, kept.latest_version));

const writeRoutes = (doors: Doors) => [
  route({
    method: 'POST',
    path: '/v1/automations',
    access: 'server',
    summary: 'Make an automation, as a draft.',
    description:
      'Whatever is wrong with the definition is refused at once, each fault with its step and what to do about it.',
    body: NewAutomation,
    bodyBytesMax: DEFINITION_BYTES_MAX,
    status: 201,
    answer: Automation,
    handle: ({ deps, caller, body, repetitionId }) =>
      inProject(deps, caller.projectId, async (scope) =>
        show(scope, await create(scope, { automationId: repetitionId ?? newId(), ...body }, doors)),
      ),
  }),
  route({
    ...answered,
    path: '/v1/automations/:id/versions',
    example: shownAs({ latest_version: 2, definition: NEXT_SHOWN }),
    summary: 'Make the next version. Nobody follows it until it is activated.',
    description:
      '`after_version` is the latest that you have seen: if there is a newer one by now, 409 `automation_changed`.',
    body: NewVersion,
    bodyBytesMax: DEFINITION_BYTES_MAX,
    status: 201,
    refusals: ['automation_changed', 'automation_state'],
    handle: ({ deps, caller, found, body: { definition, after_version: after } }) =>
      inProject(deps, caller.projectId, async (scope) =>
        show(scope, await addVersion(scope, found.automation_id, { definition, after }, doors)),
      ),
  }),
  route({
    ...answered,
    path: '/v1/automations/:id/activate',
    example: shownAs({ status: 'active', active_version: 1 }),
    summary: 'Have whoever comes from now on follow a version.',
    description: 'The version is frozen. Who is inside stays on theirs until they are moved.',
    body: Activate,
    isBodyOptional: true,
    refusals: ['automation_state'],
    handle: async ({ deps, caller, found, body }) => {
      const { projectId } = caller;
      const shown = await inProject(deps, projectId, async (scope) =>
        show(scope, await activate(scope, found.automation_id, body.version ?? null, doors)),
      );
      await hint(deps, advanceHint(projectId));
      return shown;
    },
  }),
];

const lifeRoutes = [
  route({
    ...answered,
    method: 'PATCH',
    path: '/v1/automations/:id',
    example: shownAs({ name: 'Welcome, all' }),
    summary: 'Rename an automation.',
    description: 'Whatever it does, it goes on with. What it does is changed by its next version.',
    body: Rename,
    handle: ({ deps, caller, found, body }) =>
      inProject(deps, caller.projectId, async (scope) =>
        show(scope, await rename(scope, found.automation_id, body.name)),
      ),
  }),
  route({
    ...answered,
    path: '/v1/automations/:id/pause',
    example: shownAs({ status: 'paused', active_version: 1 }),
    summary: 'Start nobody, and freeze everybody inside where they are.',
    description: 'Mail that was queued before is still handed over.',
    body: NothingNeeded,
    isBodyOptional: true,
    refusals: ['automation_state'],
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, async (scope) =>
        show(scope, await pause(scope, found.automation_id)),
      ),
  }),
  route({
    ...answered,
    path: '/v1/automations/:id/resume',
    example: shownAs({ status: 'active', active_version: 1 }),
    summary: 'Go on where everybody was.',
    description: 'Steps that are overdue run, unless they are older than `expires_after`.',
    body: NothingNeeded,
    isBodyOptional: true,
    refusals: ['automation_state'],
    handle: async ({ deps, caller, found }) => {
      const shown = await inProject(deps, caller.projectId, async (scope) =>
        show(scope, await resume(scope, found.automation_id)),
      );
      await hint(deps, advanceHint(caller.projectId));
      return shown;
    },
  }),
  route({
    ...answered,
    path: '/v1/automations/:id/archive',
    example: shownAs({ status: 'archived' }),
    summary: 'End an automation for good, with everybody inside.',
    description: 'Its runs and what was decided in them stay.',
    body: NothingNeeded,
    isBodyOptional: true,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, async (scope) =>
        show(scope, await archive(scope, found.automation_id)),
      ),
  }),
  route({
    ...answered,
    path: '/v1/automations/:id/move',
    summary: 'Move everybody inside to the active version, at the step where they are.',
    description:
      'Who is at a step that the active version does not have stays on their own version.',
    body: NothingNeeded,
    isBodyOptional: true,
    answer: Moved,
    refusals: ['automation_state'],
    handle: async ({ deps, caller, found }) => {
      const shown = await inProject(deps, caller.projectId, async (scope) => {
        const moved = await moveInside(scope, found.automation_id);
        return {
          ...moved,
          version: (await getAutomation(scope, found.automation_id)).active_version,
        };
      });
      await hint(deps, advanceHint(caller.projectId));
      return shown;
    },
  }),
];

/** `doors` are what this room has to ask of rooms that it does not know. */
export const automationRoutes = (doors: Doors & { vault: Vault }) => [
  ...readRoutes,
  ...writeRoutes(doors),
  ...lifeRoutes,
  ...runRoutes,
  ...segmentStartRoutes,
  ...endpointRoutes(doors.vault),
];
