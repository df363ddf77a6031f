// The service as two workers and an api, attacked with no more than the publishable key of a page.
import PostalMime from 'postal-mime';
import { beforeAll, expect } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import type { NewDefinition } from '../../src/automations/schema.ts';
import { inProject } from '../../src/base/db.ts';
import { writeSettings } from '../../src/delivery/settings.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { askService } from '../support/ask_service.ts';
import { saveSink } from '../support/mail_steps.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

export const TEST_TIMEOUT_MS = 120_000;
export const DEFAULTS = { recipient_sends_max: 3, unconfirmed_sends_max: 200 };
const BATCH_MAX = 50;

type Mail = {
  subject: string;
  html?: string;
  steps?: NewDefinition['steps'];
  entry?: string;
  source?: 'server';
};

/** Steps that keep what the event says about its person before the email is sent. */
export const REMEMBER = {
  entry: 'remember',
  steps: {
    remember: {
      kind: 'update_profile' as const,
      traits_from_event: { email: 'email', first_name: 'first_name' },
      next: 'mail',
    },
  },
};

/** A busy machine may have a provider tried again; only what waits for the hourly budget has come to rest. */
const isOpen = (stands: string): boolean =>
  stands.startsWith('handing_off') ||
  (stands.startsWith('queued') && stands !== 'queued/unconfirmed_budget');

const readMail = async (raw: Buffer): Promise<{ subject: string; says: string }> => {
  const { subject = '', html = '', text = '', headers } = await PostalMime.parse(raw);
  const says = [subject, html, text, ...headers.map(({ value }) => value)].join('\n');
  return { subject, says };
};

export const attackedWorld = () => {
  const world = testWorld();
  let service: Service;
  let providerId: string;
  let events = 0;

  beforeAll(async () => {
    providerId = await saveSink(world.deps, world.project.project_id, world.sink, 'news@shop.test');
    service = await world.start('all');
    await world.start('worker');
  }, TEST_TIMEOUT_MS);

  const get = async (path: string) =>
    (await askService(service, 'GET', path, { key: world.project.server_key })).body;
  const post = async (path: string, key: string, body: object): Promise<void> => {
    const answer = await askService(service, 'POST', path, { key, body });
    expect(answer).toMatchObject({ status: 202 });
  };
  /** What anyone can do who reads the page. */
  const asPage = (path: string, body: object) => post(path, world.project.publishable_key, body);
  const asServer = (path: string, body: object) => post(path, world.project.server_key, body);
  const batch = async (all: object[]): Promise<void> => {
    for (let from = 0; from < all.length; from += BATCH_MAX)
      await asPage('/v1/events/batch', { events: all.slice(from, from + BATCH_MAX) });
  };

  /** An automation of an event of its own that sends one email. Returns the name of the event. */
  const mailing = async (
    { subject, html = '<p>Hello</p>', steps = {}, entry = 'mail', source }: Mail,
    settings: NewDefinition['settings'] = {},
  ): Promise<string> => {
    const event = `attacked_${(events += 1)}`;
    await inProject(world.deps, world.project.project_id, async (scope) => {
      const templateId = await saveTemplate(scope, { name: event, subject, html, text: null });
      const mail = {
        kind: 'send_email' as const,
        provider_id: providerId,
        template_id: templateId,
        template_version: 1,
        next: null,
      };
      await automations.createActive(scope, event, {
        trigger: { kind: 'event', event, ...(source ? { source } : {}) },
        settings: { re_entry: 'every_time', ...settings },
        entry,
        steps: { ...steps, mail },
      });
    });
    return event;
  };

  /** How the sends of an event's automation stand, once so many runs have ended and nothing is under way. */
  const settled = (event: string, runs: number): Promise<Record<string, number>> =>
    until(`${runs} runs of ${event}`, async () => {
      // The runs first: a run ends in the transaction that plans its last send.
      const { rows: ended } = await world.owner.query<{ runs: number }>(
        `select count(*)::int as runs from automations.runs as run
         join automations.automations as automation on automation.automation_id = run.automation_id
         where automation.name = $1 and run.ended_at is not null`,
        [event],
      );
      const { rows } = await world.owner.query<{ stands: string; count: number }>(
        `select concat_ws('/', send.status, send.status_reason) as stands, count(*)::int
         from automations.automations as automation
         join delivery.sends as send on send.automation_id = automation.automation_id
         where automation.name = $1 group by stands`,
        [event],
      );
      const isOver = ended[0]?.runs === runs && !rows.some(({ stands }) => isOpen(stands));
      return isOver ? Object.fromEntries(rows.map(({ stands, count }) => [stands, count])) : null;
    });
  const decide = (settings: typeof DEFAULTS) =>
    inProject(world.deps, world.project.project_id, (scope) => writeSettings(scope, settings));
  /** The emails that an address received: the subject, and all that they say. */
  const receivedBy = (recipient: string) =>
    Promise.all(
      world.sink.mails.filter(({ to }) => to.includes(recipient)).map(({ raw }) => readMail(raw)),
    );
  return { world, get, asPage, asServer, batch, mailing, settled, decide, receivedBy };
};
