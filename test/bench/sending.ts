import { createTransport } from 'nodemailer';
import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { newId } from '../../src/base/ids.ts';
import { sendHint } from '../../src/delivery/delivery.ts';
import { LINKS_PER_PROVIDER_MAX } from '../../src/providers/providers.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { EXAMPLE_EVENT, keepExample } from '../../src/runtime/example.ts';
import { withClient } from '../../src/runtime/with_client.ts';
import { checkpoint, openInstallation } from './installation.ts';
import { askAsFastAsAnswered, askAtPace } from './load.ts';
import { median, now, quantile } from './measure.ts';
import type { Comparison } from './measure.ts';
import type { SmtpSettings } from '../../src/providers/settings.ts';
import { startRelay } from './relay_process.ts';

const ROUNDS = 5;
const SENDS = 3_000;
/** Enough for some seconds. */
const SIGN_UPS = 2_000;
const HALF = 0.5;
const PACED_MS = 10_000;
const P99 = 0.99;
const FIRST_BYTE_MS_MAX = 2_000;

/** What both sides send; one of them renders it. */
export const MESSAGE = {
  subject: 'Welcome, {{ profile.first_name }}',
  html: `<!doctype html>
    <html lang="en"><body><h1>Welcome, {{ profile.first_name }}</h1>
    <p>Thank you for signing up. This mail was handed to a real SMTP server.</p></body></html>`,
  text: 'Welcome, {{ profile.first_name }}. Thank you for signing up.',
};

/** An installation with a project, a provider that is a relay of this machine, and a template. */
export const openWorld = async (settings: Partial<SmtpSettings> = {}) => {
  const installation = await openInstallation();
  const relay = await startRelay();
  const project = await keepExample(installation.deps, null, {
    display_name: 'Relay',
    from_email: 'hello@shop.test',
    from_name: 'Shop',
    reply_to: null,
    ...relay.settings,
    ...settings,
  });
  const ask = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
    withClient(installation.url, async (client) => (await client.query<Row>(text, values)).rows);
  const templateId = await inProject(installation.deps, project.project_id, (scope) =>
    saveTemplate(scope, { name: 'bench', ...MESSAGE }),
  );
  const [ids] = await ask<{ provider_id: string; template_id: string }>(
    `select provider_id, template_id from providers.providers join rendering.templates as template using (project_id)
    where template.template_id = $1`,
    [templateId],
  );
  if (!ids) throw new Error('there is no example');
  return { installation, relay, project, ask, ...ids };
};
export type World = Awaited<ReturnType<typeof openWorld>>;

/** Queues sends of one automation to people of their own, as planned ones lie there: the service's ids follow time. */
export const queueSends = async (
  world: Pick<World, 'ask' | 'project' | 'provider_id' | 'template_id'>,
  count: number,
): Promise<void> => {
  const { ask, project, provider_id, template_id } = world;
  const idsOf = () => Array.from({ length: count }, newId);
  await ask(
    `with given as (
      select * from unnest($5::uuid[], $6::uuid[], $7::uuid[], $8::uuid[])
        as given (profile_id, identity_id, run_id, send_id)
    ), person as (
      insert into profiles.profiles (project_id, profile_id, email, traits, created_at, updated_at)
      select $1, profile_id, profile_id || '@people.test', '{"first_name": "Ann"}', now(), now() from given
      returning profile_id, email
    ), identity as (
      insert into identity.identities (project_id, identity_id, kind, value, profile_id, own_profile_id,
        first_seen_at, last_seen_at)
      select $1, identity_id, 'external', profile_id, profile_id, profile_id, now(), now() from given
      returning identity_id
    ), trait as (
      -- As a server says it: an email to an address that a server confirmed shows every trait.
      insert into profiles.traits (project_id, identity_id, key, value, set_at, authority)
      select $1, identity_id, said.key, said.value, now(), 'server' from given
      cross join lateral (values
        ('email', to_jsonb(profile_id || '@people.test')), ('first_name', '"Ann"'::jsonb)
      ) as said (key, value)
    ), address as (
      insert into suppression.addresses (project_id, address_key, email)
      select $1, sha256(email::bytea), email from person
      returning address_key, email
    )
    insert into delivery.sends (project_id, send_id, automation_id, run_id, step_id, identity_id, profile_id,
      provider_id, template_id, template_version, address_key, recipient, status, due_at, queued_at, expires_at)
    select $1, send_id, $2, run_id, 'welcome', identity_id, profile_id, $3, $4, 1,
      address_key, email, 'queued', now(), now(), now() + interval '1 day'
    from given join person using (profile_id) join identity using (identity_id) join address using (email)
    order by send_id`,
    [project.project_id, newId(), provider_id, template_id, idsOf(), idsOf(), idsOf(), idsOf()],
  );
  await ask('vacuum analyze delivery.sends');
};

/** Queues sends while no worker is there to see them, then measures how fast one hands them over. */
const handOver = async (world: World): Promise<number> => {
  // Expected before they are there: the sweeper may find the first before we say so.
  const rateOfAll = world.relay.expect(SENDS);
  await queueSends(world, SENDS);
  await checkpoint(world.installation.url);
  const rate = rateOfAll();
  await hint(world.installation.deps, sendHint(world.project.project_id, world.provider_id));
  return rate;
};

/** The mail library alone: as many connections, the same message, a recipient each. */
const sendAlone = async ({ relay }: World): Promise<number> => {
  const { smtp_host: host, smtp_port: port, username, password } = relay.settings;
  const transport = createTransport({
    pool: true,
    host,
    port,
    ignoreTLS: true,
    auth: { user: username ?? '', pass: password ?? '' },
    maxConnections: LINKS_PER_PROVIDER_MAX,
    maxMessages: Infinity,
  });
  const rate = relay.expect(SENDS)();
  await Promise.all(
    Array.from({ length: SENDS }, (_, at) =>
      transport.sendMail({
        from: { name: 'Shop', address: 'hello@shop.test' },
        to: `alone-${at}@people.test`,
        ...MESSAGE,
      }),
    ),
  );
  transport.close();
  return rate;
};

const loadOf = ({ project }: World, port: number) => ({
  port,
  connections: 16,
  path: '/v1/events',
  token: project.server_key,
});

/** Sign-ups of people of their own, and when each was posted. */
const signUps = () => {
  const postedAt = new Map<string, number>();
  let next = 0;
  const nextBody = (): string => {
    const person = `paced-${(next += 1)}-${performance.now()}`;
    postedAt.set(`${person}@people.test`, now());
    const properties = { email: `${person}@people.test`, first_name: 'Ann' };
    return JSON.stringify({ event: EXAMPLE_EVENT, external_id: person, properties });
  };
  return { postedAt, nextBody };
};

/** How many sign-ups a second are accepted, processed and mailed, when there are more than that. */
const mailSignUps = async (world: World, port: number): Promise<number> => {
  const rateOfAll = world.relay.expect(SIGN_UPS);
  const stop = { afterRequests: SIGN_UPS };
  const rate = rateOfAll();
  await askAsFastAsAnswered(loadOf(world, port), signUps().nextBody, stop);
  return rate;
};

/** Sign-ups at a pace: milliseconds from when each was due to the first byte of its mail. */
export const firstBytes = async (
  world: World,
  port: number,
  perSecond: number,
): Promise<number[]> => {
  const load = loadOf(world, port);
  const { postedAt, nextBody } = signUps();
  const rateOfAll = world.relay.expect(Math.floor((perSecond * PACED_MS) / 1_000));
  await askAtPace(load, nextBody, { perSecond, forMs: PACED_MS });
  await rateOfAll();
  return [...postedAt].map(([to, at]) => (world.relay.firstByteAt.get(to) ?? Infinity) - at);
};

/** Sends handed over to a local relay, beside the mail library alone; first bytes at half load. */
export const sending = async (): Promise<Comparison[]> => {
  const world = await openWorld();
  await world.installation.start('worker');
  const api = await world.installation.start('api');
  await handOver(world);
  await sendAlone(world);
  const measured: number[] = [];
  const comparison: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    measured.push(await handOver(world));
    comparison.push(await sendAlone(world));
  }
  const mailed: number[] = [];
  const paced: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    mailed.push(await mailSignUps(world, api.port));
    paced.push(quantile(await firstBytes(world, api.port, median(mailed) * HALF), P99));
  }
  await world.installation.close();
  world.relay.close();
  return [
    {
      name: 'sends handed over to a local relay, by one worker',
      unit: 'sends/s',
      measured,
      comparedWith: 'the mail library alone, the same connections and message',
      comparison,
      good: { atLeast: 0.6 },
    },
    {
      name: 'event accepted → first byte of its mail, 99 of 100, at half load',
      unit: 'ms',
      measured: paced,
      comparedWith: `what is promised, at half of ${Math.round(median(mailed))} sign-ups/s`,
      comparison: paced.map(() => FIRST_BYTE_MS_MAX),
      good: { atMost: 1 },
    },
  ];
};
