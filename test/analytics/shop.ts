import { inProject } from '../../src/base/db.ts';
import { newId } from '../../src/base/ids.ts';
import * as identity from '../../src/identity/identity.ts';
import { acceptEvents } from '../../src/ingest/queries.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import { newEvent } from '../ingest/some_events.ts';
import type { TestDatabase } from '../support/database.ts';
import { newProject } from './connect_analyst.ts';
import { workOn } from '../support/work_on.ts';

type Properties = Record<string, string | number | boolean>;
/** When, who, what: `ann` is an external id, `~b1` an anonymous one, `ann~b1` both. */
export type Line = [at: Date, who: string, event: string, properties?: Properties];

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** A time of day, UTC, so many days ago. */
export const at = (daysAgo: number, time = '12:00'): Date => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  return new Date(midnight - daysAgo * DAY_MS + (hours * 60 + minutes) * MINUTE_MS);
};

export type Mail = {
  to: string;
  acceptedAt?: Date | null;
  queuedAt?: Date;
  status?: string;
  deliveredAt?: Date;
  bouncedAt?: Date;
  complainedAt?: Date;
  recipient?: string;
};

/** A project with a past that a test writes by hand; events and traits go the service's own way. */
export class Shop {
  readonly database: TestDatabase;
  readonly projectId: string;
  readonly automationId = newId();
  readonly templateId = newId();

  private constructor(database: TestDatabase, projectId: string) {
    this.database = database;
    this.projectId = projectId;
  }

  static async open(database: TestDatabase): Promise<Shop> {
    const shop = new Shop(database, await newProject(database));
    const { automationId: automation_id, templateId: template_id } = shop;
    const now = new Date();
    const made = { created_at: now, updated_at: now };
    const status = 'draft';
    await shop.insert('automations.automations', {
      automation_id,
      name: 'Welcome',
      status,
      ...made,
    });
    await shop.insert('automations.versions', {
      automation_id,
      version: 1,
      definition: {},
      created_at: now,
    });
    const template = { version: 1, name: 'Hello', subject: 's', html: 'h', created_at: now };
    await shop.insert('rendering.heads', {
      template_id,
      name: 'Hello',
      latest_version: 1,
      ...made,
    });
    await shop.insert('rendering.templates', { template_id, ...template });
    return shop;
  }

  /** One row of the project in any table. */
  async insert(table: string, row: Record<string, unknown>): Promise<void> {
    const entries = Object.entries({ project_id: this.projectId, ...row });
    const columns = entries.map(([column]) => column).join(', ');
    const places = entries.map((_, index) => `$${index + 1}`).join(', ');
    await this.database.owner.query(
      `insert into ${table} (${columns}) values (${places})`,
      entries.map(([, value]) => value),
    );
  }

  /** Accepts and processes events. */
  async happened(...lines: Line[]): Promise<void> {
    const events = lines.map(([when, who, name, properties = {}]) => {
      const [external = '', anonymous] = who.split('~');
      return newEvent({
        name,
        external_id: external === '' ? null : external,
        anonymous_id: anonymous ?? null,
        properties: JSON.stringify(properties),
        occurred_at: when.toISOString(),
        ...(name.startsWith('email_') ? { source: 'system' } : {}),
      });
    });
    await acceptEvents(this.database.deps.db, this.projectId, newId(), events);
    await workOn(this.database, this.projectId);
  }

  identityOf(externalId: string): Promise<{ identity_id: string; profile_id: string }> {
    return inProject(this.database.deps, this.projectId, async (scope) => {
      const found = await identity.findByValue(scope, 'external', externalId);
      if (!found) throw new Error(`nobody is ${externalId}`);
      return found;
    });
  }

  /** What a server says of somebody. */
  async told(externalId: string, traits: Record<string, string>): Promise<void> {
    const { identity_id: identityId } = await this.identityOf(externalId);
    await inProject(this.database.deps, this.projectId, (scope) =>
      profiles.changeTraits(scope, { identityId, traits, setAt: new Date(), authority: 'server' }),
    );
  }

  /** Links an anonymous id to somebody, or is refused; answers the log's row. */
  async linked(anonymous_id: string, external_id: string) {
    const link = await inProject(this.database.deps, this.projectId, (scope) =>
      profiles.linkPeople(scope, {
        anonymous_id,
        external_id,
        source: 'identify',
        key_type: 'publishable',
      }),
    );
    if (!link) throw new Error('somebody is being erased');
    return link;
  }

  /** Takes a link back. */
  async unlinked(linkId: string): Promise<void> {
    await inProject(this.database.deps, this.projectId, (scope) =>
      profiles.unlinkPeople(scope, linkId, 'server_key'),
    );
  }

  /** A run of somebody, and the mail it sent if it is told of one. Answers the ids. */
  async ran(externalId: string, startedAt: Date, run: Record<string, unknown> = {}) {
    const { identity_id } = await this.identityOf(externalId);
    const run_id = newId();
    const trigger = { trigger_event_id: newId(), trigger_event_at: startedAt };
    const { automationId: automation_id } = this;
    const state = { status: 'ended', step_id: null, ended_at: startedAt, started_at: startedAt };
    const key = { run_id, automation_id, version: 1, identity_id, entry_key: run_id };
    await this.insert('automations.runs', { ...key, ...trigger, ...state, ...run });
    return run_id;
  }

  async sent(mail: Mail): Promise<string> {
    const acceptedAt = mail.acceptedAt === undefined ? at(1) : mail.acceptedAt;
    const queuedAt = mail.queuedAt ?? acceptedAt ?? at(1);
    const { profile_id } = await this.identityOf(mail.to);
    const send_id = newId();
    const address_key = await this.#addressKey(mail.recipient ?? `${mail.to}@example.com`);
    await this.insert('delivery.sends', {
      send_id,
      profile_id,
      address_key,
      automation_id: this.automationId,
      run_id: await this.ran(mail.to, queuedAt),
      step_id: 'mail',
      provider_id: newId(),
      template_id: this.templateId,
      template_version: 1,
      recipient: mail.recipient ?? `${mail.to}@example.com`,
      subject: 'Hello',
      status: mail.status ?? 'accepted',
      due_at: queuedAt,
      queued_at: queuedAt,
      expires_at: queuedAt,
      accepted_at: acceptedAt,
      delivered_at: mail.deliveredAt,
      bounced_at: mail.bouncedAt,
      complained_at: mail.complainedAt,
    });
    return send_id;
  }

  async suppressed(email: string, reason: string, source: string, suppressedAt: Date) {
    const address_key = await this.#addressKey(email);
    await this.database.owner.query(
      `update suppression.addresses set reason = $3, source = $4, suppressed_at = $5
      where project_id = $1 and address_key = $2`,
      [this.projectId, address_key, reason, source, suppressedAt],
    );
    return address_key;
  }

  async unsubscribed(email: string, source: string, at: Date, change = 'unsubscribed') {
    await this.database.owner.query(
      'select suppression.change_subscription($1, $2, $3, $4, $5, $6, $7)',
      [this.projectId, await this.#addressKey(email), email, newId(), change, source, at],
    );
  }

  async #addressKey(email: string): Promise<Buffer> {
    const key = this.database.deps.keys.hash('address-hash', `${this.projectId} ${email}`);
    await this.database.owner.query('select from suppression.know_address($1, $2, $3)', [
      this.projectId,
      key,
      email,
    ]);
    return key;
  }
}
