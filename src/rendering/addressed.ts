import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Addressed } from '../base/route.ts';
import { findHead, findVersion } from './queries.ts';
import type { Head } from './queries.ts';

const PROJECT = z.string().meta({
  description: 'The project that the key belongs to.',
  examples: ['019a9f0c-6c00-7cc3-98c4-dc0c0c07398f'],
});
const ProjectParams = z.object({ project_id: PROJECT });
const OneParams = z.object({
  project_id: PROJECT,
  id: z.uuid().meta({ description: "The template's id." }),
});
export const VersionParams = z.object({
  ...OneParams.shape,
  version: z
    .string()
    .regex(/^[1-9]\d{0,8}$/)
    .meta({ description: 'The number of the version.', examples: ['1'] }),
});

const isOwn = ({ caller, params }: Addressed): boolean => params['project_id'] === caller.projectId;

const findOwnProject = (addressed: Addressed): Promise<true | null> =>
  Promise.resolve(isOwn(addressed) ? true : null);

/** The template that the path names, or null. */
const find = (addressed: Addressed): Promise<Head | null> => {
  const named = OneParams.safeParse(addressed.params);
  if (!named.success || !isOwn(addressed)) return Promise.resolve(null);
  const { deps, caller } = addressed;
  return inProject(deps, caller.projectId, (scope) => findHead(scope, named.data.id));
};

/** The version that the path names, or null. */
export const findNamedVersion = (addressed: Addressed) => {
  const named = VersionParams.safeParse(addressed.params);
  if (!named.success || !isOwn(addressed)) return Promise.resolve(null);
  const { deps, caller } = addressed;
  const { id, version } = named.data;
  return inProject(deps, caller.projectId, (scope) => findVersion(scope, id, Number(version)));
};

export const ALL = '/v1/projects/:project_id/templates';
export const ONE = `${ALL}/:id`;
export const named = { access: 'server', params: OneParams, find } as const;
export const inAll = { access: 'server', params: ProjectParams, find: findOwnProject } as const;
