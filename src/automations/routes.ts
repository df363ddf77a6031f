import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { NothingNeeded, route } from '../base/route.ts';
import type { Limit } from '../base/route.ts';
import {
  activateNow,
  changeLife,
  deleteNow,
  moveEverybody,
  pageById,
  resumeNow,
  showAutomation,
} from './acts.ts';
import { Moved } from './commands/shown.ts';
import { ofAutomation } from './addressed.ts';
import { addVersion, archive, create, pause, rename } from './life.ts';
import type { LiveDoors } from './public_links.ts';
import { listKept } from './queries.ts';
import { endpointRoutes } from './endpoint_routes.ts';
import { endpointLimits } from './endpoint_shown.ts';
import { deliveryLimits } from './subscriptions/delivery_shown.ts';
import type { Vault } from './endpoints.ts';
import { runRoutes } from './run_routes.ts';
import { scheduleLimits } from './schedule_shown.ts';
import { segmentStartRoutes } from './segment_start_routes.ts';
import {
  Activate,
  Automation,
  AutomationDeleted,
  automationLimits as limits,
  DEFINITION_BYTES_MAX,
  Listed,
  NewAutomation,
  NewVersion,
  NEXT_SHOWN,
  Rename,
  shownAs,
  toListed,
} from './shown.ts';

export { sendExplainRoutes } from './send_routes.ts';
export const automationLimits: readonly Limit[] = [
  ...limits,
  ...scheduleLimits,
  ...endpointLimits,
  ...deliveryLimits,
];

const answered = { ...ofAutomation, method: 'POST', status: 200, answer: Automation } as const;

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
      inProject(deps, caller.projectId, (scope) =>
        pageById(query, (page) => listKept(scope, page), {
          item: toListed,
          id: ({ automation_id }) => automation_id,
        }),
      ),
  }),
  route({
    ...ofAutomation,
    method: 'GET',
    path: '/v1/automations/:id',
    summary: 'One automation, with the definition of its latest version.',
    status: 200,
    answer: Automation,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, (scope) => showAutomation(scope, found)),
  }),
];

const writeRoutes = (doors: LiveDoors) => [
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
        showAutomation(
          scope,
          await create(scope, { automationId: repetitionId ?? newId(), ...body }, doors),
        ),
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
        showAutomation(
          scope,
          await addVersion(scope, found.automation_id, { definition, after }, doors),
        ),
      ),
  }),
  route({
    ...answered,
    path: '/v1/automations/:id/activate',
    example: shownAs({ status: 'active', active_version: 1 }),
    summary: 'Have whoever comes from now on follow a version.',
    description:
      'The version is frozen. Who is inside stays on theirs until they are moved. Marketing email through a provider ' +
      'outside this machine needs `PUBLIC_URL`.',
    body: Activate,
    isBodyOptional: true,
    refusals: ['automation_state', 'public_url_required'],
    handle: ({ deps, caller: { projectId }, found, body }) =>
      activateNow(
        { deps, projectId },
        { automationId: found.automation_id, version: body.version ?? null },
        doors,
      ),
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
        showAutomation(scope, await rename(scope, found.automation_id, body.name)),
      ),
  }),
  route({
    ...answered,
    path: '/v1/automations/:id/pause',
    example: shownAs({ status: 'paused', active_version: 1 }),
    summary: 'Start nobody, and freeze everybody inside where they are.',
    description:
      'Mail that was queued before waits, too; it goes on when the automation does, unless it has expired by then.',
    body: NothingNeeded,
    isBodyOptional: true,
    refusals: ['automation_state'],
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, async (scope) =>
        showAutomation(scope, await pause(scope, found.automation_id)),
      ),
  }),
  route({
    ...answered,
    path: '/v1/automations/:id/archive',
    example: shownAs({ status: 'archived' }),
    summary: 'End an automation for good, for everyone inside.',
    description:
      'Its runs and what was decided in them stay. Queued email is cancelled. `commands` says what a job still writes.',
    body: NothingNeeded,
    isBodyOptional: true,
    handle: ({ deps, caller, found }) =>
      changeLife({ deps, projectId: caller.projectId }, (scope) =>
        archive(scope, found.automation_id),
      ),
  }),
  route({
    ...ofAutomation,
    method: 'DELETE',
    path: '/v1/automations/:id',
    summary: 'Delete an automation, with its versions, its runs and what was decided in them.',
    description:
      'It counts at once, whatever its status: nothing starts, no run goes on, queued email is cancelled, and its ' +
      'name is free. A job deletes the rest. Sends and timelines stay. Repeated, it is 404.',
    status: 200,
    answer: AutomationDeleted,
    handle: ({ deps, caller: { projectId }, found }) =>
      deleteNow({ deps, projectId }, found.automation_id),
  }),
  route({
    ...answered,
    path: '/v1/automations/:id/move',
    summary: 'Move everyone inside to the active version, at the step where they are.',
    description:
      'It counts at once; a job writes it on the runs of large automations. ' +
      'People at a step that the version lacks stay on theirs.',
    body: NothingNeeded,
    isBodyOptional: true,
    answer: Moved,
    refusals: ['automation_state'],
    handle: ({ deps, caller: { projectId }, found }) =>
      moveEverybody({ deps, projectId }, found.automation_id),
  }),
];

export { subscribedWebhooks } from './subscriptions/webhook_schema.ts';

const resumeRoute = (doors: LiveDoors) =>
  route({
    ...answered,
    path: '/v1/automations/:id/resume',
    example: shownAs({ status: 'active', active_version: 1 }),
    summary: 'Resume every run where it was paused.',
    description:
      'Steps that are overdue run, and mail that waited is handed over, unless they are older than `expires_after`.',
    body: NothingNeeded,
    isBodyOptional: true,
    refusals: ['automation_state', 'public_url_required'],
    handle: ({ deps, caller: { projectId }, found }) =>
      resumeNow({ deps, projectId }, found.automation_id, doors),
  });

/** `doors` are what this room has to ask of rooms that it does not know. */
export const automationRoutes = (doors: LiveDoors & { vault: Vault }) => [
  ...readRoutes,
  ...writeRoutes(doors),
  ...lifeRoutes,
  resumeRoute(doors),
  ...runRoutes,
  ...segmentStartRoutes,
  ...endpointRoutes(doors.vault),
];
