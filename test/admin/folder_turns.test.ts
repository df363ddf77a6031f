// How many folders a process has in its hands, whose turn it is, and whom one that is looked at keeps waiting.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { compareFolder } from '../../src/admin/folder/acts.ts';
import { FOLDERS_MAX, FOLDERS_PER_PERSON_MAX } from '../../src/admin/folder_limits.ts';
import { FolderTurns } from '../../src/admin/folder_turns.ts';
import { holdAutomations } from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import { holdDefinitions } from '../../src/segments/segments.ts';
import { automationsThroughApi } from '../automations/through_api.ts';
import { testDatabase } from '../support/database.ts';
import { holdFolders } from '../support/held_folders.ts';
import { makePerson } from '../support/people.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const { api } = automationsThroughApi(database);

const answer = () => new ServerResponse(new IncomingMessage(new Socket()));
const GONE = { reason: 'request_timeout' };
const OVERLOADED = { reason: 'overloaded' };

test('a person has a few at once, everybody together some more, and each counts until it is answered', () => {
  const turns = new FolderTurns();
  const own = Array.from({ length: FOLDERS_PER_PERSON_MAX }, answer);
  for (const one of own) turns.take('ann', one);
  expect(() => turns.take('ann', answer())).toThrow(expect.objectContaining(OVERLOADED));
  for (let at = own.length; at < FOLDERS_MAX; at += 1) turns.take(`other ${at}`, answer());
  expect(() => turns.take('eve', answer())).toThrow(expect.objectContaining(OVERLOADED));
  own[0]?.emit('close');
  turns.take('eve', answer());
  const left = answer();
  left.destroy();
  expect(() => new FolderTurns().take('ann', left)).toThrow(expect.objectContaining(GONE));
});

test('a project has one at work, whatever became of the one before; others do not wait for it', async () => {
  const turns = new FolderTurns();
  const said: string[] = [];
  const first = Promise.withResolvers<void>();
  const work = (projectId: string, name: string, signal?: AbortSignal) =>
    turns.inTurn({ projectId, signal }, async () => {
      said.push(name);
      if (name === 'first') await first.promise;
    });
  const failing = work('a', 'first');
  const leaving = new AbortController();
  const left = work('a', 'left', leaving.signal);
  const next = work('a', 'next');
  await work('b', 'beside');
  expect(said).toEqual(['first', 'beside']);
  leaving.abort();
  first.reject(new Error('it failed'));
  await expect(failing).rejects.toThrow('it failed');
  await expect(left).rejects.toMatchObject(GONE);
  await next;
  expect(said).toEqual(['first', 'beside', 'next']);
});

test('what nobody waits for any more is not looked at', async () => {
  const { project_id: projectId } = api.project;
  const folder = new Map([
    ['templates/a.json', '{"name": "a", "subject": "a"}'],
    ['templates/a.html', '{{ profile.x | nofilter }}'],
  ]);
  const wanted = { folder, sender: undefined, activates: false };
  const asked = { deps: database.deps, projectId };
  await expect(compareFolder(asked, wanted)).rejects.toMatchObject({ reason: 'invalid_request' });
  const gone = { ...asked, signal: AbortSignal.abort() };
  await expect(compareFolder(gone, wanted)).rejects.toMatchObject(GONE);
});

test('whoever looks keeps nobody from starting a run or a segment’s work', async () => {
  const { project_id: projectId } = api.project;
  await inProject(database.deps, projectId, async (scope) => {
    await holdDefinitions(scope);
    await holdAutomations(scope);
    for (const table of ['automations.automations', 'segments.projects']) {
      const { rowCount } = await database.owner.query(
        `select from ${table} where project_id = $1 for key share nowait`,
        [projectId],
      );
      expect([table, rowCount]).toEqual([table, 1]);
    }
  });
});

test('503 overloaded: a folder too many is refused before it is read, and says when to come again', async () => {
  const { project_id: projectId } = api.project;
  const { cookie } = await makePerson(database, { projectId, role: 'viewer' });
  const ask = () =>
    api.call('POST', '/admin/trpc/folder.compareFiles', {
      body: { projectId, files: { 'templates/x.txt': '' } },
      headers: { cookie, origin: api.url },
    });
  const held = holdFolders(api.url, { cookie, count: FOLDERS_PER_PERSON_MAX + 1 });
  await until('one too many', () => held.answers.length > 0);
  const [refused] = held.answers;
  expect([refused?.statusCode, refused?.headers['retry-after']]).toEqual([503, '5']);
  expect(refused?.headers['connection']).toBe('close');
  expect((await ask()).body.error.message).toBe('overloaded');
  held.letGo();
  await until('room again', async () => (await ask()).status === 200);
});
