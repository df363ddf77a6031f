// What a provider answered when it was parked or held: where its owner reads it, and what is never in it.
import { describe, expect, test } from 'vitest';
import { IDENTICAL_REFUSALS_MAX } from '../../src/delivery/refusal_streak.ts';
import { explanations } from '../../src/providers/failures.ts';
import { counterparts, fieldsOf, providersOf, sendOneOf } from '../providers/counterparts.ts';
import { ownApi } from '../support/own_api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = ownApi(database);
const { create, read, test: sendTest } = providersOf(api);
const sendOne = sendOneOf(database, api);
const createOne = async (): Promise<string> =>
  (await create(fieldsOf(sinks, 'smtp'))).body.id as string;
const ask = async (path: string) =>
  (await api.call('GET', path, { key: api.project.server_key })).body;
const openAlert = async () => (await ask('/v1/alerts')).items[0];
const stoppedBy = async (sendId: string) =>
  (await ask(`/v1/sends/${sendId}/explain`)).stopped_by as {
    decision: string;
    says: string;
    detail: Record<string, string>;
  };

describe('a refused login', () => {
  const refuseLogin = () =>
    sinks.smtp.play('auth', {
      code: 535,
      text: `5.7.8 ${sinks.smtp.settings.password} of boss@shop.test: changed 2 hours ago`,
    });

  test('parks, and its answer stands with the provider, the waiting send, the alert and explain', async () => {
    const id = await createOne();
    refuseLogin();
    const send = await sendOne(id);
    const { parked } = (await read(id)).body;
    expect(parked).toMatchObject({
      reason: 'authentication_failed',
      answer: { code: 535, enhanced_code: '5.7.8' },
    });
    expect(parked.answer.text).toMatch(/of \[address\]: changed 2 hours ago$/);
    expect(JSON.stringify(parked)).not.toContain(sinks.smtp.settings.password);
    expect(send.waits_for).toMatchObject({ because: 'provider_parked', answer: parked.answer });
    const said = `535 5.7.8 ${parked.answer.text}`;
    expect(await openAlert()).toMatchObject({
      kind: 'provider_parked',
      summary: expect.stringContaining(`It answered: ${said}`),
      details: { reason: 'authentication_failed', answer: said },
    });
    expect((await stoppedBy(send.id)).detail).toMatchObject({ answer: said });
  });

  test('is shown no more once a test message is accepted', async () => {
    const id = await createOne();
    refuseLogin();
    await sendOne(id);
    sinks.smtp.reset();
    expect((await sendTest(id)).status).toBe(200);
    expect((await read(id)).body.parked).toBeNull();
    const { rows } = await database.owner.query(
      'select parked_answer from providers.providers where provider_id = $1',
      [id],
    );
    expect(rows).toEqual([{ parked_answer: null }]);
  });

  test('that parks at a test message shows no words: an editor chooses the host of a test', async () => {
    const id = await createOne();
    refuseLogin();
    expect((await sendTest(id)).status).toBe(422);
    expect((await read(id)).body).toMatchObject({ status: 'parked', parked: { answer: null } });
  });
});

describe('the same refusal to several recipients', () => {
  const REFUSAL = { code: 554, text: '5.7.1 content looks like spam (rule 1234)' };
  const CAUSE = /account, the sender, or what these emails have in common, such as one template/;

  test('is a hold of its own: each place names all three causes, the answer, and what to do', async () => {
    const id = await createOne();
    sinks.smtp.play('end', REFUSAL);
    for (let sends = 0; sends < IDENTICAL_REFUSALS_MAX; sends += 1) await sendOne(id);
    const tried = await sendOne(id);
    const waiting = await sendOne(id);
    const answer = {
      code: 554,
      enhanced_code: '5.7.1',
      text: 'content looks like spam (rule 1234)',
    };
    const said = '554 5.7.1 content looks like spam (rule 1234)';
    expect((await read(id)).body.pace.paused).toMatchObject({
      reason: 'identical_refusals',
      cause: expect.stringMatching(CAUSE),
      answer,
    });
    expect(await openAlert()).toMatchObject({
      summary: expect.stringMatching(CAUSE),
      fix: expect.stringContaining('keeps its template version'),
      details: { reason: 'identical_refusals', answer: said },
    });
    for (const send of [tried, waiting]) {
      expect(send.waits_for).toMatchObject({ because: 'identical_refusals', answer });
      const { decision, says, detail } = await stoppedBy(send.id);
      expect(decision).toBe('waits_for_refusals');
      expect(says).toMatch(CAUSE);
      expect(detail).toMatchObject({ reason: 'identical_refusals', answer: said });
    }
  });

  test('ends with an accepted test message, and so does its answer', async () => {
    const id = await createOne();
    sinks.smtp.play('end', REFUSAL);
    for (let sends = 0; sends <= IDENTICAL_REFUSALS_MAX; sends += 1) await sendOne(id);
    sinks.smtp.reset();
    await sendTest(id);
    expect((await read(id)).body.pace.paused).toBeNull();
    const { rows } = await database.owner.query(
      'select held_answer from providers.paces where provider_id = $1',
      [id],
    );
    expect(rows).toEqual([{ held_answer: null }]);
  });
});

test('another hold of the account is no throttling, and explain says which it is', async () => {
  const id = await createOne();
  sinks.smtp.play('end', { code: 550, text: '5.4.5 Daily user sending limit exceeded.' });
  await sendOne(id);
  const waiting = await sendOne(id);
  const third = await sendOne(id);
  expect(waiting.waits_for).not.toBeNull();
  const { decision, says, detail } = await stoppedBy(third.id);
  expect(decision).toBe('waits_for_pause');
  expect(says).not.toMatch(/throttl|quota/);
  expect(detail).toMatchObject({
    reason: 'quota_exhausted',
    answer: '550 5.4.5 Daily user sending limit exceeded.',
  });
});

test('no cause of a hold says that the words of the answer do not count', () => {
  expect(explanations.identical_refusals.cause).not.toContain('whatever');
});
