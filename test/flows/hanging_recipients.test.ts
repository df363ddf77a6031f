// A relay that hangs for recipients that pages chose: email of a server goes out beside them, however many there are.
import { beforeAll, describe, expect, test } from 'vitest';
import { inProject } from '../../src/base/db.ts';
import { hint } from '../../src/base/hints.ts';
import { newId } from '../../src/base/ids.ts';
import { sendHint } from '../../src/delivery/delivery.ts';
import { makeMail, planSends } from '../support/planned_sends.ts';
import type { Mail } from '../support/planned_sends.ts';
import type { Action } from '../support/smtp_script.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
/** Several claims of them. */
const OF_PAGES = 450;
/** Far less than the relay's silence, and than so many emails take one after the other. */
const SOON_MS = 20_000;
const OF_PAGE = { limits: { browser_triggered: true, zone: 'UTC' } } as const;

describe.each<[string, Action]>([
  ['never answers', 'hang'],
  ['answers after two seconds', { delayMs: 2_000 }],
])('a relay that %s for recipients of pages', (_what, action) => {
  const world = testWorld();
  const [automationId, other] = [newId(), newId()];
  let mail: Mail;

  const plan = async (recipients: string[], given: Parameters<typeof planSends>[3]) => {
    const { project_id: projectId } = world.project;
    await inProject(world.deps, projectId, (scope) => planSends(scope, mail, recipients, given));
    await hint(world.deps, sendHint(projectId, mail.providerId));
  };
  const hasGone = (recipient: string) =>
    world.sink.mails.some(({ to, answer }) => to.includes(recipient) && answer === 250);

  beforeAll(async () => {
    mail = await makeMail(world.deps, world.project.project_id, world.sink);
    world.sink.play('end', action, { when: ({ to }) => to[0]?.startsWith('page-') === true });
    const category = 'transactional';
    const recipients = Array.from({ length: OF_PAGES }, (_, at) => `page-${at}@people.test`);
    await plan(recipients, { ...OF_PAGE, automationId, category });
    await world.start('worker');
    await until('emails of pages are under way', () =>
      world.sink.mails.some(({ to }) => to[0]?.startsWith('page-') === true),
    );
  }, TEST_TIMEOUT_MS);

  test.each([
    ['transactional', 'the same automation', automationId],
    ['transactional', 'another automation', other],
    ['marketing', 'the same automation', automationId],
    ['marketing', 'another automation', other],
  ] as const)(
    'takes %s email of a server, of %s, soon',
    async (category, what, ofAutomation) => {
      for (let at = 0; at < 3; at += 1) {
        const recipient = `${category}-${what.replaceAll(' ', '-')}-${at}@people.test`;
        await plan([recipient], { category, automationId: ofAutomation });
        await until(`it is taken (${at})`, () => hasGone(recipient), SOON_MS);
      }
      expect(world.sink.mails.filter(({ to }) => to[0]?.startsWith('page-')).length).toBeLessThan(
        OF_PAGES,
      );
    },
    TEST_TIMEOUT_MS,
  );
});

describe('a relay that never answers for recipients of pages, at more providers than are fed at a time', () => {
  const world = testWorld();
  const PROVIDERS = 8;
  /** More than the lanes that pages may use. */
  const OF_EACH = 40;

  test(
    'takes email of a server of each provider soon',
    async () => {
      const { deps, project, sink } = world;
      const { project_id: projectId } = project;
      const mails: Mail[] = [];
      while (mails.length < PROVIDERS)
        mails.push(await makeMail(deps, projectId, sink, `hello-${mails.length}@shop.test`));
      sink.play('end', 'hang', { when: ({ to }) => to[0]?.startsWith('page-') === true });
      const category = 'transactional';
      const plan = async (mail: Mail, name: string, given: Parameters<typeof planSends>[3]) => {
        const count = given?.limits ? OF_EACH : 1;
        const recipients = Array.from({ length: count }, (_, at) => `${name}-${at}@people.test`);
        await inProject(deps, projectId, (scope) => planSends(scope, mail, recipients, given));
        await hint(deps, sendHint(projectId, mail.providerId));
      };
      await world.start('worker');
      for (const mail of mails)
        await plan(mail, `page-${mail.providerId}`, { ...OF_PAGE, category });
      await until(
        'emails of pages hang at each provider',
        () => new Set(sink.mails.map(({ to }) => to[0]?.slice(0, 41))).size === PROVIDERS,
      );
      for (let round = 0; round < 3; round += 1) {
        const names = mails.map(({ providerId }) => `order-${round}-${providerId}`);
        for (const [at, mail] of mails.entries()) await plan(mail, names[at] ?? '', { category });
        const gone = () =>
          names.filter((name) => sink.mails.some(({ to }) => to[0]?.startsWith(name) === true));
        await until(`all are taken (${round})`, () => gone().length === PROVIDERS, SOON_MS);
      }
    },
    TEST_TIMEOUT_MS,
  );
});
