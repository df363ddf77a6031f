// A test shows the class of a failure, never what the other side said: the test button is no window into a network.
// A send shows what a relay answered to it, after the relay took the login, without other addresses.
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { counterparts, fieldsOf, providersOf, sendOneOf } from '../providers/counterparts.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { cloudError } from '../support/cloud_sink.ts';
import { testDatabase } from '../support/database.ts';
import { loggedOf } from '../support/logged.ts';
import { relayError } from '../support/relay_sink.ts';
import type { Stage } from '../support/smtp_script.ts';

const database = testDatabase();
const logged = loggedOf(database);
const sinks = counterparts(database);
const api = testApi(database);
const { create, read, list, change, test: send } = providersOf(api);
const sendOne = sendOneOf(database, api);

/** What a host within says of itself, and of whom it was asked about. */
const SAID = 'db7.internal.example OpenSSH_9.9 root:x:0 ann.secret@people.test';
const WORDS = SAID.split(' ');

const OTHER_ADDRESS = WORDS.at(-1) ?? '';

/** Takes away what may be shown: what was answered to a send, or to the login before it. */
const withoutAnswers = (shown: object): unknown =>
  JSON.parse(
    JSON.stringify(shown, (name, value: unknown) => {
      if (name !== 'answer') return value;
      expect(JSON.stringify(value)).not.toContain(OTHER_ADDRESS);
      return null;
    }),
  );

const expectSilence = (answers: unknown): void => {
  const text = JSON.stringify(answers);
  expect(text.length).toBeGreaterThan(100);
  for (const word of WORDS) expect(text).not.toContain(word);
};

/** A record of a kind, asked for everything that shows what went wrong with it, in a project of its own. */
const useBroken = async (kind: Parameters<typeof fieldsOf>[1], breakIt: () => void) => {
  sinks.relay.reset();
  sinks.cloud.reset();
  api.project = await createProject(database.deps, 'its own');
  const { id } = (await create(fieldsOf(sinks, kind))).body;
  breakIt();
  const answers = [
    await create(fieldsOf(sinks, kind)),
    await change(id, fieldsOf(sinks, kind)),
    await send(id),
    await read(id),
    await list(),
  ];
  const sent = await sendOne(id);
  const key = api.project.server_key;
  const explained = await api.call('GET', `/v1/sends/${sent.id}/explain`, { key });
  return [...answers.map(({ body }) => body), withoutAnswers(sent), withoutAnswers(explained.body)];
};

const STAGES: Stage[] = ['connect', 'starttls', 'auth', 'mail', 'rcpt', 'data', 'end'];

test.each(STAGES)(
  'nothing of what a relay says at %s comes back, saved, tried or sent',
  async (stage) => {
    for (const code of [421, 550]) {
      const reply = { code, text: SAID };
      expectSilence(await useBroken('smtp', () => sinks.smtp.play(stage, reply)));
      // It did say so, whenever it was asked.
      expect(sinks.smtp.script.played.length).toBeGreaterThan(0);
      sinks.smtp.reset();
    }
  },
);

test('nothing of what an API answers comes back, saved, tried or sent', async () => {
  for (const status of [400, 401, 403, 429, 500]) {
    const relay = () => sinks.relay.play('', relayError(status, 'E_ApiResponseCodes.X', SAID));
    expectSilence(await useBroken('relay_api', relay));
    expect(sinks.relay.requests.length).toBeGreaterThan(1);
    const cloud = () => sinks.cloud.play('', cloudError(status, 'MessageRejected', SAID));
    expectSilence(await useBroken('cloud_api', cloud));
    expect(sinks.cloud.requests.length).toBeGreaterThan(1);
  }
});

test('nor is any of it logged', async () => {
  const sendBroken = async (kind: Parameters<typeof fieldsOf>[1], breakIt: () => void) => {
    api.project = await createProject(database.deps, 'logged');
    for (const sink of [sinks.smtp, sinks.relay, sinks.cloud]) sink.reset();
    const { id } = (await create(fieldsOf(sinks, kind))).body;
    for (const sink of [sinks.smtp, sinks.relay, sinks.cloud]) sink.reset();
    breakIt();
    await sendOne(id);
  };
  for (const stage of STAGES) {
    await sendBroken('smtp', () => sinks.smtp.play(stage, { code: 535, text: SAID }));
    expect([stage, sinks.smtp.script.played.length > 0]).toEqual([stage, true]);
  }
  await sendBroken('relay_api', () => sinks.relay.play('', relayError(401, 'E_X', SAID)));
  expect(sinks.relay.requests.length).toBeGreaterThan(0);
  await sendBroken('cloud_api', () => sinks.cloud.play('', cloudError(403, 'AccessDenied', SAID)));
  expect(sinks.cloud.requests.length).toBeGreaterThan(0);
  expect(logged.join('')).toContain('provider parked');
  expectSilence(logged);
});

describe('429 rate_limited', () => {
  test('429 rate_limited: tests, changes and new providers share one limit', async () => {
    api.project = await createProject(database.deps, 'a scanner');
    const { id } = (await create(fieldsOf(sinks, 'smtp'))).body;
    const ways = [
      () => create(fieldsOf(sinks, 'smtp', { smtp_port: 1 })),
      () => change(id, { smtp_port: 1, password: newId() }),
      () => send(id),
    ];
    let asked = 0;
    for (let status = 0; status !== 429; asked += 1) {
      expect(asked).toBeLessThan(100);
      ({ status } = (await ways[asked % ways.length]?.()) ?? { status: 0 });
    }
    // Whichever way was refused first, the others are, too.
    for (const way of ways) expectRefusal(await way(), 'rate_limited');
  });
});
