// Two causes at once: the one that is asked first is the one that is named, of the person and of the mail.
import { expect, test } from 'vitest';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { testDatabase } from '../support/database.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const { api, ask, get, post, work, make, set } = automationsThroughApi(database);

/** What is about to happen: causes change it. */
type Case = {
  id: string;
  /** Nobody else has this name, and no other automation waits for this event. */
  name: string;
  who: string;
  email: string;
};
type Cause = {
  /** Why nothing is sent, as it is named. */
  says: string;
  define?: (definition: NewDefinition) => NewDefinition;
  /** What happened long before, what was done then, and what is done to the send. */
  past?: (given: Case) => Promise<unknown>;
  done?: (given: Case) => Promise<unknown>;
  sent?: (given: Case) => Promise<unknown>;
  event?: Record<string, unknown> | null;
  isDraft?: true;
  hasNoAddress?: true;
};

const setting = (settings: NonNullable<NewDefinition['settings']>) => (given: NewDefinition) => ({
  ...given,
  settings: { ...given.settings, ...settings },
});
const first = (step: NewDefinition['steps'][string]) => (given: NewDefinition) => ({
  ...given,
  entry: 'first',
  steps: { ...given.steps, first: step },
});
const hour = (ahead: number) =>
  `${String((new Date().getUTCHours() + ahead + 24) % 24).padStart(2, '0')}:00`;
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

const happen = async ({ name, who }: Case, given: object = {}) => {
  await ask('POST', '/v1/events', {
    event: name,
    external_id: who,
    properties: { plan: 'pro' },
    ...given,
  });
  await work();
};
const setSend = ({ id }: Case, changes: string) =>
  database.owner.query(
    `update delivery.sends set ${changes} where automation_id = $1 and status = 'queued'
     and not exists (select from providers.providers where project_id = $2 and status = 'parked')`,
    [id, api.project.project_id],
  );

const isPro = [{ property: 'plan', test: { is: 'equals', value: 'pro' } }];
const HELD_OUT = { name: 'a', weight: 1, next: null, is_holdout: true };

/** In the order in which they are asked. */
const CAUSES: Cause[] = [
  { says: 'automation_draft', isDraft: true },
  { says: 'automation_archived', done: ({ id }) => post(`/${id}/archive`) },
  { says: 'automation_paused', done: ({ id }) => post(`/${id}/pause`) },
  { says: 'not_triggered', event: null },
  {
    says: 'filter',
    define: (given) => ({ ...given, trigger: { ...given.trigger, where: isPro } as never }),
    event: { properties: { plan: 'free' } },
  },
  { says: 'late', event: { occurred_at: hoursAgo(30) } },
  { says: 're_entry', define: setting({ re_entry: 'once' }), past: (given) => happen(given) },
  {
    says: 'held_out',
    define: first({ kind: 'split', ways: [HELD_OUT, { ...HELD_OUT, name: 'b', next: 'mail' }] }),
  },
  { says: 'no_address', hasNoAddress: true },
  { says: 'quiet_hours', define: setting({ quiet_hours: { from: hour(-1), to: hour(3) } }) },
  {
    says: 'frequency_cap_skipped',
    define: setting({ frequency_cap: { sends: 1, per: 'P7D', over: 'skip' } }),
    past: ({ who, name }) => happen({ who, name: `${name}_beside`, id: '', email: '' }),
  },
  {
    says: 'send_suppressed',
    done: ({ email }) => ask('POST', '/v1/suppressions', { email }),
  },
  { says: 'send_unsubscribed', done: ({ email }) => ask('POST', '/v1/unsubscribes', { email }) },
  {
    says: 'provider_parked',
    done: () =>
      set(`update providers.providers set status = 'parked', parked_reason = 'invalid_key'`),
  },
  {
    says: 'send_failed_render',
    sent: (given) => setSend(given, `status = 'failed_render', status_reason = 'no such variable'`),
  },
];
/** What cannot be so together: the past of one is what the other says did not happen. */
const CONTRADICTORY = [
  'automation_draft/automation_archived',
  'automation_draft/automation_paused',
  'automation_archived/automation_paused',
  'not_triggered/re_entry',
];

let cases = 0;
const begin = async (causes: Cause[]): Promise<Case> => {
  cases += 1;
  const name = `came_${cases}`;
  const who = `person_${cases}`;
  const email = `${who}@example.com`;
  const traits = causes.some(({ hasNoAddress }) => hasNoAddress) ? {} : { email };
  await ask('POST', '/v1/identify', { external_id: who, traits });
  const definition: NewDefinition = {
    trigger: { kind: 'event', event: name },
    settings: { re_entry: 'every_time' },
    entry: 'mail',
    steps: { mail: mailShown() },
  };
  const beside = { ...definition, trigger: { kind: 'event' as const, event: `${name}_beside` } };
  await post(`/${await make(beside, `${name} beside`)}/activate`);
  const id = await make(
    causes.reduce((made, { define }) => define?.(made) ?? made, definition),
    name,
  );
  if (!causes.some(({ isDraft }) => isDraft)) await post(`/${id}/activate`);
  return { id, name, who, email };
};

/** Has several causes be so at once; answers what is said of the person, and of their mail if there is one. */
const explained = async (causes: Cause[]) => {
  await set(`update providers.providers set status = 'active', parked_reason = null`);
  const given = await begin(causes);
  for (const { past } of causes) await past?.(given);
  for (const { done } of causes) await done?.(given);
  const events = causes.flatMap(({ event }) => (event === undefined ? [] : [event]));
  if (!events.includes(null)) await happen(given, Object.assign({}, ...events) as object);
  for (const { sent } of causes) await sent?.(given);
  const { stopped_by } = await get(`/${given.id}/explain?profile_id=external_id:${given.who}`);
  const { items } = (await ask('GET', `/v1/sends?automation_id=${given.id}`)).body;
  const isOfEvent = !causes.some(({ says }) => says === 're_entry');
  const told =
    items[0] && isOfEvent ? (await ask('GET', `/v1/sends/${items[0].id}/explain`)).body : null;
  return { person: stopped_by?.decision, mail: told?.stopped_by?.decision ?? null };
};

test.each(CAUSES.map((cause, at) => [cause.says, at] as const))(
  '%s is named alone, and before everything that is asked later',
  async (says, at) => {
    const cause = CAUSES[at] ?? { says };
    for (const later of [null, ...CAUSES.slice(at + 1)]) {
      if (later && CONTRADICTORY.includes(`${says}/${later.says}`)) continue;
      const { person, mail } = await explained(later ? [cause, later] : [cause]);
      const pair = `${says} with ${later?.says ?? 'nothing'}`;
      expect([pair, person]).toEqual([pair, says]);
      if (mail !== null) expect([pair, mail]).toEqual([pair, says]);
    }
  },
  60_000,
);
