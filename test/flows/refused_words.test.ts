// An attack that was found: a page asserts words on known people, and the relay does not take email that shows them. It
// goes without these words, and stops and slows no other email.
import { afterEach, expect, test } from 'vitest';
import { HANG_MS } from '../../src/delivery/send_queued.ts';
import { lanesOfPages } from '../../src/delivery/turn.ts';
import { LINKS_PER_PROVIDER_MAX } from '../../src/providers/providers.ts';
import type { Action, Moment } from '../support/smtp_script.ts';
import { until } from '../support/until.ts';
import { attackedWorld, TEST_TIMEOUT_MS } from './attacked_world.ts';

const { world, asPage, asServer, mailing, settled } = attackedWorld();
const WORDS = 'Winner';
const SHOWN = {
  subject: 'Order of {{ profile.nick | default: "you" }}',
  source: 'server',
} as const;
const LANES = lanesOfPages(LINKS_PER_PROVIDER_MAX);

afterEach(async () => {
  world.sink.script.reset();
  await world.owner.query('update providers.paces set bare_until = null');
});

const showsWords = ({ raw }: Pick<Moment, 'raw'>): boolean => raw?.includes(WORDS) === true;

/** Makes people with an address of a server and words of a page. */
const makePeople = async (count: number): Promise<string[]> => {
  const name = `known-${crypto.randomUUID().slice(0, 8)}`;
  const ids = Array.from({ length: count }, (_, at) => `${name}-${at}`);
  for (const id of ids) {
    await asServer('/v1/identify', { external_id: id, traits: { email: `${id}@people.test` } });
    const anonymous_id = `page-of-${id}`;
    await asPage('/v1/identify', { external_id: id, anonymous_id, traits: { nick: WORDS } });
  }
  return ids;
};
const orderFor = async (event: string, ids: readonly string[]): Promise<void> => {
  for (const external_id of ids) await asServer('/v1/events', { event, external_id });
};
const takenSubjects = (ids: readonly string[]) =>
  world.sink.mails
    .filter(
      ({ to, answer }) => answer === 250 && ids.some((id) => to.includes(`${id}@people.test`)),
    )
    .map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw.toString())?.[1]);
const readPace = async () => {
  const { rows } = await world.owner.query(
    `select failure_count, opened_until, held_reason, learned_rate, refused_count, bare_until is not null as is_bare,
       provider.status
     from providers.paces as pace join providers.providers as provider using (project_id, provider_id)
     where project_id = $1`,
    [world.project.project_id],
  );
  return rows[0];
};
const WELL = {
  failure_count: 0,
  opened_until: null,
  held_reason: null,
  learned_rate: null,
  refused_count: 0,
  is_bare: true,
  status: 'active',
};

test.each<[string, Action, string]>([
  ['refused', { code: 550, text: '5.7.1 Message rejected as spam' }, 'queued/asserted_refused'],
  [
    'refused for now',
    { code: 451, text: '4.7.1 Suspicious, try later' },
    'queued/asserted_refused',
  ],
  ['too suspicious to go on', { code: 421, text: '4.7.0 Suspicious' }, 'queued/asserted_refused'],
  [
    'taken for the account',
    { code: 550, text: '5.7.1 Account suspended' },
    'queued/asserted_refused',
  ],
  [
    'taken for a missing mailbox',
    { code: 550, text: '5.1.1 User unknown' },
    'queued/asserted_refused',
  ],
  ['taken for too many', { code: 421, text: '4.7.28 Rate limited' }, 'queued/asserted_refused'],
  ['answered by a lost connection', 'drop', 'unknown/outcome_unknown'],
])(
  'attack: words that a page asserts of known people, shown in email of a server and %s, hold nothing else',
  { timeout: TEST_TIMEOUT_MS },
  async (_what, action, stands) => {
    world.sink.play('end', action, { when: showsWords });
    const shown = await mailing(SHOWN);
    const plain = await mailing({ subject: 'Your order', source: 'server' });
    const first = await makePeople(LANES);
    const later = await makePeople(LANES);
    await orderFor(shown, first);
    const standsNow = async () => {
      const { rows } = await world.owner.query<{ stands: string }>(
        `select distinct concat_ws('/', send.status, send.status_reason) as stands from delivery.sends as send
         join automations.automations as automation using (project_id, automation_id) where automation.name = $1`,
        [shown],
      );
      return rows.map((row) => row.stands);
    };
    await until('the words are suspected', async () => (await readPace())?.is_bare === true);
    // What the first claim did not take goes without the words.
    const isOver = (found: string[]) => found.every((one) => one === stands || one === 'accepted');
    const found = await until('none is under way', async () => {
      const all = await standsNow();
      return isOver(all) ? all : null;
    });
    expect(found).toContain(stands);
    expect(await readPace()).toMatchObject(WELL);
    await orderFor(plain, first.slice(0, 1));
    expect(await settled(plain, 1)).toEqual({ accepted: 1 });
    const others = await mailing(SHOWN);
    await orderFor(others, later);
    expect(await settled(others, LANES)).toEqual({ accepted: LANES });
    expect(new Set(takenSubjects(later))).toEqual(new Set(['Order of you']));
  },
);

test(
  'attack: email of a server whose words of a page were refused arrives without them',
  { timeout: TEST_TIMEOUT_MS },
  async () => {
    world.sink.play('end', { code: 451, text: '4.7.1 Suspicious' }, { when: showsWords });
    const shown = await mailing(SHOWN);
    const ids = await makePeople(LANES);
    await orderFor(shown, ids);
    expect(await settled(shown, LANES)).toEqual({ accepted: LANES });
    expect(takenSubjects(ids)).toEqual(Array.from({ length: LANES }, () => 'Order of you'));
  },
);

test(
  'attack: email of a server for whose words of a page the relay hangs holds up no other for longer than a moment',
  { timeout: TEST_TIMEOUT_MS + HANG_MS },
  async () => {
    world.sink.play('end', 'hang', { when: showsWords });
    const shown = await mailing(SHOWN);
    const plain = await mailing({ subject: 'Your order', source: 'server' });
    // Two workers hand over, each with lanes of its own.
    const hanging = await makePeople(4 * LANES);
    await orderFor(shown, hanging);
    await until('the relay hangs', () => world.sink.mails.filter(showsWords).length >= LANES);
    await orderFor(plain, hanging.slice(0, 1));
    expect(await settled(plain, 1)).toEqual({ accepted: 1 });
    await until('the others go without the words', () => takenSubjects(hanging).length > 1);
  },
);
