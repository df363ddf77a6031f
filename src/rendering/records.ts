import { isDeepStrictEqual } from 'node:util';
import type { Scope } from '../base/db.ts';
import { Refusal } from '../base/refusal.ts';
import type { Written } from './examine.ts';
import {
  findHead,
  findVersion,
  holdHead,
  insertHead,
  insertVersion,
  setArchived,
  setLatest,
} from './queries.ts';
import type { Head, Version } from './queries.ts';
import type { Sample } from './variables.ts';

/** A template that was looked at and found good, as it is kept. */
export type Examination = {
  name: string;
  written: Written;
  /** What the body was made to, where it is MJML. */
  html: string;
  sample: Sample;
  /** The variables of an event that it cannot do without. */
  eventVariables: string[];
};

const toVersion = (
  templateId: string,
  version: number,
  { name, written, html, sample, eventVariables }: Examination,
): Omit<Version, 'created_at'> => ({
  template_id: templateId,
  version,
  name,
  subject: written.subject,
  html,
  text: written.text,
  preheader: written.preheader,
  mjml: written.mjml,
  // As JSON reads it back: what cannot be said in JSON is not there.
  sample: JSON.parse(JSON.stringify(sample)) as Version['sample'],
  event_variables: eventVariables,
});

const getHead = async (scope: Scope, templateId: string): Promise<Head> => {
  const head = await findHead(scope, templateId);
  if (!head) throw new Refusal('not_found');
  return head;
};

const hold = async (scope: Scope, templateId: string): Promise<Head> => {
  const head = await holdHead(scope, templateId);
  if (!head) throw new Refusal('not_found');
  return head;
};

/** Keeps a template with its version 1. The same id again changes nothing. */
export const keepTemplate = async (
  scope: Scope,
  templateId: string,
  examined: Examination,
): Promise<Head> => {
  const head = await insertHead(scope, templateId, examined.name);
  if (!head) return getHead(scope, templateId);
  await insertVersion(scope, toVersion(templateId, 1, examined));
  return head;
};

/** Whether a version says what was to be kept: then it was kept, by this request or another like it. */
const isSame = async (scope: Scope, templateId: string, wanted: Omit<Version, 'created_at'>) => {
  const there = await findVersion(scope, templateId, wanted.version);
  if (!there) return false;
  const { created_at: _, ...known } = there;
  return isDeepStrictEqual(known, wanted);
};

/**
 * Keeps the next version. Whoever did not see the latest is refused, `after` null takes whatever is the latest; the
 * same version again is the one that is there.
 */
export const keepVersion = async (
  scope: Scope,
  templateId: string,
  examined: Examination,
  after: number | null,
): Promise<Head> => {
  const head = await hold(scope, templateId);
  if (head.archived_at) throw new Refusal('template_archived');
  const { latest_version: latest } = head;
  const next = toVersion(templateId, (after ?? latest) + 1, examined);
  if (after !== null && latest === after + 1 && (await isSame(scope, templateId, next)))
    return head;
  if (after !== null && latest !== after)
    throw new Refusal('template_changed', {
      detail: `Its latest version is ${latest}, not ${after}. Read it, then decide what your change is.`,
    });
  await insertVersion(scope, next);
  await setLatest(scope, templateId, next);
  return getHead(scope, templateId);
};

/** The names of whoever sends a template now; asked by its id. */
export type ListUsers = (scope: Scope, templateId: string) => Promise<readonly string[]>;

const NAMES_SHOWN_MAX = 5;

/**
 * Puts a template away: nothing new may name it. What is on its way with one of its versions is still sent. One that
 * an active automation sends is refused, with the names. Archiving again changes nothing.
 */
export const archive = async (
  scope: Scope,
  templateId: string,
  listUsers: ListUsers,
): Promise<Head> => {
  const head = await hold(scope, templateId);
  if (head.archived_at) return head;
  const names = await listUsers(scope, templateId);
  if (names.length > 0) {
    const told = names.slice(0, NAMES_SHOWN_MAX).map((name) => `"${name}"`);
    const more = names.length > told.length ? ` and ${names.length - told.length} more` : '';
    throw new Refusal('template_in_use', {
      detail: `Active automations send this template: ${told.join(', ')}${more}. Give them another first.`,
    });
  }
  await setArchived(scope, templateId, true);
  return getHead(scope, templateId);
};

/** Brings a template back. Restoring what is not archived changes nothing. */
export const restore = async (scope: Scope, templateId: string): Promise<Head> => {
  const head = await hold(scope, templateId);
  if (!head.archived_at) return head;
  await setArchived(scope, templateId, false);
  return getHead(scope, templateId);
};

/** Whether something new may send a version: it is there, and stays so until the transaction ends. */
export const isUsable = async (
  scope: Scope,
  templateId: string,
  version: number,
): Promise<boolean> => {
  const head = await holdHead(scope, templateId, 'to_use');
  return (
    head !== null && head.archived_at === null && version <= head.latest_version && version >= 1
  );
};
