import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { route } from '../base/route.ts';
import type { Addressed, Limit } from '../base/route.ts';
import { ALERTS_KEPT_DAYS, RESOLVED_ALERTS_MAX } from './alerts.ts';
import {
  AlertSettings,
  BOUNCE_PERCENT_DEFAULT,
  COMPLAINT_PERCENT_DEFAULT,
  readAlertSettings,
  writeAlertSettings,
} from './settings.ts';
import { Alert, ListedAlerts, pageAlerts } from './shown.ts';

const SETTINGS_SHOWN = {
  bounce_percent: BOUNCE_PERCENT_DEFAULT,
  complaint_percent: COMPLAINT_PERCENT_DEFAULT,
};
const CHANGED_SHOWN = { bounce_percent: 3, complaint_percent: 0.2 };

const settingParams = z.object({
  project_id: z.uuid().meta({ description: "The project's id." }),
});

/** The project of another key gets the same answer as a project that does not exist. */
const find = ({ params: { project_id }, caller }: Addressed) =>
  Promise.resolve(project_id === caller.projectId ? true : null);

const shared = {
  access: 'server',
  path: '/v1/projects/:project_id/alert-settings',
  params: settingParams,
  find,
  status: 200,
  answer: z.strictObject(AlertSettings.shape).meta({
    id: 'AlertSettings',
    description: 'Which rates alert the owner.',
    examples: [SETTINGS_SHOWN],
  }),
} as const;

export const alertRoutes = [
  route({
    method: 'GET',
    path: '/v1/alerts',
    access: 'server',
    summary: 'List alerts, newest first.',
    query: z.strictObject({
      ...pageQuery,
      status: ListedAlerts.meta({ description: 'The open ones, or those of the past too.' }),
    }),
    status: 200,
    answer: pageOf(Alert),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, (scope) => pageAlerts(scope, query)),
  }),
  route({
    ...shared,
    method: 'GET',
    summary: 'Read which rates alert the owner.',
    handle: ({ deps, caller }) => inProject(deps, caller.projectId, readAlertSettings),
  }),
  route({
    ...shared,
    method: 'POST',
    summary: 'Change which rates alert the owner.',
    body: AlertSettings.meta({ examples: [CHANGED_SHOWN] }),
    example: CHANGED_SHOWN,
    handle: ({ deps, caller, body }) =>
      inProject(deps, caller.projectId, (scope) => writeAlertSettings(scope, body)),
  }),
];

export const alertLimits: readonly Limit[] = [
  {
    name: 'Age of a resolved alert',
    value: ALERTS_KEPT_DAYS,
    unit: 'days',
    where: '`GET /v1/alerts`; older ones are deleted',
  },
  {
    name: 'Resolved alerts of a project',
    value: RESOLVED_ALERTS_MAX,
    unit: 'items',
    where: '`GET /v1/alerts`; the oldest are deleted',
  },
];
