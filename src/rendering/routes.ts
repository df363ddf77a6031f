import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { NothingNeeded, route } from '../base/route.ts';
import type { Route } from '../base/route.ts';
import { UNITS } from '../base/work_units.ts';
import {
  addTemplate,
  addTemplateVersion,
  pageTemplates,
  pageVersions,
  showTemplate,
} from './acts.ts';
import { ALL, findNamedVersion, inAll, named, ONE, VersionParams } from './addressed.ts';
import type { PreviewDoors } from './preview.ts';
import { previewRoutes } from './preview_routes.ts';
import { archive, restore } from './records.ts';
import type { ListUsers } from './records.ts';
import * as schema from './schema.ts';
import * as shown from './shown.ts';

export { templateLimits } from './schema.ts';

const listRoutes = [
  route({
    ...inAll,
    method: 'POST',
    path: ALL,
    summary: 'Keep a template, as its version 1.',
    description:
      'It is read and tried on its sample first: whatever is wrong is refused with its line and column, and what ' +
      'to do about it.',
    body: schema.NewTemplate,
    bodyBytesMax: schema.TEMPLATE_BODY_BYTES_MAX,
    workOf: () => [{ units: UNITS.render }],
    status: 201,
    answer: shown.Saved,
    handle: ({ deps, caller: { projectId }, body, repetitionId = newId() }) =>
      addTemplate({ deps, projectId }, repetitionId, body),
  }),
  route({
    ...inAll,
    method: 'GET',
    path: ALL,
    summary: 'List templates, newest first.',
    query: z.strictObject({
      ...pageQuery,
      archived: z
        .enum(['true', 'false'])
        .default('false')
        .meta({ description: 'Those that are archived, instead of the others.' }),
    }),
    status: 200,
    answer: pageOf(shown.Listed),
    handle: ({ deps, caller, query }) =>
      inProject(deps, caller.projectId, (scope) =>
        pageTemplates(scope, query, query.archived === 'true'),
      ),
  }),
];

const readRoutes = [
  route({
    ...named,
    method: 'GET',
    path: ONE,
    summary: 'Read one template, in its latest version.',
    status: 200,
    answer: shown.Template,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, (scope) => showTemplate(scope, found)),
  }),
  route({
    ...named,
    method: 'GET',
    path: `${ONE}/versions`,
    summary: 'List the versions of a template, newest first.',
    query: z.strictObject(pageQuery),
    status: 200,
    answer: pageOf(shown.VersionListed),
    handle: ({ deps, caller, found, query }) =>
      inProject(deps, caller.projectId, (scope) => pageVersions(scope, found.template_id, query)),
  }),
  route({
    access: 'server',
    method: 'GET',
    path: `${ONE}/versions/:version`,
    summary: 'Read a version of a template.',
    params: VersionParams,
    find: findNamedVersion,
    status: 200,
    answer: shown.VersionShown,
    handle: ({ found }) => Promise.resolve(shown.toVersionShown(found)),
  }),
];

const versionRoute = route({
  ...named,
  method: 'POST',
  path: `${ONE}/versions`,
  example: shown.NEXT_SHOWN,
  summary: 'Keep the next version of a template.',
  description:
    'Automations go on with the version that they name. `after_version` is the latest that you have seen: if there ' +
    'is a newer one by now, 409 `template_changed`.',
  body: schema.NewVersion,
  workOf: () => [{ units: UNITS.render }],
  bodyBytesMax: schema.TEMPLATE_BODY_BYTES_MAX,
  status: 201,
  answer: shown.Saved,
  refusals: ['template_changed', 'template_archived'],
  handle: ({ deps, caller: { projectId }, found, body }) =>
    addTemplateVersion({ deps, projectId }, found, body),
});

const lifeRoutes = (listUsers: ListUsers) => [
  versionRoute,
  route({
    ...named,
    method: 'POST',
    path: `${ONE}/archive`,
    example: shown.ARCHIVED_SHOWN,
    summary: 'Put a template away: nothing new may name it.',
    description:
      'What is on its way with one of its versions is still sent. Refused, with their names, while automations that ' +
      'are active or paused send it.',
    body: NothingNeeded,
    isBodyOptional: true,
    status: 200,
    answer: shown.Listed,
    refusals: ['template_in_use'],
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, async (scope) =>
        shown.toListed(await archive(scope, found.template_id, listUsers)),
      ),
  }),
  route({
    ...named,
    method: 'POST',
    path: `${ONE}/restore`,
    summary: 'Bring a template back.',
    body: NothingNeeded,
    isBodyOptional: true,
    status: 200,
    answer: shown.Listed,
    handle: ({ deps, caller, found }) =>
      inProject(deps, caller.projectId, async (scope) =>
        shown.toListed(await restore(scope, found.template_id)),
      ),
  }),
];

export type TemplateDoors = PreviewDoors & { listUsers: ListUsers };

/** The endpoints of templates. Who sends one, and to whom it may be shown, is for rooms above this one to say. */
export const templateRoutes = (doors: TemplateDoors): readonly Route[] => [
  ...listRoutes,
  ...readRoutes,
  ...lifeRoutes(doors.listUsers),
  ...previewRoutes(doors),
];
