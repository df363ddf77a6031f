import type pg from 'pg';
import { keepAdministrator } from '../../src/admin/people.ts';
import { findByEmail } from '../../src/admin/queries.ts';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import * as rendering from '../../src/rendering/rendering.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { Definition } from '../../src/segments/schema.ts';
import { createSegment } from '../../src/segments/segments.ts';
import { addressKey } from '../../src/suppression/suppression.ts';
import type { TestDatabase } from '../support/database.ts';
import { keepProvider } from '../support/kept_provider.ts';
import { EVERYBODY, FORGET, PAST, WORLD, wordsUntil } from './console_past.ts';
import type { Subject } from './console_subject.ts';
import { checkpoint } from './installation.ts';
import type { Installation } from './installation.ts';
import { MESSAGE } from './sending.ts';

/** Who asks for everything: an administrator. */
export const LOGIN = { email: 'bench@trunkline.test', password: 'correct horse battery' };
const AUTOMATIONS = 30;
const TEMPLATES = 30;
const SEGMENTS = 6;

/** What a project sends and to whom: a few of each, the first of them the busiest. */
const keepPlans = async (scope: Scope, providerId: string) => {
  const templates: string[] = [];
  for (let at = 0; at < TEMPLATES; at += 1)
    templates.push(await rendering.saveTemplate(scope, { name: `Template ${at}`, ...MESSAGE }));
  const [templateId = ''] = templates;
  const mail = { provider_id: providerId, template_id: templateId, template_version: 1 };
  const made: string[] = [];
  for (let at = 0; at < AUTOMATIONS; at += 1)
    made.push(
      await automations.createActive(scope, `Automation ${at}`, {
        trigger: { kind: 'event', event: 'user_signed_up', where: [] },
        settings: { re_entry: 'once' },
        entry: 'welcome',
        steps: {
          welcome: { kind: 'send_email', ...mail, next: 'pause' },
          pause: { kind: 'delay', duration: 'P30D', next: 'nudge' },
          nudge: { kind: 'send_email', ...mail, next: null },
        },
      }),
    );
  const definition = Definition.parse({
    where: { kind: 'trait', trait: 'plan', test: { is: 'equals', value: 'pro' } },
  });
  const segments = Array.from({ length: SEGMENTS }, newId);
  for (const [at, segmentId] of segments.entries())
    await createSegment(scope, { segmentId, name: `Segment ${at}`, definition });
  return { templateId, automations: made, segments };
};

type Plans = Awaited<ReturnType<typeof keepPlans>>;

/** Numbers of people whom the questions name. They are alike in projects of any size: their last digits are. */
const numbersOf = (people: number) => ({
  person: people / 2 + 10,
  suppressed: people / 2 + 20,
  unsubscribed: people / 2 + 3,
});
const emailOf = (number: number): string => `user-${number}@people.test`;

const findMade = async (client: pg.Client, number: number) => {
  const { rows } = await client.query<{
    profile_id: string;
    send_id: string;
    link_id: string;
    busy_profile_id: string;
    entries: string;
  }>(
    `select profile_id, pg_temp.id_at(at, 'send' || n) as send_id, pg_temp.id_at(at, 'link' || n) as link_id,
       (select profile_id from person where n = 7) as busy_profile_id, (select max(entry) from member) as entries
     from person where n = $1`,
    [number],
  );
  const [row] = rows;
  if (!row) throw new Error(`there is no person ${number}`);
  return row;
};

type Given = { people: number; until: Date; busyId: string };

/** Writes the past of a project in one session; answers what of it is asked about. */
const writePast = (
  { url, deps }: Installation,
  projectId: string,
  [{ people, until, busyId }, plans, providerId]: [Given, Plans, string],
): Promise<Subject> =>
  withClient(url, async (client) => {
    const numbers = numbersOf(people);
    const idleId = newId();
    const keyOf = (number: number) => addressKey({ keys: deps.keys, projectId }, emailOf(number));
    await client.query(wordsUntil(until));
    const { templateId } = plans;
    const made = [plans.automations, plans.segments, providerId, templateId, busyId, idleId];
    await client.query(WORLD, [projectId, people, ...made]);
    const named = Object.values(numbers);
    await client.query(EVERYBODY, [named, named.map(keyOf)]);
    await client.query('analyze person');
    for (const statement of PAST) await client.query(statement);
    const found = await findMade(client, numbers.person);
    await client.query(FORGET);
    return {
      projectId,
      until,
      person: {
        externalId: `user-${numbers.person}`,
        anonymousId: `device-${numbers.person}`,
        email: emailOf(numbers.person),
        profileId: found.profile_id,
      },
      sendId: found.send_id,
      linkId: found.link_id,
      middleEntry: Math.floor(Number(found.entries) / 2),
      suppressed: emailOf(numbers.suppressed),
      unsubscribed: emailOf(numbers.unsubscribed),
      automationId: plans.automations[0] ?? '',
      segmentIds: plans.segments,
      templateId,
      providerId,
      endpointId: idleId,
      busyId,
      idleId,
      busyProfileId: found.busy_profile_id,
    };
  });

/** A project of so many people, with everything that they and others made in half a year. */
const makeProject = async (installation: Installation, given: Given): Promise<Subject> => {
  const { deps } = installation;
  const { project_id } = await createProject(deps, `${given.people} people`);
  const providerId = newId();
  await keepProvider({ deps } as TestDatabase, project_id, providerId);
  const plans = await inProject(deps, project_id, (scope) => keepPlans(scope, providerId));
  return writePast(installation, project_id, [given, plans, providerId]);
};

/** Projects of so many people, as they lie there on an ordinary day. */
export const makeProjects = async (
  installation: Installation,
  sizes: readonly number[],
): Promise<Subject[]> => {
  const { deps, url } = installation;
  await keepAdministrator(deps, LOGIN);
  const busy = await findByEmail(deps.db, LOGIN.email);
  const until = new Date();
  const subjects: Subject[] = [];
  for (const people of sizes) {
    const startedAt = performance.now();
    subjects.push(
      await makeProject(installation, { people, until, busyId: busy?.person_id ?? '' }),
    );
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    console.log(`  ${people} people with their past: ${seconds} s`);
  }
  await withClient(url, (client) => client.query('vacuum analyze'));
  await checkpoint(url);
  return subjects;
};
