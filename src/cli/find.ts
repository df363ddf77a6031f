import { refuseWord } from './arguments.ts';
import { ask } from './connection.ts';
import { Failure, misused } from './failure.ts';
import { listAll, sayMore, UUID } from './project.ts';
import type { Inside, Listing } from './project.ts';
import { plain } from './terminal.ts';

type Named = { id: string; name: string };

const pick = (items: readonly Explained[], text: string): Explained[] =>
  items.filter(({ name }) => name === text);

const listAutomations = (inside: Inside) => {
  const { client, projectId } = inside;
  return ask(inside, () =>
    listAll((page) => client.automations.list.query({ projectId, ...page })),
  );
};

const listSegments = (inside: Inside) => {
  const { client, projectId } = inside;
  return ask(inside, () => listAll((page) => client.segments.list.query({ projectId, ...page })));
};

/** Of several things of one name, nobody knows which is meant. */
const one = (found: readonly Explained[], text: string): Explained | null => {
  const [only, ...others] = found;
  if (only === undefined || others.length === 0) return only ?? null;
  throw misused(
    `${found.length} things are called ${plain(text)}: say which by its id.`,
    ...found.map(({ id, kind }) => `${id}  ${kind}`),
  );
};

/** What has an id, or null: whatever else is wrong is said. */
const unlessMissing = async <T>(asked: Promise<T>): Promise<T | null> => {
  try {
    return await asked;
  } catch (error) {
    const said = error instanceof Failure ? (error.said as { error?: string }) : {};
    if (said.error === 'not_found') return null;
    throw error;
  }
};

export type Explained = { kind: 'automation' | 'segment' | 'send'; id: string; name: string };

const findAutomationById = async (inside: Inside, id: string): Promise<Explained | null> => {
  const { client, projectId } = inside;
  const asked = ask(inside, () => client.automations.read.query({ projectId, automationId: id }));
  const found = await unlessMissing(asked);
  return found && { kind: 'automation', id, name: found.name };
};

const findSegmentById = async (inside: Inside, id: string): Promise<Explained | null> => {
  const { client, projectId } = inside;
  const asked = ask(inside, () => client.segments.read.query({ projectId, segmentId: id }));
  const found = await unlessMissing(asked);
  return found && { kind: 'segment', id, name: found.name };
};

const toExplained = (
  kind: 'automation' | 'segment',
  { items, isMore }: Listing<Named>,
): Listing<Explained> => ({ items: items.map(({ id, name }) => ({ kind, id, name })), isMore });

/** The one of them that is called so. */
const findCalled = (what: string, text: string, listings: Listing<Explained>[]): Explained => {
  const all = listings.flatMap(({ items }) => items);
  const found = one(pick(all, text), text);
  if (found) return found;
  throw refuseWord(`There is no ${what} called ${plain(text)}.`, {
    word: text,
    words: all.map(({ name }) => name),
    todo: sayMore(
      listings.some(({ isMore }) => isMore),
      'another is named by its id',
    ),
  });
};

/** The automation that is called so. */
export const findAutomation = async (inside: Inside, text: string): Promise<Named> => {
  const byId = UUID.test(text) ? await findAutomationById(inside, text.toLowerCase()) : null;
  if (byId) return byId;
  return findCalled('automation', text, [toExplained('automation', await listAutomations(inside))]);
};

/** What a word stands for: an automation or a segment, by name or id, or a send by its id. */
export const findExplained = async (inside: Inside, text: string): Promise<Explained> => {
  if (UUID.test(text)) {
    const id = text.toLowerCase();
    const known = (await findAutomationById(inside, id)) ?? (await findSegmentById(inside, id));
    return known ?? { kind: 'send', id, name: id };
  }
  return findCalled('automation or segment', text, [
    toExplained('automation', await listAutomations(inside)),
    toExplained('segment', await listSegments(inside)),
  ]);
};

/** A person as people call them. */
export type Person = { id: string; external_id: string | null; email: string | null };

export const labelOf = ({ id, external_id, email }: Person): string =>
  plain([external_id, email].find((name) => name !== null) ?? id);

/** The person whom a word names: a profile id, an external or anonymous id, or an address. */
export const findPerson = async (inside: Inside, text: string): Promise<Person> => {
  const { client, projectId } = inside;
  const { items } = await ask(inside, () => client.profiles.find.query({ projectId, query: text }));
  const [only, ...others] = items;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined)
    throw new Failure('failed', `Nobody is called ${plain(text)} in this project.`, {
      todo: ['By profile id, external id, anonymous id or address, each as a whole.'],
    });
  throw misused(
    `${items.length} people are called ${plain(text)}: say which by the profile’s id.`,
    ...items.map((person) => `${person.id}  ${labelOf(person)}`),
  );
};
