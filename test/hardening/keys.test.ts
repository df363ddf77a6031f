import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import type { KeyPurpose } from '../../src/base/keys.ts';
import { KEY_KINDS } from '../../src/base/caller.ts';
import { AUDIT_WORDS } from '../../src/console/parts/audit_words.ts';
import { routes } from '../../src/http/routes.ts';
import { makeToken, readTokenKind } from '../../src/projects/token.ts';
import { openCredential, sealCredential } from '../../src/providers/credentials.ts';
import { procedures } from '../admin/role_table.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();

/** What a scanner for leaked secrets is given; the checksum does the rest. */
const FORM = /svc_(?:pub|secret|hook)_live_[0-9A-Za-z]{33}/g;

test('a key that leaked is found in any text by its form, and nothing else is taken for one', () => {
  const leaked = KEY_KINDS.map((kind) => makeToken(kind, database.deps.keys));
  const [one = ''] = leaked;
  const decoys = [`${one.slice(0, -1)}_`, one.replace('live', 'test'), `${one.slice(0, -2)}zz`];
  const text = [...leaked, ...decoys].map((token) => `const key = "${token}";\n`).join('# ');
  const found = (text.match(FORM) ?? []).filter((token) => readTokenKind(token) !== null);
  expect(found).toEqual(leaked);
  expect(found.map(readTokenKind)).toEqual([...KEY_KINDS]);
});

/** All of them, or this does not compile. */
const PURPOSES = Object.keys({
  'api-key-pepper': 0,
  'address-hash': 0,
  'unsubscribe-link': 0,
  'unsubscribe-token': 0,
  'unsubscribe-token-iv': 0,
  'bounce-token': 0,
  'bounce-token-iv': 0,
  'feedback-id': 0,
  'test-email': 0,
  tombstone: 0,
  'erase-receipt': 0,
  'notice-dedupe': 0,
  'message-key': 0,
  browser: 0,
  session: 0,
  invitation: 0,
  device: 0,
  'token-tag': 0,
  'session-proof': 0,
  'preview-ticket': 0,
  'api-key-tag': 0,
  'rate-limit': 0,
  'runtime-role-password': 0,
  'queue-role-password': 0,
  'master-key-check': 0,
} satisfies Record<KeyPurpose, 0>) as KeyPurpose[];

test('every purpose has a key of its own, and none is that of credentials', () => {
  const { keys } = database.deps;
  const all = [...PURPOSES.map((purpose) => keys.of(purpose)), keys.outer(1)];
  expect(new Set(all.map((key) => key.toString('hex'))).size).toBe(PURPOSES.length + 1);
  for (const key of all) expect(key).toHaveLength(32);
});

test('no door deletes a project; without its data key nothing of it opens', async () => {
  const ofProjects = routes.filter(
    ({ method, path }) => method === 'DELETE' && /projects\/:\w+$/.test(path),
  );
  expect(ofProjects).toEqual([]);
  expect(
    procedures.filter(({ name }) => /^projects\.(?:remove|delete|destroy)/.test(name)),
  ).toEqual([]);
  const { rows } = await database.owner.query<{ may: boolean }>(
    `select has_table_privilege(role, 'projects.projects', 'delete') as may
    from unnest(array['trunkline_runtime', 'trunkline_queue']) as role`,
  );
  expect(rows.map(({ may }) => may)).toEqual([false, false]);

  const [projectId, place] = [newId(), { recordId: newId(), field: 'password' }];
  const within = <T>(work: Parameters<typeof inProject<T>>[2]) =>
    inProject(database.deps, projectId, work);
  const sealed = await within((scope) => sealCredential(scope, place, 'a password'));
  expect(await within((scope) => openCredential(scope, place, sealed))).toBe('a password');
  await database.owner.query('delete from providers.data_keys where project_id = $1', [projectId]);
  await expect(within((scope) => openCredential(scope, place, sealed))).rejects.toThrow();
});

/** What people change in the Console and no key through the API, in the order of their names. */
const OF_PEOPLE_ALONE = [
  'access.approve',
  'access.refuse',
  'account.changePassword',
  'account.endOtherSessions',
  'account.endSession',
  'folder.applyFiles',
  'installation.resumeSending',
  'invitations.accept',
  'invitations.invite',
  'invitations.revoke',
  'keys.issue',
  'keys.revoke',
  'members.changeRole',
  'members.leave',
  'members.remove',
  'people.invite',
  'people.remove',
  'people.revokeInvitation',
  'projects.make',
  'projects.rename',
  'quotas.change',
  'readyMade.adopt',
  'sends.sendAgain',
  'templates.test',
  'webhookTokens.issue',
  'webhookTokens.revoke',
];

test('no endpoint lets a server key manage keys, webhook tokens, quotas, people or the project', () => {
  const isEndpoint = (name: string): boolean => /^[A-Z]+ \//.test(name);
  const endpointWords = new Set(
    [...AUDIT_WORDS].flatMap(([name, words]) => (isEndpoint(name) ? [words] : [])),
  );
  const alone = [...AUDIT_WORDS].flatMap(([name, words]) =>
    endpointWords.has(words) || !/^\w+\.\w+$/.test(name) ? [] : [name],
  );
  expect(alone.toSorted()).toEqual(OF_PEOPLE_ALONE);
  const paths = routes.map(({ path }) => path);
  expect(
    paths.filter((path) => /keys|tokens|quotas|audit|members$|people|invit/.test(path)),
  ).toEqual(['/v1/segments/:id/members']);
});
