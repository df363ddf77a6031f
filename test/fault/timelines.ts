import type { Journal, Person } from './journal.ts';
import type { Site } from './site.ts';

/** What people do most. */
export const PAGE = 'page_viewed';

/** What the API shows of somebody, newest first: the message ids of the pages that they saw. */
export type Timeline = { person: Person; ops: string[] };

const PEOPLE_MAX = 60;
const PAGE_ITEMS_MAX = 200;

/** The timelines of the last people who were linked to a device, undone or not, as the API answers them. */
export const readTimelines = async (
  { apis, projects }: Pick<Site, 'apis' | 'projects'>,
  { people }: Journal,
): Promise<Timeline[]> => {
  const asked = people
    .filter(
      ({ role, isLinked, links }) => role === 'linked' && isLinked !== null && links.linked > 0,
    )
    .slice(-PEOPLE_MAX);
  const [api] = apis;
  const timelines: Timeline[] = [];
  for (const person of asked) {
    const project = Object.values(projects).find(
      ({ project_id }) => project_id === person.projectId,
    );
    const path = `/v1/profiles/external_id:${person.external_id}/events`;
    const response = await fetch(
      `http://127.0.0.1:${api?.service?.port}${path}?event=${PAGE}&limit=${PAGE_ITEMS_MAX}`,
      { headers: { authorization: `Bearer ${project?.server_key}` } },
    );
    const { items } = (await response.json()) as { items: { properties: { op: string } }[] };
    timelines.push({ person, ops: items.map(({ properties }) => properties.op) });
  }
  return timelines;
};
