import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { prepareSends } from '../../src/delivery/prepare.ts';
import type { NewSend } from '../../src/delivery/queries.ts';
import { readUnsubscribeToken } from '../../src/suppression/suppression.ts';
import { newPerson, tell } from '../profiles/people.ts';
import { keepTemplateAsIs } from '../support/kept_template.ts';
import { testDatabase } from '../support/database.ts';
import { newSend, OWNER, sendsOf } from './one_send.ts';
import { readyOf } from './ready.ts';

const database = testDatabase();

const ready = readyOf(newId(), newId());

/** Plans one send for each template, and leases them all. */
const leased = async (given: Partial<NewSend>, templates: readonly string[]) => {
  const person = await newPerson(database);
  await tell(database, person, { traits: { name: 'Ann', email: 'ann@example.com' } });
  const { projectId } = person;
  const sends = sendsOf(database, projectId);
  const providerId = newId();
  const ids: string[] = [];
  for (const html of templates) {
    const templateId = newId();
    const subject = 'Hello {{ profile.name }}';
    await keepTemplateAsIs(database.owner, projectId, templateId, { subject, html });
    const send = newSend({
      recipient: 'ann@example.com',
      ...given,
      providerId,
      templateId,
      profileId: person.profileId,
      runId: newId(),
    });
    await sends.plan(send);
    ids.push(send.sendId);
  }
  return { projectId, sends, ids, claimed: await sends.claim(providerId) };
};

/** The same, and prepares them. */
const prepared = async (first: string | Partial<NewSend>, ...others: string[]) => {
  const isPlain = typeof first === 'string';
  const made = await leased(isPlain ? {} : first, isPlain ? [first, ...others] : others);
  const { projectId, sends, ids, claimed } = made;
  const { built } = await prepareSends(database.deps, {
    projectId,
    owner: OWNER,
    ready,
    claimed,
    isBare: false,
  });
  return { projectId, sends, ids, made: built };
};

test('a leased send becomes a message, and what will be sent is kept', async () => {
  const { made, ids } = await prepared('<p>{{ profile.name }} {{ profile.email }}</p>');
  expect(made.map(({ send }) => send.send_id)).toEqual(ids);
  expect(made[0]?.raw.toString()).toContain('Subject: Hello Ann');
  const { rows } = await database.owner.query(
    'select subject, html, text from delivery.contents where send_id = $1',
    [ids[0]],
  );
  expect(rows).toEqual([
    {
      subject: 'Hello Ann',
      html: expect.stringMatching(/^<p>Ann ann@example.com<\/p>\n<div.*>Unsubscribe<\/a><\/div>$/),
      text: expect.stringMatching(
        /^Ann ann@example.com\n\n--\nUnsubscribe: http:\/\/127\.0\.0\.1:0\/u\/[\w-]{108}\n$/,
      ),
    },
  ]);
});

test('every message in a batch says how to leave, to its own reader, in one field each', async () => {
  const { made } = await prepared('<p>one</p>', '<p><a href="{{ unsubscribe_url }}">leave</a></p>');
  for (const { send, raw } of made) {
    const mail = await PostalMime.parse(raw);
    const [field = ''] = mail.headers.flatMap(({ key, value }) =>
      key === 'list-unsubscribe' ? [value] : [],
    );
    const [, url = '', token = ''] = /^<(http:.*\/u\/([\w-]+))>$/.exec(field) ?? [];
    expect(readUnsubscribeToken(database.deps.keys, token)).toMatchObject({
      addressKey: send.address_key,
      sendId: send.send_id,
    });
    expect(mail.html?.split(url)).toHaveLength(2);
    expect(mail.text).toContain(url);
  }
  expect(made[1]?.raw.toString()).not.toContain('>Unsubscribe</a>');
});

test('transactional mail has no way to leave, unless its template shows one', async () => {
  const html = '<p>{{ project.name }}: <a href="{{ unsubscribe_url }}">leave</a></p>';
  const { made } = await prepared({ category: 'transactional' }, '<p>receipt</p>', html);
  const [receipt = '', other = ''] = made.map(({ raw }) => raw.toString());
  for (const raw of [receipt, other]) expect(raw).not.toMatch(/^List-Unsubscribe/im);
  expect(receipt).not.toContain('/u/');
  expect(other).toContain('/u/');
});

test.each([
  ['a variable nobody has', '{{ event.nothing }}'],
  ['a loop without end', '{% for i in (1..999999999) %}x{% endfor %}'],
  ['too much of everything', `{% for i in (1..9) %}${'x'.repeat(100_000)}{% endfor %}`],
  ['a text part that takes seconds', '{% for i in (1..170000) %}<b>{% endfor %}'],
  ['U+0000 from a filter', 'a{{ "%00" | url_decode }}b'],
  ['U+0000 in its own failure', '{% assign x = "%00" | url_decode %}{% render x %}'],
])('a template with %s ends its own send and no other', async (_what, html) => {
  const { sends, ids, made } = await prepared('<p>good</p>', html, '<p>good too</p>');
  expect(new Set(made.map(({ send }) => send.send_id))).toEqual(new Set([ids[0], ids[2]]));
  expect(await sends.read(ids[1] as string)).toMatchObject({
    status: 'failed_render',
    status_reason: expect.any(String),
    lease_owner: null,
  });
});

test('after a large message others have their turn, before the next is put together', async () => {
  const large = `<p>${'large '.repeat(16_000)}</p>`;
  const { projectId, claimed } = await leased({}, [large, large, large]);
  let turns = 0;
  let next = setImmediate(function turn() {
    turns += 1;
    next = setImmediate(turn);
  });
  const begun: number[] = [];
  const watched = {
    ...ready,
    get sender() {
      begun.push(turns);
      return ready.sender;
    },
  };
  const batch = { projectId, owner: OWNER, ready: watched, claimed, isBare: false };
  const { built } = await prepareSends(database.deps, batch);
  clearImmediate(next);
  expect(built).toHaveLength(3);
  expect(new Set(begun).size).toBe(3);
});

test('a template that is gone ends its send', async () => {
  const projectId = newId();
  const sends = sendsOf(database, projectId);
  const send = newSend();
  await sends.plan(send);
  const claimed = await sends.claim(send.providerId);
  const made = await prepareSends(database.deps, {
    projectId,
    owner: OWNER,
    ready,
    claimed,
    isBare: false,
  });
  expect(made).toEqual({ built: [], ended: claimed, left: [] });
  expect(await sends.read(send.sendId)).toMatchObject({ status: 'failed_render' });
});

test('preparing again keeps what was made last', async () => {
  const { projectId, ids, made } = await prepared('<p>good</p>');
  const claimed = made.map(({ send }) => send);
  await prepareSends(database.deps, { projectId, owner: OWNER, ready, claimed, isBare: false });
  const { rowCount } = await database.owner.query(
    'select from delivery.contents where send_id = $1',
    ids,
  );
  expect(rowCount).toBe(1);
});

test('mail of a test says so in its subject, as it is sent and as it is kept', async () => {
  const { made, ids } = await prepared({ isTest: true }, '<p>Hello</p>');
  const mail = await PostalMime.parse(made[0]?.raw ?? '');
  expect(mail.subject).toBe('[Test] Hello Ann');
  expect(made[0]?.subject).toBe('[Test] Hello Ann');
  const { rows } = await database.owner.query(
    'select subject from delivery.contents where send_id = $1',
    [ids[0]],
  );
  expect(rows).toEqual([{ subject: '[Test] Hello Ann' }]);
});
