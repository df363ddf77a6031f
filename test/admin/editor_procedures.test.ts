// What the Console's editors ask of automations, templates and segments: each procedure, and what each refuses.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAdminClient } from '../../src/admin/client.ts';
import type { AdminClient } from '../../src/admin/client.ts';
import { newId } from '../../src/base/ids.ts';
import { createProject } from '../../src/projects/projects.ts';
import { counterparts, fieldsOf } from '../providers/counterparts.ts';
import { testAdmin, testWorker } from '../support/admin.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const database = testDatabase();
const sinks = counterparts(database);
const api = testApi(database);
const admin = testAdmin(database, api);
testWorker(database);

let client: AdminClient;
let projectId: string;
beforeAll(async () => {
  client = createAdminClient({ url: api.url, cookie: await admin.openSession() });
});
beforeEach(async () => {
  api.project = await createProject(database.deps, 'of its own');
  projectId = api.project.project_id;
});

const ask = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key: api.project.server_key, ...(body ? { body } : {}) });

/** What a call is refused with, by its name of the catalogue, and where. */
const refusal = async (call: Promise<unknown>) => {
  const error = (await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )) as { message: string; data?: { issues: { path: string }[] } } | null;
  return { name: error?.message, paths: error?.data?.issues.map(({ path }) => path) ?? [] };
};

const person = async (name: string): Promise<string> => {
  const traits = { email: `${name}@example.test`, first_name: name };
  await ask('POST', '/v1/identify', { external_id: name, traits });
  return until(`${name} is known`, async () => {
    const { items } = await client.profiles.find.query({ projectId, query: name });
    return items[0]?.id ?? null;
  });
};

const TEMPLATE = {
  name: 'Hello',
  subject: 'Hello {{ profile.first_name | default: "there" }}',
  html: '<p>Hello</p><a href="{{ unsubscribe_url }}">Unsubscribe</a>',
};
const sender = async (): Promise<string> => {
  const path = `/v1/projects/${projectId}/email-providers`;
  return (await ask('POST', path, fieldsOf(sinks, 'smtp'))).body.id;
};
const automation = async (trigger: object = { kind: 'manual' }) => {
  const { id: template_id } = await client.templates.create.mutate({
    projectId,
    template: TEMPLATE,
  });
  const step = {
    kind: 'send_email',
    provider_id: await sender(),
    template_id,
    template_version: 1,
  };
  const definition = { trigger, entry: 'mail', steps: { mail: { ...step, next: null } } };
  const made = await client.automations.create.mutate({
    projectId,
    name: 'Hello',
    definition: definition as never,
  });
  return { definition, id: made.id, of: { projectId, automationId: made.id } };
};

describe('an automation', () => {
  test('is checked without being kept, in the words in which it would be refused', async () => {
    const { definition } = await automation();
    const check = (given: unknown) =>
      client.automations.check.mutate({ projectId, definition: given });
    expect(await check(definition)).toEqual({ issues: [], activation: [], occurrences: [] });
    expect(await check({ ...definition, entry: 'gone' })).toMatchObject({
      issues: [{ path: '/entry' }],
    });
    const mail = { ...definition.steps.mail, template_id: newId() };
    expect(await check({ ...definition, steps: { mail } })).toMatchObject({
      issues: [{ path: '/steps/mail/template_id' }],
    });
    expect((await client.automations.list.query({ projectId })).items).toHaveLength(1);
  });

  test('goes through its life, version by version', async () => {
    const { definition, of } = await automation();
    expect(await refusal(client.automations.pause.mutate(of))).toMatchObject({
      name: 'automation_state',
    });
    expect(await client.automations.activate.mutate(of)).toMatchObject({ status: 'active' });
    const next = { ...definition, settings: { re_entry: 'every_time' } } as never;
    const save = { ...of, after_version: 1, definition: next };
    expect(await client.automations.save.mutate(save)).toMatchObject({ latest_version: 2 });
    const other = { ...save, definition: definition as never };
    expect(await refusal(client.automations.save.mutate(other))).toMatchObject({
      name: 'automation_changed',
    });
    const named = await client.automations.rename.mutate({ ...of, name: 'Renamed' });
    expect(named).toMatchObject({ name: 'Renamed', latest_version: 2 });
    expect(await client.automations.retry.mutate(of)).toEqual({ failed: 0 });
    const versions = await client.automations.versions.query(of);
    expect(versions.items.map(({ version }) => version)).toEqual([2, 1]);
    const second = await client.automations.version.query({ ...of, version: 2 });
    expect(second.definition.settings.re_entry).toBe('every_time');
    expect(await client.automations.move.mutate(of)).toEqual({
      on_it: 0,
      stayed: 0,
      left: 0,
      version: 1,
    });
    expect(await client.automations.pause.mutate(of)).toMatchObject({ status: 'paused' });
    expect(await client.automations.resume.mutate(of)).toMatchObject({ status: 'active' });
    expect(await client.automations.archive.mutate(of)).toMatchObject({ status: 'archived' });
    expect(await refusal(client.automations.activate.mutate(of))).toMatchObject({
      name: 'automation_state',
    });
  });

  test('is started for one person and for a segment, tried, followed and explained', async () => {
    const { of } = await automation();
    const profileId = await person('ann');
    expect(await refusal(client.automations.start.mutate({ ...of, profileId }))).toMatchObject({
      name: 'automation_state',
    });
    await client.automations.activate.mutate(of);
    const run = await client.automations.start.mutate({ ...of, profileId });
    const tried = { ...of, profileId, to: 'me@example.test' };
    const trial = await client.automations.test.mutate(tried);
    await until('both mails', () => sinks.smtp.mails.length === 2);
    expect(sinks.smtp.mails.flatMap(({ to }) => to).toSorted()).toEqual([
      'ann@example.test',
      'me@example.test',
    ]);
    const { items } = await client.automations.runs.query({ ...of, profileId });
    expect(items).toMatchObject([
      { id: trial.id, is_test: true, person: { external_id: 'ann', email: 'ann@example.test' } },
      { id: run.id, is_test: false, person: { profile_id: profileId } },
    ]);
    const why = await client.automations.explain.query({ ...of, profileId, runId: run.id });
    expect(why.decisions.map(({ decision }) => decision)).toContain('entered');
    const bad = { ...tried, to: 'nobody' };
    expect(await refusal(client.automations.test.mutate(bad))).toEqual({
      name: 'invalid_request',
      paths: ['/to'],
    });
    const segment = await client.segments.create.mutate({ projectId, name: 'Guests' });
    const start = await client.automations.startSegment.mutate({ ...of, segmentId: segment.id });
    await client.automations.cancelSegmentStart.mutate({ projectId, startId: start.id });
    const starts = await client.automations.segmentStarts.query(of);
    expect(starts.items).toMatchObject([{ id: start.id, segment_id: segment.id }]);
  });

  test('is run over the past, and counted in the list', async () => {
    const { of } = await automation({ kind: 'event', event: 'user_signed_up' });
    await person('ann');
    await ask('POST', '/v1/events', { event: 'user_signed_up', external_id: 'ann' });
    await until('the past', async () => {
      const { entered } = await client.automations.simulate.query(of);
      return entered === 1;
    });
    const beyond = { ...of, days: 91 };
    expect(await refusal(client.automations.simulate.query(beyond))).toMatchObject({
      name: 'invalid_request',
      paths: ['/days'],
    });
    const [listed] = (await client.automations.list.query({ projectId })).items;
    expect(listed?.counts).toMatchObject({ runs: 0, inside: 0, sent: 0, is_capped: false });
    expect((await client.automations.endpoints.query({ projectId })).items).toEqual([]);
  });

  test('404 not_found: one of another project is none', async () => {
    const { of } = await automation();
    projectId = (await createProject(database.deps, 'another')).project_id;
    const foreign = { ...of, projectId };
    const calls = [
      client.automations.read.query(foreign),
      client.automations.version.query({ ...foreign, version: 1 }),
      client.automations.simulate.query(foreign),
      client.automations.pause.mutate(foreign),
      client.automations.explain.query({ ...foreign, profileId: newId() }),
      client.automations.cancelSegmentStart.mutate({ projectId, startId: newId() }),
    ];
    for (const said of await Promise.all(calls.map(refusal))) expect(said.name).toBe('not_found');
  });
});

describe('the library', () => {
  test('puts a ready automation into a project as a draft, once', async () => {
    const { items } = await client.readyMade.list.query({ projectId });
    expect(items).toContainEqual({
      key: 'welcome_series',
      name: 'Welcome series',
      event: 'user_signed_up',
      mails: 3,
    });
    const providerId = await sender();
    const asked = { projectId, key: 'welcome_series', providerId };
    const { automation_id: automationId } = await client.readyMade.adopt.mutate(asked);
    expect(await client.automations.read.query({ projectId, automationId })).toMatchObject({
      name: 'Welcome series',
      status: 'draft',
    });
    expect((await client.templates.list.query({ projectId })).items).toHaveLength(3);
    expect(await refusal(client.readyMade.adopt.mutate(asked))).toMatchObject({
      name: 'automation_state',
    });
    const unknown = { ...asked, key: '../ready' };
    expect(await refusal(client.readyMade.adopt.mutate(unknown))).toMatchObject({
      name: 'not_found',
    });
    const nobody = { ...asked, key: 'win_back', providerId: newId() };
    expect(await refusal(client.readyMade.adopt.mutate(nobody))).toEqual({
      name: 'invalid_request',
      paths: ['/providerId'],
    });
  });
});

describe('a template', () => {
  test('is shown for a person, kept as versions, sent to try, put away and brought back', async () => {
    const profileId = await person('ann');
    const draft = { template: TEMPLATE, profile_id: profileId };
    const shown = await client.templates.preview.mutate({ projectId, draft });
    expect(shown.subject).toBe('Hello ann');
    const made = await client.templates.create.mutate({ projectId, template: TEMPLATE });
    const of = { projectId, templateId: made.id };
    const version = { after_version: 1, subject: 'Again', html: TEMPLATE.html };
    expect(await client.templates.save.mutate({ ...of, version })).toMatchObject({ version: 2 });
    const other = { ...version, subject: 'Other' };
    expect(await refusal(client.templates.save.mutate({ ...of, version: other }))).toMatchObject({
      name: 'template_changed',
    });
    expect(await client.templates.read.query(of)).toMatchObject({ version: 2, used_by: [] });
    expect((await client.templates.versions.query(of)).items).toHaveLength(2);
    expect(await client.templates.version.query({ ...of, version: 1 })).toMatchObject({
      subject: TEMPLATE.subject,
    });
    await client.templates.archive.mutate(of);
    expect((await client.templates.list.query({ projectId })).items).toEqual([]);
    const archived = await client.templates.list.query({ projectId, archived: true });
    expect(archived.items).toHaveLength(1);
    expect(await client.templates.restore.mutate(of)).toMatchObject({ archived_at: null });

    const providerId = await sender();
    const sent = { projectId, draft, providerId, to: 'me@example.test' };
    expect(await client.templates.test.mutate(sent)).toMatchObject({ ok: true });
    expect(sinks.smtp.mails).toMatchObject([{ to: ['me@example.test'], subject: 'Hello ann' }]);
    expect(sinks.smtp.mails[0]?.html).toContain('<p>Hello</p>');
    await ask('POST', '/v1/suppressions', { email: 'me@example.test' });
    expect(await refusal(client.templates.test.mutate(sent))).toMatchObject({
      name: 'recipient_suppressed',
    });
  });

  test('is refused with the part and the line where it is wrong', async () => {
    const template = { ...TEMPLATE, html: 'fine\n{{ nobody | shout }}' };
    const call = client.templates.create.mutate({ projectId, template });
    expect(await refusal(call)).toEqual({ name: 'invalid_request', paths: ['/html'] });
    const nobody = { template: TEMPLATE, profile_id: newId() };
    const shown = client.templates.preview.mutate({ projectId, draft: nobody });
    expect(await refusal(shown)).toEqual({ name: 'invalid_request', paths: ['/profile_id'] });
    const sent = { projectId, draft: { template: TEMPLATE }, providerId: newId(), to: 'a@b.test' };
    expect(await refusal(client.templates.test.mutate(sent))).toEqual({
      name: 'invalid_request',
      paths: ['/providerId'],
    });
    const unknown = { projectId, templateId: newId() };
    const gone = [
      client.templates.read.query(unknown),
      client.templates.version.query({ ...unknown, version: 1 }),
      client.templates.archive.mutate(unknown),
    ];
    for (const said of await Promise.all(gone.map(refusal))) expect(said.name).toBe('not_found');
  });
});

describe('a segment', () => {
  const definition = {
    where: {
      kind: 'trait' as const,
      trait: 'first_name',
      test: { is: 'equals' as const, value: 'ann' },
    },
  };

  test('is counted, made, filled, explained, changed and deleted', async () => {
    const profileId = await person('ann');
    await person('bob');
    const counted = await client.segments.preview.mutate({ projectId, definition });
    expect(counted).toMatchObject({
      examined: 2,
      members: 1,
      sample: [{ profile_id: profileId, person: { external_id: 'ann' } }],
    });
    const made = await client.segments.create.mutate({ projectId, name: 'Anns', definition });
    const of = { projectId, segmentId: made.id };
    await until('it is filled', async () => {
      const { status, members } = await client.segments.read.query(of);
      return status === 'ready' && members === 1;
    });
    expect((await client.segments.list.query({ projectId })).items).toMatchObject([{ members: 1 }]);
    expect((await client.segments.members.query(of)).items).toMatchObject([
      { profile_id: profileId, person: { email: 'ann@example.test' } },
    ]);
    expect((await client.segments.history.query(of)).items).toMatchObject([
      { change: 'entered', person: { external_id: 'ann' } },
    ]);
    expect((await client.segments.days.query(of)).items).toMatchObject([{ entered: 1, left: 0 }]);
    expect(await client.segments.explain.query({ ...of, profileId })).toMatchObject({
      is_member: true,
    });
    const change = { version: 1, name: 'All Anns' };
    expect(await client.segments.change.mutate({ ...of, change })).toMatchObject({
      name: 'All Anns',
    });
    const stale = { version: 9, definition };
    expect(await refusal(client.segments.change.mutate({ ...of, change: stale }))).toMatchObject({
      name: 'segment_changed',
    });
    const { of: automationOf } = await automation({ kind: 'segment_entered', segment_id: made.id });
    await client.automations.activate.mutate(automationOf);
    expect(await refusal(client.segments.remove.mutate(of))).toMatchObject({
      name: 'segment_in_use',
    });
    await client.automations.archive.mutate(automationOf);
    expect(await client.segments.remove.mutate(of)).toEqual({ id: made.id, deleted: true });
    expect(await refusal(client.segments.read.query(of))).toMatchObject({ name: 'not_found' });
  });

  test('is made of lists, which can be taken back', async () => {
    await person('ann');
    const made = await client.segments.create.mutate({ projectId, name: 'Guests' });
    const of = { projectId, segmentId: made.id };
    const people = { csv: 'external_id\nann\nnobody' };
    const imported = await client.segments.import.mutate({ ...of, people });
    expect(imported).toMatchObject({ people: 1, unknown: 1 });
    const importId = imported.import_id;
    await client.segments.undoImport.mutate({ projectId, importId });
    expect((await client.segments.imports.query(of)).items).toMatchObject([
      { import_id: importId, people: 1, undone_at: expect.any(String) },
    ]);
    const dynamic = await client.segments.create.mutate({ projectId, name: 'Anns', definition });
    const into = { projectId, segmentId: dynamic.id, people };
    expect(await refusal(client.segments.import.mutate(into))).toMatchObject({
      name: 'segment_not_static',
    });
    const gone = client.segments.undoImport.mutate({ projectId, importId: newId() });
    expect(await refusal(gone)).toMatchObject({ name: 'not_found' });
    const wrong = { where: { kind: 'event', event: 'Order Placed' } } as never;
    const counted = client.segments.preview.mutate({ projectId, definition: wrong });
    expect(await refusal(counted)).toEqual({
      name: 'invalid_request',
      paths: ['/definition/where/event'],
    });
  });
});
