import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import type { Limit } from '../base/route.ts';
import * as identity from '../identity/identity.ts';
import type { LinkRow } from '../identity/identity.ts';
import * as ingest from '../ingest/ingest.ts';
import * as suppression from '../suppression/suppression.ts';
import { toLink } from './link.ts';
import { Told, Words } from './provenance.ts';
import { IDENTIFIERS_SHOWN_MAX, Link } from './schema.ts';
import { PREVIEW_SHOWN } from './shown.ts';

/** How far the events that would move are counted. */
export const UNDO_EVENTS_MAX = 10_000;
/** How many runs are named: the newest. */
export const UNDO_RUNS_MAX = 50;

export const undoPreviewLimits: readonly Limit[] = [
  {
    name: 'Events that an undo preview counts',
    value: UNDO_EVENTS_MAX,
    unit: 'items',
    where: '`events`',
  },
  {
    name: 'Runs that an undo preview names',
    value: UNDO_RUNS_MAX,
    unit: 'items',
    where: '`runs`',
  },
];

const Address = z.string().nullable();
const Change = z.strictObject({
  key: z.string(),
  before: Told.nullable(),
  after: Told.nullable(),
});
const Side = z.strictObject({
  profile_id: z.uuid(),
  identifiers: z
    .array(z.strictObject({ kind: z.enum(identity.IDENTIFIER_KINDS), value: z.string() }))
    .meta({ description: `What this side has afterwards, ${IDENTIFIERS_SHOWN_MAX} at most.` }),
  email: z.strictObject({ before: Address, after: Address }),
  traits: z.array(Change).meta({ description: 'Only those that change; null is none.' }),
  unchanged: z.int().meta({ description: 'How many traits stay as they are.' }),
});

export const UndoPreview = z
  .strictObject({
    link: Link,
    is_possible: z.boolean().meta({ description: 'Whether there is anything to undo.' }),
    restores: Link.nullable().meta({
      description:
        "The browser's link that this one replaced, and that the undo makes active again.",
    }),
    stays: Side.nullable().meta({ description: 'The person of `external_id`.' }),
    leaves: Side.nullable().meta({
      description:
        'The person that `anonymous_id` belongs to afterwards: the person of `restores`, or one of its own.',
    }),
    events: z
      .strictObject({ count: z.int(), is_capped: z.boolean() })
      .meta({ description: `What goes to the other timeline, counted up to ${UNDO_EVENTS_MAX}.` }),
    runs: z
      .array(
        z.strictObject({
          id: z.uuid(),
          automation_id: z.uuid(),
          automation: z.string(),
          goes_on_for: z.enum(['stays', 'leaves']),
          status: z.enum(['active', 'paused', 'merged']),
          started_at: z.iso.datetime(),
        }),
      )
      .meta({
        description: `Runs that go on, the newest ${UNDO_RUNS_MAX}. A \`merged\` run does unless an older run remains.`,
      }),
    suppressions: z
      .array(z.strictObject({ email: z.string(), reasons: z.array(z.string()) }))
      .meta({ description: 'Addresses of either side that stay as they are: left alone.' }),
  })
  .meta({
    id: 'UndoPreview',
    description: 'What undoing a link would change. Nothing is changed by asking.',
    examples: [PREVIEW_SHOWN],
  });
export type UndoPreview = z.output<typeof UndoPreview>;
type Side = z.output<typeof Side>;
type Member = identity.Member;
type Folded = ReadonlyMap<string, Told>;

/** The runs of some identities that have not ended or that an undo may restore, from a module above this one. */
export type ListRuns = (
  scope: Scope,
  identityIds: readonly string[],
  limit: number,
) => Promise<
  readonly {
    run_id: string;
    automation_id: string;
    automation_name: string;
    identity_id: string;
    status: 'active' | 'paused' | 'merged';
    started_at: Date;
  }[]
>;

/** The traits of whoever has these identities: the word that counts of each, unless it removes the trait. */
const fold = (words: Words, members: readonly Member[]): Folded =>
  new Map(
    [...words.of(members)].flatMap(([key, [told]]) =>
      told && told.value !== null ? [[key, told] as const] : [],
    ),
  );

const emailIn = (traits: Folded): string | null => {
  const told = traits.get('email')?.value;
  return typeof told === 'string' && told.trim() !== '' ? told.trim() : null;
};

const changesOf = (before: Folded, after: Folded): z.output<typeof Change>[] =>
  [...new Set([...before.keys(), ...after.keys()])].toSorted().flatMap((key) => {
    const change = { key, before: before.get(key) ?? null, after: after.get(key) ?? null };
    return isDeepStrictEqual(change.before?.value, change.after?.value) ? [] : [change];
  });

type Sided = { profileId: string; members: readonly Member[]; before: Folded; after: Folded };

const toSide = ({ profileId, members, before, after }: Sided): Side => {
  const traits = changesOf(before, after);
  const all = new Set([...before.keys(), ...after.keys()]);
  return {
    profile_id: profileId,
    identifiers: members
      .slice(0, IDENTIFIERS_SHOWN_MAX)
      .map(({ kind, value }) => ({ kind, value })),
    email: { before: emailIn(before), after: emailIn(after) },
    traits,
    unchanged: all.size - traits.length,
  };
};

const listSuppressions = async (scope: Scope, sides: readonly Side[]) => {
  const emails = sides.flatMap(({ email }) => [email.before, email.after]);
  const found: UndoPreview['suppressions'] = [];
  for (const email of new Set(emails.filter((one) => one !== null))) {
    const reasons = await suppression.listReasons(scope, email);
    if (reasons.length > 0) found.push({ email, reasons });
  }
  return found;
};

const withoutErased = (members: readonly Member[]): Member[] =>
  members.filter(({ erasure_id }) => erasure_id === null);

type Restorable = { link: LinkRow; members: Member[] };

/** The browser's link that the undo of another makes active again, and who its person is until then. */
const findRestorable = async (scope: Scope, { replaces }: LinkRow): Promise<Restorable | null> => {
  const link = replaces === null ? null : await identity.findLink(scope, replaces);
  if (link?.status !== 'undone' || link.replaced_by === null) return null;
  const members = withoutErased(await identity.listMembers(scope, link.profile_id));
  const isThere = members.some(({ own_profile_id }) => own_profile_id === link.profile_id);
  return isThere ? { link, members } : null;
};

/** As profiles list their identifiers: the external one first. */
const byName = (a: Member, b: Member): number =>
  a.kind === b.kind ? Number(a.value > b.value) || -1 : Number(a.kind === 'anonymous') || -1;

type Sides = { staying: readonly Member[]; leaving: readonly Member[]; back: Restorable | null };

/** Both people before and after, from the traits that their own identities were given. */
const toSides = async (scope: Scope, link: LinkRow, sides: Sides): Promise<[Side, Side]> => {
  const { staying, leaving, back } = sides;
  const others = back?.members ?? [];
  const words = await Words.read(scope, [...staying, ...leaving, ...others]);
  const stays = {
    profileId: link.profile_id,
    members: staying,
    before: fold(words, [...staying, ...leaving]),
    after: fold(words, staying),
  };
  const joined = [...others, ...leaving].toSorted(byName);
  const leaves = {
    profileId: back?.link.profile_id ?? link.anonymous_profile_id,
    members: joined,
    before: fold(words, others),
    after: fold(words, joined),
  };
  return [toSide(stays), toSide(leaves)];
};

const countEvents = async (scope: Scope, leaving: readonly Member[], eventsMax: number) => {
  let count = 0;
  for (const { value } of leaving)
    count += await ingest.countAnonymous(scope, value, eventsMax + 1 - count);
  return { count: Math.min(count, eventsMax), is_capped: count > eventsMax };
};

const nothing = (link: LinkRow): UndoPreview => ({
  link: toLink(link),
  is_possible: false,
  restores: null,
  stays: null,
  leaves: null,
  events: { count: 0, is_capped: false },
  runs: [],
  suppressions: [],
});

/** What an undo would change, from the same words as the fold that it ends with. Changes and locks nothing. */
export const previewUndo = async (
  scope: Scope,
  link: LinkRow,
  listRuns: ListRuns,
  eventsMax = UNDO_EVENTS_MAX,
): Promise<UndoPreview> => {
  const members = withoutErased(await identity.listMembers(scope, link.profile_id));
  const isLeaving = ({ own_profile_id }: Member) => own_profile_id === link.anonymous_profile_id;
  const leaving = members.filter(isLeaving);
  const staying = members.filter((one) => !isLeaving(one));
  if (link.status !== 'active' || leaving.length === 0) return nothing(link);

  const back = await findRestorable(scope, link);
  const [stays, leaves] = await toSides(scope, link, { staying, leaving, back });
  const ids = members.map(({ identity_id }) => identity_id);
  const gone = new Set(leaving.map(({ identity_id }) => identity_id));
  const runs = await listRuns(scope, ids, UNDO_RUNS_MAX);
  return {
    link: toLink(link),
    is_possible: true,
    restores: back && toLink(back.link),
    stays,
    leaves,
    events: await countEvents(scope, leaving, eventsMax),
    runs: runs.map((run) => ({
      id: run.run_id,
      automation_id: run.automation_id,
      automation: run.automation_name,
      goes_on_for: gone.has(run.identity_id) ? 'leaves' : 'stays',
      status: run.status,
      started_at: run.started_at.toISOString(),
    })),
    suppressions: await listSuppressions(scope, [stays, leaves]),
  };
};
