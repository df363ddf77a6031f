// `make seed people=… events=… [project=…] [days=…] [seed=…] [until=…]`: a project with people and their past.
import { z } from 'zod';
import { asOperator } from '../base/audit.ts';
import { openDb } from '../base/db.ts';
import { runtimeUrl } from '../base/roles.ts';
import { createProject, findProject } from '../projects/projects.ts';
import { findDatabase, findOwnerDatabase } from './find_database.ts';
import { readKeys } from './home.ts';
import { runCommand } from './run_command.ts';
import { makeSeed } from './seed/make.ts';
import type { SeedOptions } from './seed/past.ts';
import { withClient } from './with_client.ts';

const PEOPLE_MAX = 5_000_000;
const EVENTS_MAX = 500_000_000;
/** Within the timeline's accepted range, with a margin for the months' lengths. */
const DAYS_MAX = 700;
const SEED_MAX = 1_000_000;
const SAY_EVERY_MS = 1_000;
const CONNECTIONS = 3;

const SEEDED = [
  'ingest.events',
  'ingest.devices',
  'identity.identities',
  'identity.links',
  'profiles.profiles',
  'profiles.traits',
  'automations.runs',
  'delivery.sends',
  'delivery.attempts',
  'feedback.notices',
  'suppression.addresses',
];

const count = (most: number) => z.coerce.number().int().min(1).max(most);
const Options = z
  .strictObject({
    people: count(PEOPLE_MAX).default(1_000),
    events: count(EVENTS_MAX).default(100_000),
    days: count(DAYS_MAX).default(365),
    seed: count(SEED_MAX).default(1),
    project: z.uuid().optional(),
    until: z.coerce.date().default(() => new Date()),
  })
  .refine(({ people, events }) => events >= people, {
    path: ['events'],
    error: 'everybody has one event at least: give more events than people',
  });

/** `people=10 days=` as the settings that were given. */
const readOptions = (args: string[]) => {
  const given = args
    .map((arg) => /^(\w+)=(.+)$/.exec(arg))
    .flatMap((match) => (match ? [[match[1], match[2]]] : []));
  const result = Options.safeParse(Object.fromEntries(given));
  if (result.success) return result.data;
  throw new Error(z.prettifyError(result.error));
};

/** Says every second how far it is, and how fast it stores what was not there from before. */
const newProgress = (events: number) => {
  const startedAt = performance.now();
  let saidAt = startedAt;
  return (there: number, stored: number): void => {
    const now = performance.now();
    if (now - saidAt < SAY_EVERY_MS && there < events) return;
    saidAt = now;
    const perSecond = Math.round(stored / ((now - startedAt) / 1_000));
    const how = stored === 0 ? 'there already' : `${perSecond.toLocaleString('en')} a second`;
    console.error(
      `  ${there.toLocaleString('en')} of ${events.toLocaleString('en')} events, ${how}`,
    );
  };
};

/** What goes on with a seed, or does nothing when all of it is there. */
const commandOf = ({ until, ...counts }: SeedOptions, projectId: string): string =>
  Object.entries({ ...counts, project: projectId, until: until.toISOString() })
    .map(([name, value]) => ` ${name}=${value}`)
    .join('')
    .replace(/^/, 'make seed');

const main = async ({ project, ...options }: SeedOptions & { project?: string | undefined }) => {
  const keys = await readKeys();
  const db = await openDb(runtimeUrl(await findDatabase(), keys), CONNECTIONS);
  try {
    if (project !== undefined && !(await findProject(db, project)))
      throw new Error(`There is no project ${project}.`);
    const made =
      project === undefined
        ? await createProject(asOperator({ db, keys }, 'make seed'), 'Seeded')
        : { project_id: project };
    // Before the work: whoever is interrupted keeps the keys, and knows how to go on.
    console.log(JSON.stringify(made, null, 2));
    if (project !== undefined)
      console.error('  into a project that is there: its keys were shown when it was made');
    console.error(
      `  if this is interrupted, this goes on with it: ${commandOf(options, made.project_id)}`,
    );
    await makeSeed({ db, keys }, made.project_id, options, newProgress(options.events));
  } finally {
    await db.end();
  }
  // So that plans are right from the start; the server would see to it by itself in some minutes.
  await withClient(await findOwnerDatabase(), (client) =>
    client.query(`analyze ${SEEDED.join(', ')}`),
  );
};

await runCommand(() => main(readOptions(process.argv.slice(2))));
