import { describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { findReady, saveProvider, withLink } from '../../src/providers/providers.ts';
import type { NewProvider, Ready } from '../../src/providers/providers.ts';
import { refusalOf } from '../support/refusal_of.ts';
import { testDatabase } from '../support/database.ts';
import { startRelay } from './relay.ts';
import type { Relay } from './relay.ts';

const database = testDatabase();

type SmtpProvider = Extract<NewProvider, { provider: 'smtp' }>;
const fieldsOf = ({ settings }: Relay, given: Partial<SmtpProvider> = {}): SmtpProvider => ({
  display_name: 'Relay',
  from_email: 'hello@shop.example',
  from_name: 'The Shop',
  reply_to: null,
  ...settings,
  ...given,
});
const save = (projectId: string, provider: NewProvider) =>
  saveProvider(database.deps, projectId, provider);
const find = (projectId: string, providerId: string) =>
  inProject(database.deps, projectId, (scope) => findReady(scope, providerId));
const rowsOf = async (projectId: string) =>
  (
    await database.owner.query('select * from providers.providers where project_id = $1', [
      projectId,
    ])
  ).rows;
test('a provider that works is kept, ready to be used, its password nowhere to be read', async () => {
  const [projectId, relay] = [newId(), await startRelay('user', 'a-secret-password')];
  const providerId = await save(projectId, fieldsOf(relay));
  expect(await find(projectId, providerId)).toMatchObject({
    sender: { from_email: 'hello@shop.example', from_name: 'The Shop', reply_to: null },
    settings: relay.settings,
  });
  const [row] = await rowsOf(projectId);
  expect(JSON.stringify(row)).not.toContain('a-secret-password');
  expect((row.secret as Buffer).includes('a-secret-password')).toBe(false);
});

describe('a provider that does not work is not kept', () => {
  test('with its class of failure and what to do', async () => {
    const [projectId, relay] = [newId(), await startRelay()];
    const wrong = {
      authentication_failed: { password: 'wrong' },
      connection_failed: { smtp_port: 1 },
      starttls_not_offered: { smtp_secure: 'starttls' as const },
    };
    for (const [reason, given] of Object.entries(wrong)) {
      const refusal = await refusalOf(save(projectId, fieldsOf(relay, given)));
      expect(refusal.reason).toBe('provider_preflight_failed');
      expect(refusal.extras.members).toEqual({
        reason,
        cause: expect.any(String),
        fix: expect.any(String),
      });
    }
    expect(await rowsOf(projectId)).toEqual([]);
  });

  test('and a failed change leaves the old settings working', async () => {
    const [projectId, relay] = [newId(), await startRelay()];
    const providerId = await save(projectId, fieldsOf(relay));
    await refusalOf(save(projectId, fieldsOf(relay, { password: 'wrong' })));
    expect((await find(projectId, providerId))?.settings).toEqual(relay.settings);
  });
});

describe('saving the same from-address again', () => {
  test('changes the settings of the same record, and names other connections', async () => {
    const projectId = newId();
    const [old, fresh] = [await startRelay('old', 'one'), await startRelay('new', 'two')];
    const providerId = await save(projectId, fieldsOf(old));
    const before = await find(projectId, providerId);
    expect(await save(projectId, fieldsOf(fresh, { from_email: 'HELLO@shop.example' }))).toBe(
      providerId,
    );
    const after = await find(projectId, providerId);
    expect(after?.settings).toEqual(fresh.settings);
    expect(after?.linkKey).not.toBe(before?.linkKey);
    expect(await rowsOf(projectId)).toHaveLength(1);
  });

  test('changes everything that was given, not the connection alone', async () => {
    const [projectId, relay] = [newId(), await startRelay()];
    const providerId = await save(projectId, fieldsOf(relay));
    const given = { display_name: 'New', from_name: 'New Name', reply_to: 'help@shop.example' };
    await save(projectId, fieldsOf(relay, given));
    expect((await find(projectId, providerId))?.sender).toMatchObject({
      from_name: 'New Name',
      reply_to: 'help@shop.example',
    });
  });

  test('at once makes one record', async () => {
    const [projectId, relay] = [newId(), await startRelay()];
    await Promise.all([1, 2, 3].map(() => save(projectId, fieldsOf(relay))));
    expect(await rowsOf(projectId)).toHaveLength(1);
  });
});

test('another from-address, or another project, is another record', async () => {
  const [one, other, relay] = [newId(), newId(), await startRelay()];
  const first = await save(one, fieldsOf(relay));
  expect(await save(one, fieldsOf(relay, { from_email: 'news@shop.example' }))).not.toBe(first);
  expect(await save(other, fieldsOf(relay))).not.toBe(first);
  expect(await find(other, first)).toBeNull();
});

test('a parked provider, and one that does not exist, is not ready', async () => {
  const [projectId, relay] = [newId(), await startRelay()];
  const providerId = await save(projectId, fieldsOf(relay));
  await database.owner.query(
    "update providers.providers set status = 'parked', parked_reason = 'authentication_failed' where provider_id = $1",
    [providerId],
  );
  expect(await find(projectId, providerId)).toBeNull();
  expect(await find(projectId, newId())).toBeNull();
});

describe('a connection that is lent', () => {
  const ready = async (relay: Relay): Promise<Ready> => {
    const projectId = newId();
    const found = await find(projectId, await save(projectId, fieldsOf(relay)));
    if (!found) throw new Error('not ready');
    return found;
  };

  test('is used, given back, and lent to the next', async () => {
    const relay = await startRelay();
    const provider = await ready(relay);
    const before = relay.connections();
    const links = [];
    for (let turn = 0; turn < 3; turn += 1)
      links.push(await withLink(database.deps, provider, (link) => Promise.resolve(link)));
    expect(new Set(links).size).toBe(1);
    expect(relay.connections()).toBe(before + 1);
  });

  test('is given back also when the work with it fails', async () => {
    const relay = await startRelay();
    const provider = await ready(relay);
    const before = relay.connections();
    const failing = withLink(database.deps, provider, () => Promise.reject(new Error('bug')));
    await expect(failing).rejects.toThrow('bug');
    await withLink(database.deps, provider, () => Promise.resolve(null));
    expect(relay.connections()).toBe(before + 1);
  });

  test('cannot be had: the work does not run and the outcome says why', async () => {
    const relay = await startRelay();
    const provider = await ready(relay);
    const nobody = {
      ...provider,
      linkKey: newId(),
      settings: { ...provider.settings, smtp_port: 1 },
    };
    let isRun = false;
    const outcome = await withLink(database.deps, nobody, () => {
      isRun = true;
      return Promise.resolve(null);
    });
    expect(outcome).toMatchObject({ kind: 'deferred', reason: 'connection_failed' });
    expect(isRun).toBe(false);
  });
});
