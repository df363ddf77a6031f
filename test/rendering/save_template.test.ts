import { expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import { TEMPLATE_CHARS_MAX } from '../../src/rendering/limits.ts';
import { render } from '../../src/rendering/render.ts';
import { findTemplate, saveTemplate } from '../../src/rendering/rendering.ts';
import type { TemplateText } from '../../src/rendering/rendering.ts';
import { refusalOf } from '../support/refusal_of.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const text = { name: 'welcome', subject: 'Hi', html: '<p>Hi</p>', text: null };
const sample = { profile: { first_name: 'Ann' }, event: { plan: 'pro' } };

const save = (given: TemplateText) =>
  inProject(database.deps, newId(), async (scope) => {
    const template = await findTemplate(scope, await saveTemplate(scope, given), 1);
    if (!template) throw new Error('not saved');
    return template;
  });
const issuesOf = async (given: TemplateText) => (await refusalOf(save(given))).extras.issues;

test('a template with MJML is kept as its HTML, and the MJML with it', async () => {
  const column = '<mj-column><mj-text>{{ profile.first_name }}</mj-text></mj-column>';
  const mjml = `<mjml><mj-body><mj-section>${column}</mj-section></mj-body></mjml>`;
  const { html: _, ...rest } = text;
  const template = await save({ ...rest, mjml, sample });
  expect(template.html).toContain('{{ profile.first_name }}');
  const { rows } = await database.owner.query(
    'select mjml from rendering.templates where template_id = $1',
    [template.template_id],
  );
  expect(rows).toEqual([{ mjml }]);
});

test('with a sample, a variable that it lacks is refused when the template is saved', async () => {
  const html = '{{ profile.first_name }} {{ event.plan }} {{ project.name }} {{ unsubscribe_url }}';
  await save({ ...text, html, sample });
  for (const part of ['subject', 'html', 'text', 'preheader'])
    expect(await issuesOf({ ...text, [part]: '{{ profile.last_name }}', sample })).toMatchObject([
      { message: expect.stringContaining('last_name') },
    ]);
});

test.each(['{% if true %}', '{{ x | nothing }}', '{% nothing %}', '{{'])(
  'what Liquid cannot read is refused by its part, sample or not: %s',
  async (bad) => {
    for (const part of ['subject', 'html', 'text', 'preheader'])
      expect(await issuesOf({ ...text, [part]: bad })).toMatchObject([{ path: `/${part}` }]);
  },
);

test('each part may be of the longest size and not one character longer, and is storable text', async () => {
  const long = (chars: number) => ({ ...text, html: 'x'.repeat(chars) });
  await save(long(TEMPLATE_CHARS_MAX));
  expect(await issuesOf(long(TEMPLATE_CHARS_MAX + 1))).toMatchObject([{ path: '/html' }]);
  expect(await issuesOf({ ...text, name: 'a\0b' })).toMatchObject([{ path: '/name' }]);
  expect(await issuesOf({ ...text, subject: '\uD800' })).toMatchObject([{ path: '/subject' }]);
});

test('a filter that does not exist at rendering cannot have been saved: render agrees with save', async () => {
  const template = await save({ ...text, preheader: 'For {{ profile.first_name }}' });
  const outcome = render(template, {
    ...sample,
    run: { send_id: 's' },
    project: { name: 'Shop' },
    unsubscribe_url: 'https://x.example/u/t',
  });
  expect(outcome).toMatchObject({ kind: 'rendered', message: { text: 'Hi' } });
});
