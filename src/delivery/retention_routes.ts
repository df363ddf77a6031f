import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { route } from '../base/route.ts';
import type { Addressed, Limit } from '../base/route.ts';
import {
  changeRetention,
  CONTENT_DAYS_DEFAULT,
  CONTENT_DAYS_MAX,
  KEPT_MONTHS_MAX,
  readRetention,
  RetentionChange,
  RetentionSettings,
} from './retention.ts';

const SHOWN = {
  content_days: CONTENT_DAYS_DEFAULT,
  sends_months: null,
  runs_months: null,
  anonymous_months: null,
};
const CHANGED_SHOWN = { content_days: 30, sends_months: 12, runs_months: 18, anonymous_months: 36 };

const Retention = z.strictObject(RetentionSettings.shape).meta({
  id: 'Retention',
  description: 'How long a project keeps its data.',
  examples: [SHOWN],
});

/** The project of another key gets the same answer as a project that does not exist. */
const find = ({ params: { project_id }, caller }: Addressed) =>
  Promise.resolve(project_id === caller.projectId ? true : null);

const shared = {
  access: 'server',
  path: '/v1/projects/:project_id/retention',
  params: z.object({ project_id: z.uuid().meta({ description: "The project's id." }) }),
  find,
  status: 200,
  answer: Retention,
} as const;

export const retentionRoutes = [
  route({
    ...shared,
    method: 'GET',
    summary: 'Read how long data is kept.',
    handle: ({ deps, caller }) => inProject(deps, caller.projectId, readRetention),
  }),
  route({
    ...shared,
    method: 'POST',
    summary: 'Change how long data is kept.',
    description: 'Daily and weekly jobs remove what is older. It does not come back.',
    example: CHANGED_SHOWN,
    body: RetentionChange.meta({ examples: [CHANGED_SHOWN] }),
    handle: ({ deps, caller: { projectId }, body }) =>
      inProject(deps, projectId, (scope) => changeRetention(scope, body)),
  }),
];

export const retentionLimits: readonly Limit[] = [
  {
    name: 'Retention of rendered email and of answers of providers',
    value: CONTENT_DAYS_MAX,
    unit: 'days',
    where: '`content_days`',
  },
  {
    name: 'Retention of sends, attempts, feedback events and run logs',
    value: KEPT_MONTHS_MAX,
    unit: 'months',
    where: '`sends_months`',
  },
  {
    name: 'Retention of runs and starts of segments',
    value: KEPT_MONTHS_MAX,
    unit: 'months',
    where: '`runs_months`',
  },
  {
    name: 'Retention of anonymous people without events',
    value: KEPT_MONTHS_MAX,
    unit: 'months',
    where: '`anonymous_months`',
  },
];
