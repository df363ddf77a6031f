// Alerts and webhook endpoints in the command line.
import { beforeAll, expect, test } from 'vitest';
import { openAlert, resolveAlert } from '../../src/alerts/alerts.ts';
import { EXIT_CODES } from '../../src/cli/failure.ts';
import { inProject } from '../../src/base/db.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testCli } from '../support/cli.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';

const database = testDatabase();
const api = testApi(database);
testAdmin(database, api);
const { as } = testCli(database, api);

let editor: SignedInPerson;
let viewer: SignedInPerson;
beforeAll(async () => {
  const { project_id: projectId } = api.project;
  editor = await makePerson(database, { projectId, role: 'editor' });
  viewer = await makePerson(database, { projectId, role: 'viewer' });
});

const PARKED = {
  kind: 'provider_parked',
  subject: 'relay',
  subjectName: 'Relay',
  summary: 'Nothing is sent.',
  fix: 'Save it again.',
  details: {},
} as const;
const within = <T>(work: Parameters<typeof inProject<T>>[2]) =>
  inProject(database.deps, api.project.project_id, work);

test('alerts: what is open, with what to do; with --all what was', async () => {
  expect((await as(viewer, ['alerts'])).stdout).toBe('No alert is open.\n');
  await within((scope) => openAlert(scope, PARKED));
  const { code, stdout } = await as(viewer, ['alerts']);
  expect(code).toBe(0);
  for (const said of [
    'open',
    'Email provider parked',
    'Relay',
    'Nothing is sent.',
    'Save it again.',
  ])
    expect(stdout).toContain(said);
  await within((scope) => resolveAlert(scope, 'relay', 'provider_parked'));
  expect((await as(viewer, ['alerts'])).stdout).toBe('No alert is open.\n');
  const all = await as(viewer, ['alerts', '--all']);
  expect(all.stdout).toContain('resolved');
  expect(all.stdout).not.toContain('Save it again.');
  const { items } = JSON.parse((await as(viewer, ['alerts', '--all', '--json'])).stdout);
  expect(items).toMatchObject([{ kind: 'provider_parked', status: 'resolved' }]);
});

test('endpoints: listed, subscribed, tested, and what came of it', async () => {
  expect((await as(viewer, ['endpoints'])).stdout).toContain('no webhook endpoints');
  await api.call('POST', '/v1/webhook-endpoints', {
    key: api.project.server_key,
    body: { name: 'CRM', url: 'https://example.com/hooks' },
  });
  const subscribed = await as(editor, [
    'endpoints',
    'subscribe',
    'CRM',
    'email.bounced',
    'system.*',
  ]);
  expect(subscribed.stdout).toBe('CRM subscribes to email.bounced, system.*.\n');
  expect((await as(viewer, ['endpoints'])).stdout).toMatch(
    /CRM\s+active\s+email.bounced system.\*/,
  );
  expect((await as(viewer, ['endpoints', 'deliveries', 'CRM'])).stdout).toContain(
    'Nothing was sent',
  );
  expect((await as(editor, ['endpoints', 'test', 'CRM'])).stdout).toContain(
    'A test event is queued',
  );
  expect((await as(viewer, ['endpoints', 'deliveries', 'CRM'])).stdout).toMatch(
    /waiting\s+system.test/,
  );
  await database.owner.query(
    `update automations.endpoints set status = 'disabled' where project_id = $1`,
    [api.project.project_id],
  );
  const refused = await as(editor, ['endpoints', 'test', 'CRM']);
  expect(refused.stderr).toContain('Enable it in the Console');
  expect((await as(editor, ['endpoints', 'enable', 'CRM'])).stdout).toBe('CRM is enabled.\n');
  expect((await as(viewer, ['endpoints'])).stdout).toMatch(/CRM\s+active/);
  const none = await as(editor, ['endpoints', 'subscribe', 'CRM', '--none']);
  expect(none.stdout).toBe('CRM subscribes to nothing.\n');
});

test('endpoints subscribe: called wrongly, or refused', async () => {
  const wrongly = [
    ['endpoints', 'subscribe'],
    ['endpoints', 'subscribe', 'CRM'],
    ['endpoints', 'test', 'other'],
  ];
  for (const words of wrongly) expect((await as(editor, words)).code).toBe(EXIT_CODES.usage);
  const refused = await as(editor, ['endpoints', 'subscribe', 'CRM', 'email.opend']);
  expect([refused.code, refused.stderr]).toEqual([
    EXIT_CODES.failed,
    expect.stringContaining('must be one of email.*, email.sent'),
  ]);
  const low = await as(viewer, ['endpoints', 'subscribe', 'CRM', 'email.sent']);
  expect(low.code).toBe(EXIT_CODES.failed);
});
