import { beforeEach, describe, expect, test } from 'vitest';
import {
  asOperator,
  asService,
  listPathTargets,
  listTargets,
  withAudit,
} from '../../src/base/audit.ts';
import { inProject, sql } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { Resources } from '../../src/base/resources.ts';
import { createProject, issueKey } from '../../src/projects/projects.ts';
import { suppress } from '../../src/suppression/suppression.ts';
import { testAdmin } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { makePerson } from '../support/people.ts';
import type { SignedInPerson } from '../support/people.ts';
import { TRIAL } from '../support/recorded.ts';
import { connectAs } from '../base/connections.ts';

const database = testDatabase();
const api = testApi(database);
const admin = testAdmin(database, api);

let projectId: string;
let owner: SignedInPerson;
beforeEach(async () => {
  projectId = (await createProject(database.deps, 'shop')).project_id;
  owner = await makePerson(database, { projectId, role: 'owner' });
});

const rows = async () =>
  (
    await database.owner.query(
      'select * from admin.audit where project_id = $1 order by audit_id',
      [projectId],
    )
  ).rows as Record<string, unknown>[];
const audited = () => asOperator(database.deps, 'make x');
const suppressed = async () =>
  (
    await database.owner.query('select from suppression.addresses where project_id = $1', [
      projectId,
    ])
  ).rowCount;
const change = (email: string) => ({ email, reason: 'manual', source: 'console' }) as const;

describe('a change and its entry', () => {
  test('are there together, or neither is', async () => {
    const failing = inProject(audited(), projectId, async (scope) => {
      await suppress(scope, change('ann@example.com'));
      throw new Error('after the change');
    });
    await expect(failing).rejects.toThrow('after the change');
    expect([await suppressed(), await rows()]).toEqual([0, []]);
    await inProject(audited(), projectId, (scope) => suppress(scope, change('ann@example.com')));
    expect([await suppressed(), (await rows()).length]).toEqual([1, 1]);
  });

  test('where the entry cannot be written, nothing is changed', async () => {
    const audit = { ...audited().audit, requestId: 'x'.repeat(129) };
    const deps = { ...database.deps, audit };
    const failing = inProject(deps, projectId, (scope) =>
      suppress(scope, change('ann@example.com')),
    );
    await expect(failing).rejects.toThrow();
    expect([await suppressed(), await rows()]).toEqual([0, []]);
  });

  test('reading leaves no entry', async () => {
    await inProject(audited(), projectId, ({ tx }) => tx.query(sql.unsafe`select 1`));
    expect(await rows()).toEqual([]);
  });

  test('of several transactions of one call there is one entry', async () => {
    const deps = audited();
    for (const email of ['ann@example.com', 'bob@example.com'])
      await inProject(deps, projectId, (scope) => suppress(scope, change(email)));
    expect(await rows()).toHaveLength(1);
  });

  test('what outlives a call is not put down to it', async () => {
    const resources = new Resources();
    const make = (deps: object) => ({ deps });
    const kept = resources.of(make, withAudit({ name: 'deps' }, audited().audit));
    expect(kept.deps).toEqual({ name: 'deps' });
  });
});

describe('the log only grows', () => {
  test('the runtime role can neither change nor remove an entry', async () => {
    await issueKey(audited(), projectId, 'server');
    const runtime = await connectAs(database, 'trunkline_runtime');
    for (const statement of [
      `update ${TRIAL} admin.audit set action = 'x'`,
      `delete ${TRIAL} from admin.audit`,
      `truncate ${TRIAL} admin.audit`,
      `update ${TRIAL} admin.installation_audit set action = 'x'`,
      `delete ${TRIAL} from admin.installation_audit`,
    ])
      await expect(runtime.query(statement)).rejects.toThrow(/permission denied/);
    expect(await rows()).toHaveLength(1);
  });

  test('no project sees, or adds to, the log of another', async () => {
    await issueKey(audited(), projectId, 'server');
    const other = await createProject(database.deps, 'other');
    const seen = await inProject(database.deps, other.project_id, async ({ tx }) =>
      tx.any(sql.unsafe`select from admin.audit`),
    );
    expect(seen).toEqual([]);
    const adding = inProject(database.deps, other.project_id, ({ tx }) =>
      tx.query(sql.unsafe`
        insert ${sql.fragment``} into admin.audit
        values (${projectId}::uuid, ${newId()}::uuid, now(), 'operator', null, 'x', '{}', null)
      `),
    );
    await expect(adding).rejects.toThrow();
  });

  test('analysts see nothing of it', async () => {
    const { rows: granted } = await database.owner.query(
      `select has_schema_privilege('trunkline_analyst', 'admin', 'usage') as usage`,
    );
    expect(granted).toEqual([{ usage: false }]);
  });
});

describe('what an entry names', () => {
  test('are ids of ours; no secret, no address, nothing that a customer calls anybody', () => {
    const id = newId();
    const input = {
      projectId: id,
      providerId: id,
      run_id: id,
      token: id,
      password: 'secret',
      external_id: id,
      anonymous_id: id,
      message_id: id,
      sendId: 'not an id',
      email: 'ann@example.com',
    };
    expect(listTargets(input)).toEqual({ provider_id: id, run_id: id });
    expect(listTargets(null)).toEqual({});
    const path = { project_id: id, id, email: 'ann@example.com', version: '1' };
    expect(listPathTargets(path)).toEqual({ id });
    expect(listPathTargets({ id: 'external_id:ann' })).toEqual({});
  });

  test('the service itself is named where it acts by itself', async () => {
    const deps = asService(database.deps, 'amazon-ses: topic confirmed');
    await issueKey(deps, projectId, 'hook');
    expect(await rows()).toMatchObject([
      { actor_kind: 'service', actor_id: null, action: 'amazon-ses: topic confirmed' },
    ]);
  });
});

describe('the list', () => {
  const read = async (query: object = {}) => {
    const asked = { type: 'query', input: { projectId, ...query }, cookie: owner.cookie } as const;
    return (await admin.call('audit.list', asked)).body.result.data as {
      items: { id: string; action: string; at: string; actor_email: string | null }[];
      next_cursor: string | null;
      actions: string[];
    };
  };
  const act = async (name: string, input: object, who = owner) => {
    const asked = { type: 'mutation', input: { projectId, ...input }, cookie: who.cookie } as const;
    expect((await admin.call(name, asked)).status).toBe(200);
  };

  test('is newest first, page by page, with whoever it was', async () => {
    for (const name of ['One', 'Two', 'Three']) await act('projects.rename', { name });
    await act('suppressions.suppress', { email: 'ann@example.com' });
    const first = await read({ limit: 3 });
    const rest = await read({ limit: 3, cursor: first.next_cursor });
    expect(first.items.map(({ action }) => action)).toEqual([
      'suppressions.suppress',
      'projects.rename',
      'projects.rename',
    ]);
    expect(rest.items).toHaveLength(1);
    expect(rest.next_cursor).toBeNull();
    expect(first.items[0]?.actor_email).toBe(owner.email);
    expect(first.actions).toEqual(['projects.rename', 'suppressions.suppress']);
  });

  test('is filtered by who, by what, and by when', async () => {
    const editor = await makePerson(database, { projectId, role: 'editor' });
    await act('projects.rename', { name: 'Ours' });
    await act('suppressions.suppress', { email: 'ann@example.com' }, editor);
    const actions = async (query: object) => (await read(query)).items.map(({ action }) => action);
    expect(await actions({ actorId: editor.personId })).toEqual(['suppressions.suppress']);
    expect(await actions({ action: 'projects.rename' })).toEqual(['projects.rename']);
    expect(await actions({ actorId: editor.personId, action: 'projects.rename' })).toEqual([]);
    const [newest, oldest] = (await read()).items;
    const early = { until: new Date(Date.parse(oldest?.at ?? '') - 60_000).toISOString() };
    const late = { from: new Date(Date.parse(newest?.at ?? '') - 60_000).toISOString() };
    expect(await actions(early)).toEqual([]);
    expect(await actions(late)).toHaveLength(2);
  });

  test('is found by an index, also by who and by what', async () => {
    await database.owner.query(
      `insert into admin.audit
      select $1, gen_random_uuid(), now(), 'person', gen_random_uuid(), 'a' || n % 50, '{}', null
      from generate_series(1, 3000) as n`,
      [projectId],
    );
    await database.owner.query('analyze admin.audit');
    for (const condition of ['true', `actor_id = '${newId()}'`, `action = 'a1'`]) {
      const { rows: plan } = await database.owner.query(
        `explain select from admin.audit where project_id = '${projectId}' and ${condition}
        order by audit_id desc limit 51`,
      );
      expect(JSON.stringify(plan)).toMatch(/Index/);
      expect(JSON.stringify(plan)).not.toMatch(/Seq Scan/);
    }
  });
});
