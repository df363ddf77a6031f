// A preview shows a person as their email would: without links that a browser asserted, and no more than it may tell.
import { beforeEach, expect, test } from 'vitest';
import { ASSERTED_LISTED_MAX } from '../../src/rendering/asserted.ts';
import { makeShownProject, shownRelay } from '../http/as_shown.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
shownRelay(database);
const api = testApi(database);
beforeEach(() => makeShownProject(database, api));

const identify = (key: string, external_id: string, traits: object) =>
  api.call('POST', '/v1/identify', {
    key,
    body: { external_id, anonymous_id: external_id, traits },
  });
const preview = async (subject: string, body: object, html = '<p>Hi</p>') => {
  const answer = await api.call(
    'POST',
    `/v1/projects/${api.project.project_id}/template-previews`,
    {
      key: api.project.server_key,
      body: { template: { name: 'T', subject, html }, ...body },
    },
  );
  expect([answer.status, answer.body.issues]).toEqual([200, undefined]);
  return answer.body;
};
const event = (source: string) => ({
  event: { event: 'left', properties: { url: 'see https://shop.example' }, source },
});

test('what only a browser asserted has no URL, what a server said keeps it', async () => {
  const { server_key, publishable_key } = api.project;
  await identify(server_key, 'kim', { email: 'kim@x.test', site: 'shop.example' });
  await identify(publishable_key, 'kim', { first_name: 'Kim evil.com' });
  const profile_id = 'external_id:kim';
  const subject = '{{ profile.first_name }} {{ profile.site }} {{ event.url }}';
  expect(await preview(subject, { profile_id, ...event('browser') })).toMatchObject({
    subject: 'Kim shop.example see',
  });
  expect(await preview(subject, { profile_id, ...event('server') })).toMatchObject({
    subject: 'Kim shop.example see https://shop.example',
  });
});

test('of an unconfirmed address it shows what its browser asserted, and warns of what is missing', async () => {
  const { server_key, publishable_key } = api.project;
  await identify(server_key, 'lou', { phone: '5550001' });
  await identify(publishable_key, 'lou', { email: 'lou@x.test', first_name: 'Lou' });
  const profile_id = 'external_id:lou';
  const shown = await preview('{{ profile.first_name }} {{ profile.phone }}', { profile_id });
  expect(shown.subject).toBe('Lou');
  expect(shown.warnings).toContainEqual({
    warning: 'missing_variable',
    message: expect.stringContaining('phone'),
  });
  const happened = await preview('{{ event.url | default: "-" }}', {
    profile_id,
    ...event('server'),
  });
  expect(happened.subject).toBe('-');
});

test('attack: a value that makes a link together with the template is shown empty, with a warning', async () => {
  const html = '<a href="https://shop.co{{ event.path }}">{{ event.name }}</a>';
  const of = (source: string, path: string) =>
    preview('Hi', { event: { event: 'left', source, properties: { path, name: 'Ann' } } }, html);
  const attacked = await of('browser', 'm/x');
  expect(attacked.html).toContain('<a href="https://shop.co"></a>');
  const warning = expect.objectContaining({ warning: 'asserted_link' });
  expect(attacked.warnings).toContainEqual(warning);
  for (const [source, path] of [
    ['server', 'm/x'],
    ['browser', '?x'],
  ] as const) {
    const shown = await of(source, path);
    expect(shown.html).toContain(`<a href="https://shop.co${path}">Ann</a>`);
    expect(shown.warnings).not.toContainEqual(warning);
  }
});

test('attack: a thread prints no more asserted names with json than those that count', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 99 }, (_, at) => [`a${at}`, 'call 555-0199']),
  );
  const html = '<p>{{ event | json }}|{{ event.a98 }}</p>';
  const printed = async (source: string) => {
    const shown = await preview('Hi', { event: { event: 'left', source, properties } }, html);
    return shown.html.split('555-0199').length - 1;
  };
  expect(await printed('browser')).toBe(ASSERTED_LISTED_MAX + 1);
  expect(await printed('server')).toBe(100);
});
