import { beforeEach, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { isUsable } from '../../src/rendering/rendering.ts';
import { makeShownProject, SHOWN_ID, shownRelay } from '../http/as_shown.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
shownRelay(database);
const api = testApi(database);
beforeEach(() => makeShownProject(database, api));

const ask = (method: string, path: string, body?: object) =>
  api.call(method, `/v1/projects/${api.project.project_id}${path}`, {
    key: api.project.server_key,
    ...(body ? { body } : {}),
  });
const post = (path: string, body: object = {}) => ask('POST', path, body);
const draft = (given: object = {}) => ({
  name: 'Mail',
  subject: 'Hi',
  html: '<p>Hi {{ profile.first_name }}</p>',
  ...given,
});
const keep = async (given: object = {}): Promise<string> => {
  const { status, body } = await post('/templates', draft(given));
  expect([status, body.issues]).toEqual([201, undefined]);
  return body.id;
};
const issuesOf = async (given: object) =>
  expectRefusal(await post('/templates', draft(given)), 'invalid_request');

describe('versions', () => {
  test('201: a template is kept as its version 1, and read as it was written', async () => {
    const sample = { profile: { first_name: 'Ann' }, event: {} };
    const id = await keep({ preheader: 'Look', text: 'Hi', sample });
    expect((await ask('GET', `/templates/${id}`)).body).toMatchObject({
      id,
      ...draft(),
      version: 1,
      preheader: 'Look',
      text: 'Hi',
      mjml: null,
      sample,
      archived_at: null,
    });
  });

  test('a version never changes: the next is another, and both can be read', async () => {
    const id = await keep();
    const next = { after_version: 1, subject: 'Hello', html: 'x' };
    expect((await post(`/templates/${id}/versions`, next)).body).toMatchObject({ version: 2 });
    const { body } = await ask('GET', `/templates/${id}/versions`);
    expect(
      body.items.map((one: { version: number; subject: string }) => [one.version, one.subject]),
    ).toEqual([
      [2, 'Hello'],
      [1, 'Hi'],
    ]);
    expect((await ask('GET', `/templates/${id}/versions/1`)).body).toMatchObject({ subject: 'Hi' });
    expectRefusal(await ask('GET', `/templates/${id}/versions/3`), 'not_found');
  });

  test('409 template_changed: of two who change the same version one is told, and changes nothing', async () => {
    const id = await keep();
    const answers = await Promise.all(
      ['one', 'two'].map((subject) =>
        post(`/templates/${id}/versions`, { after_version: 1, subject, html: 'x' }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 409]));
    expect((await ask('GET', `/templates/${id}`)).body.version).toBe(2);
    const ahead = { after_version: 7, subject: 'seven', html: 'x' };
    expect((await post(`/templates/${id}/versions`, ahead)).body.detail).toContain(
      'latest version is 2, not 7',
    );
  });

  test('the same version again is the one that is there', async () => {
    const id = await keep();
    const next = { after_version: 1, subject: 'Hello', html: 'x' };
    const first = await post(`/templates/${id}/versions`, next);
    expect(await post(`/templates/${id}/versions`, next)).toMatchObject({
      status: 201,
      body: first.body,
    });
  });

  test('pages are of the newest first, and lead to each other', async () => {
    const ids = [];
    for (let at = 0; at < 3; at += 1) ids.push(await keep({ name: `T${at}` }));
    const first = (await ask('GET', '/templates?limit=2')).body;
    expect(first.items.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[1]]);
    const second = (await ask('GET', `/templates?limit=2&cursor=${first.next_cursor}`)).body;
    expect(second.items.map(({ id }: { id: string }) => id)).toEqual([ids[0], SHOWN_ID]);
  });
});

describe('archived', () => {
  const standAs = (status: string) =>
    database.owner.query(
      `update automations.automations
       set status = $2, active_version = case when $2 = 'draft' then null else 1 end where project_id = $1`,
      [api.project.project_id, status],
    );

  test.each(['active', 'paused'])(
    '409 template_in_use: one that an automation sends which is %s is not, and the automation is named',
    async (status) => {
      await standAs(status);
      const answer = await post(`/templates/${SHOWN_ID}/archive`);
      expectRefusal(answer, 'template_in_use');
      expect(answer.body.detail).toContain('"Welcome"');
    },
  );

  test.each(['draft', 'archived'])(
    'one that an automation names which is %s may be',
    async (status) => {
      await standAs(status);
      expect((await post(`/templates/${SHOWN_ID}/archive`)).status).toBe(200);
    },
  );

  test('is listed apart, gets no versions, and cannot be named by anything new, until it is restored', async () => {
    await post(`/templates/${SHOWN_ID}/archive`);
    const ids = async (query = '') =>
      (await ask('GET', `/templates${query}`)).body.items.map(({ id }: { id: string }) => id);
    expect([await ids(), await ids('?archived=true')]).toEqual([[], [SHOWN_ID]]);
    expectRefusal(
      await post(`/templates/${SHOWN_ID}/versions`, { after_version: 1, subject: 's', html: 'x' }),
      'template_archived',
    );
    const activate = () =>
      api.call('POST', `/v1/automations/${SHOWN_ID}/activate`, {
        key: api.project.server_key,
        body: {},
      });
    const [issue] = expectRefusal(await activate(), 'invalid_request');
    expect(issue).toMatchObject({ path: expect.stringMatching(/template_id$/) });
    await post(`/templates/${SHOWN_ID}/restore`);
    expect((await activate()).status).toBe(200);
    expect([await ids(), await ids('?archived=true')]).toEqual([[SHOWN_ID], []]);
  });

  test('it waits for whoever is about to name it, and finds it in use', async () => {
    const within = <T>(work: Parameters<typeof inProject<T>>[2]) =>
      inProject(database.deps, api.project.project_id, work);
    let archived: ReturnType<typeof post> | undefined;
    await within(async (scope) => {
      expect(await isUsable(scope, SHOWN_ID, 1)).toBe(true);
      archived = post(`/templates/${SHOWN_ID}/archive`);
      await scope.tx.query(
        (await import('../../src/base/db.ts')).sql.unsafe`
          update automations.automations set status = 'active', active_version = 1
          where project_id = ${api.project.project_id}`,
      );
    });
    if (!archived) throw new Error('not asked');
    expectRefusal(await archived, 'template_in_use');
  });
});

describe('400 invalid_request names line and column, and what to do', () => {
  test.each([
    [
      'a variable that the sample lacks',
      { html: 'a\n {{ profile.nme }}', sample: { profile: {}, event: {} } },
      '/html',
      /^line 2, column 5: undefined variable: profile.nme. Please correct its name, give it a default.* sample/,
    ],
    [
      'a sample that cannot be stored',
      { html: 'a', sample: { profile: { ' ': '\0' }, event: {} } },
      '/sample',
      /well-formed Unicode without U\+0000/,
    ],
    [
      'a variable that is none',
      { subject: 'Hi {{ user.name }}' },
      '/subject',
      /^line 1, column 7: undefined variable: user.name. Variables begin with profile/,
    ],
    [
      'a variable of the run that is none',
      { html: '{{ run.nothing }}' },
      '/html',
      /^line 1, column 4: undefined variable: run.nothing/,
    ],
    [
      'what is not closed',
      { text: 'a\nb {{ profile.x' },
      '/text',
      /^line 2, column 3: .*not closed. Please close it/,
    ],
    [
      'a block that is not closed',
      { preheader: '{% if profile.x %}' },
      '/preheader',
      /^line 1, column 1: .*end tag/,
    ],
    [
      'a filter that is none',
      { html: '\n\n{{ profile.x | shout }}' },
      '/html',
      /^line 3, column 1: undefined filter: shout. Please/,
    ],
    [
      'a tag that is none',
      { html: '{% foo %}' },
      '/html',
      /^line 1, column 1: tag "foo" not found. Please/,
    ],
    [
      'MJML that nobody knows',
      { html: undefined, mjml: '<mjml><mj-body>\n <mj-nothing/></mj-body></mjml>' },
      '/mjml',
      /^line 2, column 2: Element mj-nothing.*Please/,
    ],
    [
      'Liquid in MJML, by the line of the MJML',
      { html: undefined, mjml: '<mjml><mj-body>\n<mj-raw>{{ user }}</mj-raw></mj-body></mjml>' },
      '/mjml',
      /^line 2, column 12: undefined variable: user/,
    ],
    [
      'a loop without an end',
      { html: '{% for i in (1..99999) %}{% for j in (1..99999) %}{{ j }}{% endfor %}{% endfor %}' },
      '/html',
      /^line 1, column \d+: .*limit exceeded. Please make it do less/,
    ],
    [
      'another template inside',
      { html: "a\n{% render 'footer' %}" },
      '/html',
      /^line 2, column 1: ENOENT.* Please put the text in its place/,
    ],
    [
      'HTML too deep to be read as text',
      { html: '<div>'.repeat(20_000) },
      '/text',
      /Please nest it less deep/,
    ],
  ])('%s', async (_what, given, path, message) => {
    expect(await issuesOf(given)).toMatchObject([
      { path, message: expect.stringMatching(message) },
    ]);
  });

  test('either html or mjml, not both and not neither', async () => {
    expect(await issuesOf({ html: undefined })).toMatchObject([{ path: '/html' }]);
    expect(await issuesOf({ mjml: '<mjml/>' })).toMatchObject([{ path: '/html' }]);
  });
});

test('without a sample one is made that has all that the template mentions; that is told', async () => {
  const html =
    '{{ profile.address.city }}{% for one in profile.items %}{{ one }}{% endfor %}{{ event.plan }}';
  const { body } = await post('/templates', draft({ html }));
  expect(body).toMatchObject({
    sample: {
      profile: { address: { city: 'city' }, items: 'items' },
      event: { plan: 'plan', event: expect.any(String) },
    },
    variables: ['event.plan', 'profile.address.city', 'profile.items'],
  });
});

test('a template without a link for leaving is kept, and warned of: marketing mail gets a footer', async () => {
  const warningsOf = async (given: object) =>
    (await post('/templates', draft({ text: 'x', ...given }))).body.warnings.map(
      ({ warning }: { warning: string }) => warning,
    );
  expect(await warningsOf({})).toEqual(['no_unsubscribe_link']);
  expect(await warningsOf({ html: '<a href="{{ unsubscribe_url }}">x</a>' })).toEqual([]);
  const long = `${'<p>x</p>'.repeat(14_000)}{{ unsubscribe_url }}`;
  expect(await warningsOf({ html: long })).toEqual(['clipped_by_gmail']);
  for (const text of [null, '', ' \n '])
    expect(await warningsOf({ html: '{{ unsubscribe_url }}', text })).toEqual(['no_text_part']);
});

describe('what is hardly meant as it is written', () => {
  const html = '{{ event.properties.plan }} {{ profile.traits.name.first }}\n{{ event.name }}';
  const meant = ['event.plan', 'event.event', 'profile.name.first'];
  const oddOf = (warnings: { warning: string; message: string }[]) =>
    warnings.flatMap(({ warning, message }) => (warning === 'unlikely_variable' ? [message] : []));

  test('is kept, and warned of with its place and what is likely meant; so is its draft', async () => {
    const odd = oddOf((await post('/templates', draft({ html }))).body.warnings);
    expect(odd.map((says) => / write (\S+)\.$/.exec(says)?.[1])).toEqual(meant);
    expect(odd[0]).toBe(
      'html, line 1, column 4: event.properties.plan is only there if the event has a property named properties. ' +
        'Otherwise write event.plan.',
    );
    expect(odd[1]).toContain('line 2, column 4');
    const previewed = await post('/template-previews', { template: draft({ html }) });
    expect(oddOf(previewed.body.warnings)).toEqual(odd);
  });

  test('what is no word of Liquid is advised as Liquid takes it', async () => {
    const { warnings } = (
      await post('/templates', draft({ html: '{{ profile.traits["first name"] }}' }))
    ).body;
    expect(oddOf(warnings)[0]).toContain('write profile["first name"].');
    const meantSo = await post('/templates', draft({ html: '{{ profile["first name"] }}' }));
    expect([meantSo.status, oddOf(meantSo.body.warnings)]).toEqual([201, []]);
  });

  test.each([
    [
      'where the sample has it',
      { html: '{{ event.name }}', sample: { profile: {}, event: { name: 'x' } } },
    ],
    ['of what is asked for whole', { html: '{{ event.properties | json }} {{ profile.traits }}' }],
    ['of the like further in', { html: '{{ profile.a.traits.b }} {{ profile.name }}' }],
  ])('is not warned of %s', async (_what, given) => {
    const { status, body } = await post('/templates', draft(given));
    expect([status, oddOf(body.warnings)]).toEqual([201, []]);
  });
});

describe('a preview', () => {
  const of = (id: string, body: object = {}) => post(`/templates/${id}/preview`, body);

  test('200: shows what somebody would get: their traits, the event, the project, sizes', async () => {
    const html = '<p>{{ profile.first_name }} {{ event.plan }} {{ project.name }}</p>';
    const id = await keep({
      html,
      subject: 'For {{ profile.email }}',
      preheader: '{{ event.event }}',
    });
    const event = { event: 'plan_changed', properties: { plan: 'pro' } };
    expect((await of(id, { profile_id: 'external_id:ann', event })).body).toMatchObject({
      subject: 'For ann@example.com',
      preheader: 'plan_changed',
      html: expect.stringContaining('<p>Ann pro shown</p>'),
      text: 'Ann pro shown',
      text_bytes: 13,
      warnings: [{ warning: 'no_unsubscribe_link' }, { warning: 'no_text_part' }],
    });
  });

  test('of an older version, for its own sample', async () => {
    const id = await keep({ sample: { profile: { first_name: 'Bob' }, event: {} } });
    await post(`/templates/${id}/versions`, { after_version: 1, subject: 's', html: 'new' });
    expect((await of(id, { version: 1 })).body.text).toBe('Hi Bob');
    expect((await of(id)).body.text).toBe('new');
    expect(expectRefusal(await of(id, { version: 9 }), 'invalid_request')).toMatchObject([
      { path: '/version' },
    ]);
  });

  test('names every variable that the person lacks, and shows the rest: their mail would fail', async () => {
    const id = await keep({
      html: 'Hi {{ profile.last_name }}, {{ profile.address.city }}!',
      text: 'x',
    });
    const { body } = await of(id, { profile_id: 'external_id:ann' });
    expect(body.html).toBe('Hi , !');
    expect(body.warnings).toMatchObject([
      {
        warning: 'missing_variable',
        message: expect.stringContaining('line 1, column 7: undefined variable: profile.last_name'),
      },
      { warning: 'missing_variable', message: expect.stringContaining('profile.address.city') },
      { warning: 'no_unsubscribe_link' },
    ]);
  });

  test('of a draft keeps nothing; what is wrong with it is refused as when it is kept', async () => {
    const template = draft({ subject: 'Draft' });
    const previewed = await post('/template-previews', { template, profile_id: 'external_id:ann' });
    expect(previewed.body).toMatchObject({ subject: 'Draft', text: 'Hi Ann' });
    expect((await ask('GET', '/templates')).body.items).toHaveLength(1);
    const wrong = { template: draft({ html: '{{' }) };
    expect(expectRefusal(await post('/template-previews', wrong), 'invalid_request')).toMatchObject(
      [{ path: '/html', message: expect.stringMatching(/^line 1, column 1/) }],
    );
  });

  test('of nobody is refused, and another project’s people are nobody', async () => {
    const nobody = { profile_id: 'external_id:nobody' };
    expect(expectRefusal(await of(SHOWN_ID, nobody), 'invalid_request')).toMatchObject([
      { path: '/profile_id' },
    ]);
  });
});
