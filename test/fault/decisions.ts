import type { Login } from '../../src/admin/people.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import type { NewProvider } from '../../src/providers/providers.ts';
import type { Asked, Client, Told } from './client.ts';
import type { Journal, Made } from './journal.ts';
import type { Random } from './random.ts';

/** Who signs in to the Console, and with what. */
export type Owner = Login & { cookie: string };

type Within = {
  client: Client;
  journal: Journal;
  project: NewProject;
  random: Random;
  owner: Owner;
  /** What works as a provider, whatever it is called. */
  provider: NewProvider;
  /** Tokens that were made, by what they are: they must be read nowhere. */
  secrets: Record<string, string>;
};
type Step = () => Promise<unknown>;
type Listed = { id: string; last_four: string };

/** So much of each is made in a project: it may connect only so often, and tokens are looked for in all tables. */
const MADE_MAX = 6;
const KEY_TAIL = -4;
/** What nobody here ever does: the automation that waits for it is changed, and starts nobody. */
const NEVER = 'nothing_of_the_kind';

const idOf = (told: Told): string => String(told.body['id']);

/** What people with a server key, or in the Console, decide about a project: each change is to be in the audit log. */
export class Decisions {
  readonly #within: Within;

  constructor(within: Within) {
    this.#within = within;
  }

  plan(): Step[] {
    return [
      () => this.#settle(),
      () => this.#connect(),
      () => this.#automate(),
      () => this.#lend(),
    ];
  }

  async #settle(): Promise<void> {
    const { random } = this.#within;
    const settings = { soft_bounces_max: random.between(5, 10) };
    await this.#ask('settings', `${this.#ofProject}/webhooks/settings`, settings);
    const template = {
      name: `Draft ${random.between(0, 1_000)}`,
      subject: 'Hi',
      html: '<p>Hi</p>',
    };
    await this.#ask('template', `${this.#ofProject}/templates`, template);
  }

  /** A provider is connected, called otherwise, and forgotten or not. */
  async #connect(): Promise<void> {
    const { provider, random } = this.#within;
    if (!this.#hasRoom('provider')) return;
    const from_email = `spare-${crypto.randomUUID()}@shop.test`;
    const body = { ...provider, display_name: 'Spare', from_email };
    const made = await this.#make('provider', `${this.#ofProject}/email-providers`, body, 'Spare');
    if (!made) return;
    const path = `/v1/email-providers/${made.id}`;
    const name = `Spare ${random.between(0, 1_000)}`;
    await this.#change(made, name, {
      kind: 'provider changed',
      method: 'PATCH',
      path,
      body: { display_name: name, rate_per_second: random.between(1, 100) },
      isEach: true,
    });
    if (random.isLucky(0.5))
      await this.#change(made, 'gone', {
        kind: 'provider deleted',
        method: 'DELETE',
        path,
        body: undefined,
        isEach: true,
        // It was, by a try that nobody heard the answer of.
        mayBe: [404],
      });
  }

  /** An automation is made, begins to send, is stopped, goes on, ends or not, and is deleted or not. */
  async #automate(): Promise<void> {
    const { random } = this.#within;
    if (!this.#hasRoom('automation')) return;
    const definition = {
      trigger: { kind: 'event', event: NEVER },
      settings: { re_entry: 'every_time' },
      entry: 'end',
      steps: { end: { kind: 'exit', reason: 'over' } },
    };
    const body = { name: 'Spare', definition };
    const made = await this.#make('automation', '/v1/automations', body, 'draft');
    if (!made) return;
    const acts = [
      ['activate', 'active'],
      ['pause', 'paused'],
      ['resume', 'active'],
      ...(random.isLucky(0.5) ? [['archive', 'archived'] as const] : []),
    ] as const;
    for (const [act, stands] of acts)
      await this.#change(made, stands, {
        kind: `automation ${act}`,
        path: `/v1/automations/${made.id}/${act}`,
        body: {},
        key: crypto.randomUUID(),
      });
    if (random.isLucky(0.5))
      await this.#change(made, 'gone', {
        kind: 'automation deleted',
        method: 'DELETE',
        path: `/v1/automations/${made.id}`,
        body: undefined,
        isEach: true,
        // It was, by a try whose answer was lost.
        mayBe: [404],
      });
  }

  /** A key is made in the Console, with the password, and revoked or not. */
  async #lend(): Promise<void> {
    const { owner, project, random, secrets } = this.#within;
    if (!this.#hasRoom('key')) return;
    const { project_id: projectId } = project;
    const input = { projectId, kind: 'publishable', password: owner.password };
    const told = await this.#call('keys.issue', input);
    const said = told?.body as { result?: { data?: { key?: string } } } | undefined;
    const key = said?.result?.data?.key;
    if (key === undefined) return;
    secrets[`the key ${key.slice(KEY_TAIL)}`] = key;
    const id = await this.#findKey(key.slice(KEY_TAIL));
    if (id === null) return;
    const made: Made = { projectId, what: 'key', id, stands: 'live' };
    this.#within.journal.made.push(made);
    if (random.isLucky(0.5)) {
      made.stands = null;
      const revoked = await this.#call('keys.revoke', { projectId, keyId: id }, true);
      if (revoked?.status === 200) made.stands = 'revoked';
    }
  }

  async #findKey(lastFour: string): Promise<string | null> {
    const { client, owner, project } = this.#within;
    const input = encodeURIComponent(JSON.stringify({ projectId: project.project_id }));
    const told = await client.ask({
      kind: 'keys.list',
      method: 'GET',
      path: `/admin/trpc/keys.list?input=${input}`,
      session: owner.cookie,
      body: undefined,
    });
    const said = told?.body as { result?: { data: { items: Listed[] } } } | undefined;
    const found = said?.result?.data.items.find(({ last_four }) => last_four === lastFour);
    return found?.id ?? null;
  }

  get #ofProject(): string {
    return `/v1/projects/${this.#within.project.project_id}`;
  }

  #hasRoom(what: Made['what']): boolean {
    const { journal, project } = this.#within;
    const own = journal.made.filter(
      (made) => made.what === what && made.projectId === project.project_id,
    );
    return own.length < MADE_MAX;
  }

  async #make(
    what: Made['what'],
    path: string,
    body: object,
    stands: string,
  ): Promise<Made | null> {
    const told = await this.#ask(`${what} made`, path, body);
    if (told?.status !== 201) return null;
    const projectId = this.#within.project.project_id;
    const made: Made = { projectId, what, id: idOf(told), stands };
    this.#within.journal.made.push(made);
    return made;
  }

  /** From the question to the answer nobody knows how it stands. */
  async #change(made: Made, stands: string, asked: Asked): Promise<void> {
    const { client, project } = this.#within;
    const { project_id: projectId, server_key: token } = project;
    made.stands = null;
    const told = await client.ask({ token, projectId, ...asked });
    if (told && (told.status < 300 || asked.mayBe?.includes(told.status))) made.stands = stands;
  }

  /** A call of the Console: tried again, it is another call. */
  #call(procedure: string, body: object, isOnce = false): Promise<Told | null> {
    const { client, owner, project } = this.#within;
    return client.ask({
      kind: procedure,
      path: `/admin/trpc/${procedure}`,
      session: owner.cookie,
      body,
      projectId: project.project_id,
      isEach: true,
      isOnce,
    });
  }

  #ask(kind: string, path: string, body: object): Promise<Told | null> {
    const { client, project } = this.#within;
    const { project_id: projectId, server_key: token } = project;
    return client.ask({ kind, path, token, body, key: crypto.randomUUID(), projectId });
  }
}
