// A template that prints an object shows its reader what only programs read: it is kept, and warned of.
import { beforeEach, expect, test } from 'vitest';
import { WHOLE_TOLD_MAX } from '../../src/rendering/whole.ts';
import { makeShownProject, shownRelay } from '../http/as_shown.ts';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
shownRelay(database);
const api = testApi(database);
beforeEach(() => makeShownProject(database, api));

type Warned = { warning: string; message: string };
const post = (path: string, body: object) =>
  api.call('POST', `/v1/projects/${api.project.project_id}${path}`, {
    key: api.project.server_key,
    body,
  });
const draft = (given: object) => ({ name: 'Mail', subject: 'Hi', html: 'x', ...given });
const wholeIn = (warnings: Warned[]) =>
  warnings.flatMap(({ warning, message }) => (warning === 'whole_object' ? [message] : []));
/** What is said of a template that is kept. */
const saidOf = async (given: object): Promise<string[]> => {
  const { status, body } = await post('/templates', draft(given));
  expect([status, body.issues]).toEqual([201, undefined]);
  return wholeIn(body.warnings);
};

const OBJECT = 'shows its reader "[object Object]".';
const JSON_TOLD = 'shows its reader JSON.';
const CITY = { profile: { address: { city: 'Ulm' }, items: [{ name: 'x' }], tags: ['a', 'b'] } };
const sample = { ...CITY, event: {} };

test.each([
  [
    { html: '{{ profile }}' },
    `html, line 1, column 1: {{ profile }} ${OBJECT} Name what of it is meant, `,
  ],
  [{ html: 'a\n{{- event | json }}' }, `html, line 2, column 1: {{- event | json }} ${JSON_TOLD} `],
  [{ html: '{% if run %}{{ run }}{% endif %}' }, `html, line 1, column 13: {{ run }} ${OBJECT}`],
  [{ subject: '{{ project }}' }, `subject, line 1, column 1: {{ project }} ${OBJECT}`],
  [
    { text: '{{ profile.address }} {{ profile.address.city }}' },
    `text, line 1, column 1: {{ profile.address }}`,
  ],
  [{ html: '{{ profile.address }}', sample }, 'such as {{ profile.address.city }}.'],
  [{ html: '{{ profile.items }}', sample }, `${OBJECT} Go through it with {% for … %}.`],
  [{ html: '{{ profile.tags | json }}', sample }, `${JSON_TOLD} Go through it`],
  [
    { html: '{{ event.properties | json }}' },
    '{{ event.properties | json }} is only there if the event has a property named properties, ' +
      'and whole it would show its reader JSON. Name what is meant: {{ event.… }}.',
  ],
  [
    { html: '{{ profile.traits }}' },
    'if the profile has a trait named traits, and whole it would show',
  ],
])('%j is warned of', async (given, says) => {
  const said = await saidOf(given);
  expect(said).toEqual([expect.stringContaining(says)]);
  const previewed = await post('/template-previews', { template: draft(given) });
  expect(wholeIn(previewed.body.warnings)).toEqual(said);
});

test.each([
  [{ html: '{{ profile.first_name | json }} {{ event.plan }} {{ unsubscribe_url }}' }],
  [{ html: '{% for one in profile.items %}{{ one.name }}{% endfor %}', sample }],
  [
    {
      html: '{{ profile.items | size }} {{ profile.tags }} {{ profile.tags | join: ", " }}',
      sample,
    },
  ],
  [{ html: '{{ profile.items | map: "name" | json }}', sample }],
  [{ html: '{% if profile.address %}{{ profile.address.city }}{% endif %}', sample }],
  [{ html: '{{ profile.address[profile.tags[0]] | default: "x" }}', sample }],
  [{ html: '<script type="application/ld+json">{{ profile.address | json }}</script>', sample }],
  [{ html: '{% for event in profile.tags %}{{ event }}{% endfor %}', sample }],
  [{ html: '{% assign run = "x" %}{{ run }}' }],
  [{ html: '{{ profile.traits }}', sample: { profile: { traits: 'many' }, event: {} } }],
])('%j is not', async (given) => {
  expect(await saidOf(given)).toEqual([]);
});

test('what follows a script is read by people again', async () => {
  const html = '<script></script>{{ profile.address | json }}';
  expect(await saidOf({ html, sample })).toHaveLength(1);
});

test.each([WHOLE_TOLD_MAX, WHOLE_TOLD_MAX + 1])(
  'of %i in one part no more are told',
  async (count) => {
    const said = await saidOf({ html: '{{ run }}'.repeat(count) });
    expect(said).toHaveLength(WHOLE_TOLD_MAX);
  },
);
