// Templates are other people's programs: whatever one does, it does it in a thread, and there is an end to it.
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { Resources } from '../../src/base/resources.ts';
import { MAIL_MS_MAX, renderMails, examineApart, showApart } from '../../src/rendering/apart.ts';
import { Threads } from '../../src/rendering/threads.ts';
import type { Task } from '../../src/rendering/tasks.ts';
import { longestHold } from '../support/processor.ts';

const variables = {
  profile: { name: 'Ann', list: [1, 2, 3] },
  event: {},
  run: { send_id: 's' },
  project: { name: 'Shop' },
  unsubscribe_url: 'https://mail.shop.example/u/token',
};
/** Of all: a thread takes its time to start, and whatever was done in one before, the next has what it needs. */
const resources = new Resources();
afterAll(() => resources.close());

let made = 0;
const mailOf = (html: string, given: object = {}) => ({
  template: {
    template_id: `t${(made += 1)}`,
    version: 1,
    subject: 'Hello',
    html,
    text: null,
    preheader: null,
    ...given,
  },
  variables,
  asserted: null,
});
const renderOf = async (htmls: readonly string[], projectId = 'p', msMax = 60_000) =>
  renderMails(
    { resources },
    projectId,
    htmls.map((html) => mailOf(html)),
    msMax,
  );
/** What such a template would take of the loop is seconds, what the loop has to do is milliseconds. */
const HELD_MS_MAX = 1_000;
const OUTPUT = '{{ "a" | append: "b" }}';
/** Quick to render, and seconds of work to make the text part of: nobody looks at the clock meanwhile. */
const ONE_LONG_STEP = '{% for i in (1..170000) %}<b>{% endfor %}';

describe('a hostile template fails, the next mail is rendered, and the event loop goes on', () => {
  test.each([
    [
      'loops in loops',
      `${'{% for a in (1..9999) %}'.repeat(4)}${OUTPUT}${'{% endfor %}'.repeat(4)}`,
    ],
    [
      'a string that doubles',
      '{% assign x = "ab" %}{% for i in (1..99) %}{% assign x = x | append: x %}{% endfor %}{{ x }}',
    ],
    ['a range as long as memory', '{{ (1..99999999999) | join: "" }}'],
    ['one step without an end', ONE_LONG_STEP],
    ['tags in tags in tags', `${'{% if true %}'.repeat(15_000)}`],
    [
      'filters on filters',
      `{{ "a" ${'| append: "b" '.repeat(15_000)}}}${'{% for i in (1..999999) %}{{ i }}{% endfor %}'}`,
    ],
    ['a date as wide as memory', '{{ "now" | date: "%999999999d" }}'],
    [
      'a replacement that explodes',
      `{{ "${'a'.repeat(90_000)}" | replace: "a", "${'b'.repeat(20_000)}" }}`,
    ],
    ['a reach for what is not its own', '{{ profile.constructor.constructor }}'],
  ])('%s', async (_what, html) => {
    let outcomes: Awaited<ReturnType<typeof renderOf>> = [];
    const held = await longestHold(async () => {
      outcomes = await renderOf([html, '<p>{{ profile.name }}</p>']);
    });
    expect(outcomes).toMatchObject([
      { kind: 'failed' },
      { kind: 'rendered', message: { html: '<p>Ann</p>', text: 'Ann' } },
    ]);
    expect(held).toBeLessThan(HELD_MS_MAX);
  });

  test('HTML that nests without an end, which only the text part is hurt by', async () => {
    const html = '{% for i in (1..40000) %}<table><tr><td>{% endfor %}';
    const [hostile, next] = await renderOf([html, 'x']);
    expect(['failed', 'rendered']).toContain(hostile?.kind);
    expect(next).toMatchObject({ kind: 'rendered' });
  });
});

const slow = (ms: number): Task => ({
  kind: 'render',
  source: { subject: 's', html: ONE_LONG_STEP, text: null, preheader: null },
  variables: { ...variables, profile: { ms } },
  asserted: null,
  key: `slow ${(made += 1)}`,
});
const quick = (name: string): Task => ({
  kind: 'render',
  source: { subject: name, html: name, text: '', preheader: null },
  variables,
  asserted: null,
  key: name,
});
const subjectsOf = (outcomes: readonly (object | null)[]) =>
  outcomes.map((one) => (one === null ? null : 'message' in one ? one.message : 'failed'));

describe('threads', () => {
  const threadsOf = (given: object = {}) => {
    const threads = new Threads({
      threadsMax: 2,
      waitingMax: 3,
      waitingOfProjectMax: 3,
      taskMsMax: 300,
      turnMs: 20,
      memoryMbMax: 64,
      ...given,
    });
    closing.push(threads);
    return threads;
  };
  const closing: Threads[] = [];
  afterEach(async () => {
    for (const threads of closing.splice(0)) await threads.close();
  });

  test('a task that takes too long is stopped from outside, and says so; no other is lost', async () => {
    const outcomes = await threadsOf().perform('p', [
      quick('a'),
      slow(1),
      quick('b'),
      slow(2),
      quick('c'),
    ]);
    expect(subjectsOf(outcomes)).toMatchObject([
      { subject: 'a' },
      'failed',
      { subject: 'b' },
      'failed',
      { subject: 'c' },
    ]);
    expect(outcomes[1]).toEqual({
      kind: 'failed',
      reason: 'it took longer than 300 milliseconds. Please make it do less.',
    });
  });

  test('a project whose templates take all they may has one thread, and others do not wait for it', async () => {
    const threads = threadsOf({ taskMsMax: 1_000 });
    await threads.perform('other', [quick('warm')]);
    const hostile = threads.perform('hostile', [slow(1), slow(2), slow(3)]);
    const done: string[] = [];
    const noted = hostile.then(() => done.push('hostile'));
    for (let at = 0; at < 5; at += 1) await threads.perform('other', [quick(`other ${at}`)]);
    done.push('other');
    await noted;
    expect(done).toEqual(['other', 'hostile']);
  });

  test('with one thread a project waits for a turn of another, not for all that it asked', async () => {
    const threads = threadsOf({ threadsMax: 1 });
    const hostile = threads.perform('hostile', [slow(1), slow(2), slow(3), slow(4)]);
    let isDone = false;
    const noted = hostile.then(() => (isDone = true));
    await threads.perform('other', [quick('other')]);
    expect(isDone).toBe(false);
    await noted;
  });

  test('what is not come to in time is given back, not failed', async () => {
    const threads = threadsOf({ threadsMax: 1 });
    await threads.perform('p', [quick('warm')]);
    const outcomes = await threads.perform('p', [slow(1), quick('late')], 100);
    expect(subjectsOf(outcomes)).toEqual(['failed', null]);
  });

  test('memory is bounded by thread: whoever takes more fails alone, and the process lives', async () => {
    const html = '{% for i in (1..100000) %}<li>x{% endfor %}';
    const hungry: Task = {
      kind: 'render',
      source: { subject: 's', html, text: null, preheader: null },
      variables,
      asserted: null,
      key: 'h',
    };
    const outcomes = await threadsOf({ taskMsMax: 20_000, memoryMbMax: 16 }).perform('p', [
      hungry,
      quick('a'),
    ]);
    expect(subjectsOf(outcomes)).toMatchObject(['failed', { subject: 'a' }]);
  });

  test('so many wait and no more are asked', async () => {
    const threads = threadsOf({ threadsMax: 1 });
    const all = ['a', 'b', 'c'].map((name) => {
      expect(threads.isFullFor('d')).toBe(false);
      return threads.perform(name, [quick(name)]);
    });
    expect([threads.isFullFor('d'), threads.waitingCount]).toEqual([true, 3]);
    expect(await threads.perform('d', [quick('d')])).toEqual([null]);
    await Promise.all(all);
    expect(threads.isFullFor('d')).toBe(false);
  });

  test('attack: a project fills the queue with slow templates, and another is still taken', async () => {
    const threads = threadsOf({ waitingMax: 10, waitingOfProjectMax: 2 });
    const hostile = [1, 2].map((at) => threads.perform('hostile', [slow(at)]));
    expect([threads.isFullFor('hostile'), threads.isFullFor('other')]).toEqual([true, false]);
    expect(await threads.perform('hostile', [slow(3)])).toEqual([null]);
    const done: string[] = [];
    const noted = hostile.map((one) => one.then(() => done.push('hostile')));
    await threads.perform('other', [quick('other')]).then(() => done.push('other'));
    await Promise.all(noted);
    expect(done.indexOf('other')).toBeLessThan(2);
  });

  test('attack: several projects with slow templates at once leave a thread to the others', async () => {
    const threads = threadsOf({ taskMsMax: 3_000, waitingMax: 100, waitingOfProjectMax: 10 });
    await threads.perform('other', [quick('warm')]);
    const done: string[] = [];
    const hostile = ['a', 'b', 'c'].map((name) =>
      threads.perform(name, [slow(1), slow(2)]).then(() => done.push(name)),
    );
    // By then each of them has shown what its templates take.
    await threads.perform('other', [quick('first')]);
    for (let at = 0; at < 5; at += 1)
      await threads.perform('other', [quick(`other ${at}`)]).then(() => done.push('other'));
    expect(done.slice(0, 5)).toEqual(Array(5).fill('other'));
    await Promise.all(hostile);
  });

  test('a slow turn gives way to another project, and begins again without blame', async () => {
    const threads = threadsOf({ threadsMax: 1, taskMsMax: 4_000, memoryMbMax: 512 });
    const done: string[] = [];
    // The slow task first: a turn also ends, without preemption, after a quick task that a busy machine delays.
    const slowOne = threads.perform('slow', [slow(1), quick('after')]);
    const noted = slowOne.then(() => done.push('slow'));
    await threads.perform('other', [quick('other')]).then(() => done.push('other'));
    await noted;
    expect(done).toEqual(['other', 'slow']);
    expect(threads.preemptedCount).toBe(1);
    expect(subjectsOf(await slowOne)).toMatchObject(['failed', { subject: 'after' }]);
  });

  test('projects that save a small MJML each while no thread has started are not slow', async () => {
    const threads = threadsOf({ taskMsMax: 60_000, turnMs: 100, memoryMbMax: 256, waitingMax: 10 });
    const text = '<mj-text>Hi {{ profile.name | default: "you" }}</mj-text>';
    const mjml = `<mjml><mj-body><mj-section><mj-column>${text}</mj-column></mj-section></mj-body></mjml>`;
    const written = { subject: 's', preheader: null, text: null, html: null, mjml, sample: null };
    const projects = ['a', 'b', 'c', 'd', 'e', 'f'];
    const saved = projects.map((id) => threads.perform(id, [{ kind: 'examine', written }]));
    expect((await Promise.all(saved)).flat()).toMatchObject(projects.map(() => ({ kind: 'good' })));
    expect(threads.preemptedCount).toBe(0);
  });

  test('closing gives back what waits, and is over at once', async () => {
    const threads = threadsOf({ threadsMax: 1, taskMsMax: 60_000 });
    const first = threads.perform('p', [slow(1)]);
    const second = threads.perform('p', [quick('a')]);
    await threads.close();
    expect(await Promise.all([first, second])).toEqual([[null], [null]]);
    expect(await threads.perform('p', [quick('b')])).toEqual([null]);
  });
});

test('nothing that one project’s template does is seen by another’s', async () => {
  const [outcome] = await renderOf(
    ['{% assign secret = "ours" %}{% increment n %}{% capture c %}x{% endcapture %}'],
    'a',
  );
  expect(outcome).toMatchObject({ kind: 'rendered' });
  expect(
    await renderOf(['{% increment n %}{% if secret or c %}seen{% endif %}'], 'b'),
  ).toMatchObject([{ message: { html: '0' } }]);
});

test('a version is parsed once, and is another in another project', async () => {
  const mail = mailOf('{{ profile.name }}');
  const again = {
    ...mail,
    template: { ...mail.template, html: 'changed, which versions never do' },
  };
  const render = (projectId: string, one: typeof mail) =>
    renderMails({ resources }, projectId, [one], 10_000);
  await render('a', mail);
  expect(await render('a', again)).toMatchObject([{ message: { html: 'Ann' } }]);
  expect(await render('b', again)).toMatchObject([
    { message: { html: expect.stringContaining('changed') } },
  ]);
});

test('MJML that explodes is refused or stopped when it is saved, and mails do not wait for it', async () => {
  const deep = '<mj-section><mj-column>'.repeat(8_000);
  const written = { subject: 's', preheader: null, text: null, html: null, sample: null };
  const bomb = examineApart({ resources }, 'p', {
    ...written,
    mjml: `<mjml><mj-body>${deep}</mj-body></mjml>`,
  });
  const held = await longestHold(async () => {
    expect(await renderOf(['x'])).toMatchObject([{ kind: 'rendered' }]);
    expect(['refused', 'failed']).toContain((await bomb).kind);
  });
  expect(held).toBeLessThan(HELD_MS_MAX);
});

test('what is shown to an author is rendered in a thread too', async () => {
  const source = { subject: 's', html: ONE_LONG_STEP, text: null, preheader: null };
  const held = await longestHold(async () => {
    expect(
      await showApart({ resources }, 'p', { source, variables, asserted: null }),
    ).toMatchObject({
      kind: 'failed',
    });
  });
  expect(held).toBeLessThan(HELD_MS_MAX);
});

test('the bound of a mail is the one that is documented', () => {
  expect(MAIL_MS_MAX).toBe(2_000);
});
