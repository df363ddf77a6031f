import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { route } from '../base/route.ts';
import type { Addressed, Limit } from '../base/route.ts';
import { STOPPED_PER_RECIPIENT_MAX } from './limits.ts';
import {
  changeSendingLimits,
  readSettings,
  RECIPIENT_SENDS_MAX,
  SendingSettings,
  UNCONFIRMED_SENDS_MAX,
} from './settings.ts';

const LIMITS_SHOWN = { recipient_sends_max: 3, unconfirmed_sends_max: 200 };
const CHANGED_SHOWN = { recipient_sends_max: 5, unconfirmed_sends_max: 500 };

const SendingLimits = z.strictObject(SendingSettings.shape).meta({
  id: 'SendingLimits',
  description: 'How much email a stranger can cause who has only a publishable key.',
  examples: [LIMITS_SHOWN],
});

const params = z.object({ project_id: z.uuid().meta({ description: "The project's id." }) });

/** The project of another key gets the same answer as a project that does not exist. */
const find = ({ params: { project_id }, caller }: Addressed) =>
  Promise.resolve(project_id === caller.projectId ? true : null);

const shared = {
  access: 'server',
  path: '/v1/projects/:project_id/sending-limits',
  params,
  find,
  status: 200,
  answer: SendingLimits,
} as const;

export const sendingLimitRoutes = [
  route({
    ...shared,
    method: 'GET',
    summary: 'Read how much email strangers can cause.',
    handle: ({ deps, caller }) => inProject(deps, caller.projectId, readSettings),
  }),
  route({
    ...shared,
    method: 'POST',
    summary: 'Change how much email strangers can cause.',
    description:
      'The new limits also apply to email that is already queued. ' +
      'Email that waits for the hourly budget is checked against them at once.',
    example: CHANGED_SHOWN,
    body: SendingSettings.meta({ examples: [CHANGED_SHOWN] }),
    handle: ({ deps, caller: { projectId }, body }) => changeSendingLimits(deps, projectId, body),
  }),
];

export const sendingLimits: readonly Limit[] = [
  {
    name: 'Emails of browser-triggered runs to one recipient in 24 hours',
    value: RECIPIENT_SENDS_MAX,
    unit: 'items',
    where: '`recipient_sends_max`',
  },
  {
    name: 'Emails of such runs to one recipient that are stopped in 24 hours',
    value: STOPPED_PER_RECIPIENT_MAX,
    unit: 'items',
    where: 'send log; no more are planned',
  },
  {
    name: 'Emails to unconfirmed addresses in an hour',
    value: UNCONFIRMED_SENDS_MAX,
    unit: 'items',
    where: '`unconfirmed_sends_max`',
  },
];
