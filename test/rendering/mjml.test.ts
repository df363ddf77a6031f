import { expect, test } from 'vitest';
import { compileMjml } from '../../src/rendering/mjml.ts';
import { refusalOf } from '../support/refusal_of.ts';

const mail = (body: string): string => `<mjml><mj-body>${body}</mj-body></mjml>`;
const row = (content: string): string =>
  `<mj-section><mj-column>${content}</mj-column></mj-section>`;
const issuesOf = async (source: string) => (await refusalOf(compileMjml(source))).extras.issues;

test('MJML becomes HTML, and Liquid stays as it was, in text, in attributes and around sections', async () => {
  const html = await compileMjml(
    mail(
      row(
        '<mj-text>Hi {{ profile.name | default: "you" }} {% if event.x > 3 %}a &amp; b{% endif %}</mj-text>',
      ) +
        row('<mj-button href="{{ unsubscribe_url }}">Leave</mj-button>') +
        '<mj-raw>{% for item in event.items %}</mj-raw>' +
        row('<mj-text>{{ item }}</mj-text>') +
        '<mj-raw>{% endfor %}</mj-raw>',
    ),
  );
  expect(html).toMatch(/^<!doctype html>/i);
  for (const tag of [
    '{{ profile.name | default: "you" }}',
    '{% if event.x > 3 %}',
    'href="{{ unsubscribe_url }}"',
    '{% for item in event.items %}',
    '{% endfor %}',
  ])
    expect(html).toContain(tag);
});

test('nothing is loaded from anybody that the author did not name', async () => {
  expect(await compileMjml(mail(row('<mj-text>Hi</mj-text>')))).not.toMatch(
    /googleapis|@import|<link/i,
  );
});

test.each([
  ['an element nobody knows', mail(row('<mj-nothing/>')), /line 1, column 39: Element mj-nothing/],
  ['an attribute nobody knows', mail(row('<mj-text colour="red">x</mj-text>')), /colour/],
  ['text', 'hello', /not MJML/],
  ['nothing', '', /not MJML/],
  ['Liquid between sections, which MJML leaves out', mail(`{% if true %}${row('')}`), /mj-raw/],
])('%s is refused', async (_what, source, message) => {
  expect(await issuesOf(source)).toEqual([
    { path: '/mjml', message: expect.stringMatching(message) },
  ]);
});

test.each(['/etc/hostname', './package.json', 'file:///etc/hostname'])(
  'a file is never read: mj-include of %s is refused',
  async (path) => {
    for (const tag of ['mj-include', 'MJ-INCLUDE'])
      expect(await issuesOf(mail(`<${tag} path="${path}"/>`))).toMatchObject([{ path: '/mjml' }]);
  },
);

test('what is wrong is said without a path of this machine', async () => {
  expect(JSON.stringify(await issuesOf(mail(row('<mj-nothing/>'))))).not.toContain(process.cwd());
});
