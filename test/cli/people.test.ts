// What is asked about people: why they were mailed or not, what would have been, and who is to be left alone.
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createAdminClient } from '../../src/admin/client.ts';
import type { AdminClient } from '../../src/admin/client.ts';
import { EXIT_CODES } from '../../src/cli/failure.ts';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { explanations } from '../../src/providers/failures.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { makeWelcome, testAdmin, testWorker } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testCli } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
testWorker(database);
const { as } = testCli(database, api);

let viewer: SignedInPerson;
let editor: SignedInPerson;
let client: AdminClient;
let sendId: string;
const read = (...args: string[]) => as(viewer, args);

beforeAll(async () => {
  const { project_id: projectId, server_key: key } = api.project;
  viewer = await makePerson(database, { projectId, role: 'viewer' });
  editor = await makePerson(database, { projectId, role: 'editor' });
  client = createAdminClient({ url: api.url, cookie: editor.cookie });
  await makeWelcome(database, projectId);
  const where = {
    kind: 'all' as const,
    of: [
      { kind: 'trait' as const, trait: 'plan', test: { is: 'equals' as const, value: 'pro' } },
      {
        kind: 'event' as const,
        event: 'user_signed_up',
        count: { is: 'at_least' as const, value: 1 },
        within_days: 30,
      },
    ],
  };
  await client.segments.create.mutate({ projectId, name: 'New on Pro', definition: { where } });
  const signUp = { event: 'user_signed_up', external_id: 'ann' };
  const properties = { email: 'ann@example.com', first_name: 'Ann' };
  await api.call('POST', '/v1/events', { key, body: { ...signUp, properties } });
  await vi.waitUntil(async () => (await client.sends.list.query({ projectId })).items.length > 0, {
    timeout: 20_000,
  });
  sendId = (await client.sends.list.query({ projectId })).items[0]?.id ?? '';
});

describe('explain', () => {
  test('of an automation and a person: every decision, and what stops it', async () => {
    const { code, stdout } = await read('explain', 'Welcome', 'ann');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Welcome: ann\nAT +STEP +DECISION\n/);
    expect(stdout).toMatch(/Z +entered +A run began\./);
    expect(stdout).toMatch(/Z +remember +profile_updated +The profile was told something\./);
    expect(stdout).toMatch(/(Stopped by \w+: |Nothing stops it\.)/);
    const byAddress = await read('explain', 'Welcome', 'ann@example.com', '--json');
    expect(JSON.parse(byAddress.stdout).decisions[0]).toMatchObject({ decision: 'entered' });
  });

  test('of a segment and a person: which condition holds, and what it was asked of', async () => {
    const { code, stdout } = await read('explain', 'New on Pro', 'ann');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ann is not in New on Pro\.\n/);
    expect(stdout).toContain('✗ all of these\n  ✗ plan equals "pro"');
    expect(stdout).toMatch(/✓ user_signed_up at least 1 times, in 30 days +is 1, last \d{4}-/);
  });

  test('of a send by its id: hand-offs, too', async () => {
    const { code, stdout } = await read('explain', sendId);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Send ${sendId}\n`)]);
    expect(stdout).toMatch(/send_queued +The mail was handed to delivery\. category=marketing/);
    expect(JSON.parse((await read('explain', sendId, '--json')).stdout)).toMatchObject({
      send_id: sendId,
    });
  });

  test('of a send that failed or waits: what to do about it, in a line of its own', async () => {
    const { rows } = await database.owner.query<{ status: string; reason: string | null }>(
      'select status, status_reason as reason from delivery.sends where send_id = $1',
      [sendId],
    );
    const stand = (status?: string, reason?: string | null) =>
      database.owner.query(
        'update delivery.sends set status = $2, status_reason = $3 where send_id = $1',
        [sendId, status, reason],
      );
    onTestFinished(async () => void (await stand(rows[0]?.status, rows[0]?.reason)));
    await stand('rejected', 'sender_not_verified');
    const { fix } = explanations.sender_not_verified;
    for (const words of [['Welcome', 'ann'], [sendId]]) {
      const { stdout } = await read('explain', ...words);
      expect(stdout).toContain('reason=sender_not_verified\n');
      expect(stdout).toMatch(/\nStopped by send_rejected: .*\nWhat to do about send_rejected: /);
      expect(stdout).toContain(`: ${fix}\n`);
    }
  });

  test.each([
    [['Welcom', 'ann'], 2, 'Did you mean Welcome?'],
    [['Welcome'], 2, 'Say who: trunkline explain "Welcome" <person>'],
    [['Welcome', 'nobody'], 1, 'Nobody is called nobody in this project.'],
    [[newId()], 1, 'There is no such send.'],
    [[newId(), 'ann'], 2, 'a send is of one person already'],
  ])('%j is answered with %i, and why', async (args, code, says) => {
    const said = await read('explain', ...args);
    expect([said.code, said.stdout, said.stderr]).toEqual([
      code,
      '',
      expect.stringContaining(says),
    ]);
  });

  test('2: what an automation and a segment are both called is said by the id', async () => {
    const projectId = api.project.project_id;
    await client.segments.create.mutate({ projectId, name: 'Welcome' });
    const { code, stderr } = await read('explain', 'Welcome', 'ann');
    expect([code, stderr]).toEqual([2, expect.stringContaining('2 things are called Welcome')]);
    expect(stderr).toMatch(/[\da-f-]{36} {2}automation\n {2}[\da-f-]{36} {2}segment/);
    const { items } = await client.automations.list.query({ projectId });
    expect((await read('explain', items[0]?.id ?? '', 'ann')).code).toBe(0);
    const segments = await client.segments.list.query({ projectId });
    const segmentId = segments.items.find(({ name }) => name === 'Welcome')?.id ?? '';
    expect((await read('explain', segmentId, 'ann')).stdout).toContain('ann is not in Welcome.');
    await client.segments.remove.mutate({ projectId, segmentId });
  });
});

describe('simulate', () => {
  test('says how many would have come to each step', async () => {
    const { code, stdout } = await read('simulate', 'Welcome', '--days', '7');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Welcome, version 1, from \S+Z to \S+Z\ntriggered: 1, entered: 1\n/);
    expect(stdout).toMatch(/^welcome +1 +1$/m);
    expect(stdout).toMatch(/\nNobody was mailed\.\n$/);
    const told = JSON.parse((await read('simulate', 'Welcome', '--json')).stdout);
    expect(told).toMatchObject({ entered: 1, reached: { remember: 1, welcome: 1 } });
    expect(Date.parse(told.to) - Date.parse(told.from)).toBe(30 * 86_400_000);
  });

  test('1: further back than is kept is refused, and 2: what is no automation', async () => {
    const far = await read('simulate', 'Welcome', '--days', '91');
    expect([far.code, far.stderr]).toEqual([1, expect.stringContaining('This is refused: days: ')]);
    const wrong = await read('simulate', 'New on Pro');
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('no automation called'),
    ]);
  });
});

describe('suppress', () => {
  const email = 'bob@example.com';
  const state = () => client.suppressions.read.query({ projectId: api.project.project_id, email });

  test('an address is left alone, with a reason, and may have mail again', async () => {
    const told = await as(editor, ['suppress', email, '--reason', 'asked on the phone']);
    expect(told.stdout).toMatch(
      /^bob@example.com is suppressed since \S+Z: manual, by console\.\n$/,
    );
    expect((await state()).history[0]).toMatchObject({
      change: 'suppressed',
      note: 'asked on the phone',
    });
    const lifted = await as(editor, [
      'suppress',
      email,
      '--lift',
      '--reason',
      'came back',
      '--json',
    ]);
    expect(JSON.parse(lifted.stdout)).toMatchObject({ email, suppressed: null });
    expect((await state()).history[0]).toMatchObject({ change: 'released', note: 'came back' });
  });

  test('blanks around an address that was pasted are no part of it', async () => {
    const told = await as(editor, ['suppress', '\u00A0 pasted@example.com\t ']);
    expect([told.code, told.stdout]).toEqual([
      0,
      expect.stringMatching(/^pasted@example\.com is suppressed since/),
    ]);
  });

  test('an address in another alphabet is one, to suppress and to lift', async () => {
    const carl = 'carl@bücher.example';
    const told = await as(editor, ['suppress', carl]);
    expect([told.code, told.stdout]).toEqual([
      0,
      expect.stringMatching(/^carl@bücher\.example is suppressed since/),
    ]);
    const lifted = await as(editor, ['suppress', carl, '--lift', '--reason', 'came back']);
    expect(lifted.stdout).toBe('carl@bücher.example is not suppressed.\n');
  });

  test('1: a complaint is lifted only when that is said', async () => {
    await inProject(database.deps, api.project.project_id, (scope) =>
      suppress(scope, { email, reason: 'complaint', source: 'smtp' }),
    );
    const lift = ['suppress', email, '--lift', '--reason', 'wants it'];
    const refused = await as(editor, lift);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('The recipient complained'),
    ]);
    expect((await as(editor, [...lift, '--lift-complaint'])).stdout).toBe(
      'bob@example.com is not suppressed.\n',
    );
  });

  test('1: a viewer suppresses nobody, and an address must be one', async () => {
    const refused = await as(viewer, ['suppress', 'eve@example.com', '--json']);
    expect([refused.code, JSON.parse(refused.stderr).error]).toEqual([
      EXIT_CODES.failed,
      'role_too_low',
    ]);
    const wrong = await as(editor, ['suppress', 'eve']);
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      'This is refused: email: must be one e-mail address, such as ann@example.com\n',
    ]);
    const told = JSON.parse((await as(editor, ['suppress', 'eve', '--json'])).stderr);
    expect([told.error, told.issues[0].path]).toEqual(['invalid_request', '/email']);
  });
});
