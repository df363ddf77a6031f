import type { NewProject } from '../../src/projects/projects.ts';
import type { Client } from './client.ts';
import type { Decisions } from './decisions.ts';
import type { AskedEvent, Journal, Person, Role, Said } from './journal.ts';
import { SIGN_UP } from './make_project.ts';
import type { Random } from './random.ts';
import { BY_HAND, hookOf } from './said.ts';

export type Within = {
  client: Client;
  journal: Journal;
  project: NewProject;
  random: Random;
  decisions: Decisions;
  /** Whether some process may answer just now whose clock is wrong. */
  isClockOff: () => boolean;
};
type Step = () => Promise<unknown>;
type Who = { external_id?: string; anonymous_id?: string };

const PAGES_MAX = 4;
const REFUSED_CHANCE = 0.3;
const TWICE_CHANCE = 0.3;
const UNDO_CHANCE = 0.5;

/** What one person does, one thing after the other, each asked for until it is answered. */
export class Story {
  readonly #within: Within;
  #isWhole = false;

  constructor(within: Within) {
    this.#within = within;
  }

  /** Everything that happens to a person of this role, in order; with no luck in it, whatever can. */
  plan(name: string, role: Role, isWhole = false): Step[] {
    this.#isWhole = isWhole;
    const { journal, project, random } = this.#within;
    const mark = project.project_id.slice(-6);
    const person: Person = {
      projectId: project.project_id,
      external_id: `person-${name}-${mark}`,
      anonymous_id: `device-${name}-${mark}`,
      email: `person-${name}-${mark}@people.test`,
      role,
      isLinked: false,
      links: { linked: 0, undone: 0 },
      erase: 'none',
    };
    journal.people.push(person);
    const device = { anonymous_id: person.anonymous_id };
    const pages = (who: Who) => () => this.#track(who, random.between(1, PAGES_MAX));
    const signUp = () => this.#signUp(person);
    const about = (...said: Said[]): Step[] => said.map((one) => () => this.#say(person, one));
    const bad: Step[] =
      isWhole || random.isLucky(REFUSED_CHANCE) ? [() => this.#refused(person)] : [];
    const known = { external_id: person.external_id };
    switch (role) {
      case 'plain':
        return [pages(device), signUp, signUp, ...bad, pages(known), signUp, signUp];
      case 'linked':
        return this.#linked(person, pages, { bad, isWhole });
      case 'manual':
        return [
          signUp,
          ...about('suppress'),
          signUp,
          ...about('lift'),
          ...about('unsubscribe'),
          signUp,
          ...about('resubscribe'),
          ...this.#within.decisions.plan(),
          signUp,
          ...about('suppress'),
        ];
      case 'told':
        return [signUp, ...about(random.pick(['bounce', 'complaint'])), signUp, ...bad];
      case 'erased':
        return this.#erased(person, pages, about('suppress', 'unsubscribe'));
    }
  }

  #linked(
    person: Person,
    pages: (who: Who) => Step,
    { bad, isWhole }: { bad: Step[]; isWhole: boolean },
  ): Step[] {
    const { random } = this.#within;
    const device = { anonymous_id: person.anonymous_id };
    const known = { external_id: person.external_id };
    const alias = () => this.#alias(person);
    const undo =
      isWhole || random.isLucky(UNDO_CHANCE) ? [() => this.#undo(person), pages(device)] : [];
    const identify = () => this.#identify(person);
    return [pages(device), identify, pages(known), alias, pages(device), ...bad, ...undo];
  }

  /** With a device of theirs, or with no more than their name; some of them wanted no mail any more. */
  #erased(person: Person, pages: (who: Who) => Step, leaves: Step[]): Step[] {
    const { random } = this.#within;
    const [known, device] = [
      { external_id: person.external_id },
      { anonymous_id: person.anonymous_id },
    ];
    const signUp = () => this.#signUp(person);
    const isSome = () => this.#isWhole || random.isLucky(0.5);
    return [
      ...(isSome() ? [pages(device), () => this.#alias(person)] : []),
      pages(known),
      signUp,
      () => this.#identify(person),
      ...(isSome() ? leaves : []),
      () => this.#erase(person),
    ];
  }

  async #post(kind: string, path: string, events: AskedEvent[], body: unknown): Promise<void> {
    const { client, journal, project, random } = this.#within;
    const isTwice = random.isLucky(TWICE_CHANCE);
    journal.events.push(...events);
    const isBrowser = kind === 'track' && random.isLucky(0.5);
    const token = isBrowser ? project.publishable_key : project.server_key;
    const told = await client.ask({ kind, path, token, body });
    if (told === null) return;
    const ids = (told.body['event_ids'] ?? []) as string[];
    for (const [at, event] of events.entries()) {
      event.fate = told.status < 300 ? 'stored' : 'refused';
      event.event_id = ids[at] ?? null;
    }
    if (isTwice && told.status < 300) await client.ask({ kind, path, token, body });
  }

  #events(who: Who, event: string, each: AskedEvent['properties'][]): AskedEvent[] {
    const { project } = this.#within;
    return each.map((properties) => {
      const op = crypto.randomUUID();
      const [external_id, anonymous_id] = [who.external_id ?? null, who.anonymous_id ?? null];
      const occurred_at = new Date().toISOString();
      const told = { op, event, external_id, anonymous_id, occurred_at };
      const rest = { projectId: project.project_id, fate: 'unknown', event_id: null } as const;
      return { ...told, ...rest, properties: { ...properties, op } };
    });
  }

  #wire({ event, external_id, anonymous_id, properties, occurred_at, op }: AskedEvent): object {
    return {
      event,
      ...(external_id === null ? {} : { external_id }),
      ...(anonymous_id === null ? {} : { anonymous_id }),
      properties,
      occurred_at,
      message_id: op,
    };
  }

  async #track(who: Who, count: number): Promise<void> {
    const { random } = this.#within;
    const pages = Array.from({ length: count }, () => ({ page: random.between(0, 1_000) }));
    const events = this.#events(who, 'page_viewed', pages);
    const body = { events: events.map((one) => this.#wire(one)) };
    await this.#post('track', '/v1/events/batch', events, body);
  }

  async #signUp({ external_id, email }: Person): Promise<void> {
    const [event] = this.#events({ external_id }, SIGN_UP, [{ email, first_name: 'Somebody' }]);
    if (event) await this.#post('sign up', '/v1/events', [event], this.#wire(event));
  }

  /** A batch in which one event is wrong: none of it may be stored. */
  async #refused({ external_id }: Person): Promise<void> {
    const { client, journal, project, random } = this.#within;
    const events = this.#events({ external_id }, 'page_viewed', [{ page: 1 }, { page: 2 }]);
    const wrong = random.pick([
      { event: 'page_viewed', external_id, properties: { nested: { page: 1 } } },
      { event: 'page_viewed', external_id, properties: { page: 'a\u0000b' } },
      { event: 'page_viewed', properties: {} },
      { event: 'page_viewed', external_id, occurred_at: '1999-01-01T00:00:00Z' },
    ]);
    journal.events.push(...events);
    const told = await client.ask({
      kind: 'refused',
      path: '/v1/events/batch',
      token: project.server_key,
      body: { events: [...events.map((one) => this.#wire(one)), wrong] },
      mayBe: [400],
    });
    for (const event of events) if (told) event.fate = told.status < 300 ? 'stored' : 'refused';
  }

  async #identify({ external_id, email }: Person): Promise<void> {
    const { client, project } = this.#within;
    const body = { external_id, traits: { email, plan: 'free' }, message_id: crypto.randomUUID() };
    await client.ask({ kind: 'identify', path: '/v1/identify', token: project.server_key, body });
  }

  async #alias(person: Person): Promise<void> {
    const { anonymous_id, external_id } = person;
    person.isLinked = null;
    const told = await this.#ask('alias', '/v1/identify/alias', { anonymous_id, external_id });
    if (told?.status !== 200) return;
    this.#linkId = (told.body['link'] as { id: string }).id;
    person.isLinked = true;
    person.links.linked += 1;
  }

  #linkId = '';

  async #undo(person: Person): Promise<void> {
    if (person.isLinked !== true) return;
    person.isLinked = null;
    const told = await this.#ask('undo', `/v1/identity-links/${this.#linkId}/undo`, {});
    if (told?.status !== 200) return;
    person.isLinked = false;
    person.links.undone += 1;
  }

  async #erase(person: Person): Promise<void> {
    person.erase = 'asked';
    const path = `/v1/profiles/external_id:${person.external_id}/erase`;
    const told = await this.#ask('erase', path, { reason: 'asked for' });
    if (told?.status === 202) person.erase = { ackedAt: Date.now() };
  }

  async #say({ projectId, email }: Person, said: Said): Promise<void> {
    const { client, journal } = this.#within;
    const about = { projectId, email, said, askedAt: Date.now(), ackedAt: null as number | null };
    journal.said.push(about);
    const hook = hookOf(this.#within, { said, email, isSigned: this.#isWhole });
    const byHand = BY_HAND[said]?.(email);
    const told = byHand ? await this.#ask(said, ...byHand) : await client.ask(hook);
    if (told && told.status < 300) about.ackedAt = Date.now();
    // Relays tell what they told before again.
    if (told && !byHand) await client.ask(hook);
  }

  #ask(kind: string, path: string, body: object) {
    const { client, project } = this.#within;
    const { project_id: projectId, server_key: token } = project;
    return client.ask({ kind, path, token, body, key: crypto.randomUUID(), projectId });
  }
}
