import type { Deps } from '../base/deps.ts';
import { watchQueue } from '../base/memory_queues.ts';
import { Refusal } from '../base/refusal.ts';
import type { Examined, Written } from './examine.ts';
import type { RenderOutcome, Source } from './render.ts';
import type { Shown } from './show.ts';
import { Threads } from './threads.ts';
import type { ThreadsOptions } from './threads.ts';
import type { Filled, Outcome, Task } from './tasks.ts';

/** How long all parts of one mail may take, watched from outside the thread that renders them. */
export const MAIL_MS_MAX = 2_000;
/** How long a template may be looked at when it is saved or shown; MJML takes its time. */
export const EXAMINE_MS_MAX = 10_000;
/** How many templates wait to be examined or shown, and of one project; a request past that is refused. */
const WAITING_AUTHORS_MAX = 100;
export const WAITING_AUTHORS_OF_PROJECT_MAX = 20;
/** How long a request waits for its turn: its client has given up by then. */
const AUTHORS_WAIT_MS_MAX = 60_000;
/** A turn of a provider has one batch here, and the next; half of a worker's jobs, 50 at most, may be such turns. */
const WAITING_MAILS_MAX = 100;

/** Two of each kind: projects whose templates take all the time they may leave one to the others. */
const MAIL: ThreadsOptions = {
  threadsMax: 2,
  waitingMax: WAITING_MAILS_MAX,
  waitingOfProjectMax: WAITING_MAILS_MAX / 2,
  taskMsMax: MAIL_MS_MAX,
  turnMs: 100,
  memoryMbMax: 128,
};
const AUTHORS: ThreadsOptions = {
  threadsMax: 2,
  waitingMax: WAITING_AUTHORS_MAX,
  waitingOfProjectMax: WAITING_AUTHORS_OF_PROJECT_MAX,
  taskMsMax: EXAMINE_MS_MAX,
  turnMs: 100,
  memoryMbMax: 256,
};

type Where = Pick<Deps, 'resources'>;
const makeThreads = (where: Where, name: string, options: ThreadsOptions): Threads => {
  const threads = new Threads(options);
  watchQueue(where, name, { size: () => threads.waitingCount, max: options.waitingMax });
  return threads;
};
const makeMailThreads = (where: Where) => makeThreads(where, 'mails_to_render', MAIL);
/** Apart from those of mails: nobody's draft keeps a mail waiting. */
const makeAuthorThreads = (where: Where) => makeThreads(where, 'templates_to_try', AUTHORS);

export type Mail = Pick<Filled, 'variables' | 'asserted' | 'isBare'> & {
  template: Source & { template_id: string; version: number };
};

/** An outcome of one kind of task is of that kind. */
const as = <T extends Outcome>(outcome: Outcome): T => outcome as T;

/**
 * Renders mails of a project in a thread: whatever a template does, it does it there. Never rejects for a
 * template's sake; null of what was not come to in `msMax`.
 */
export const renderMails = async (
  where: Where,
  projectId: string,
  mails: readonly Mail[],
  msMax: number,
): Promise<(RenderOutcome | null)[]> => {
  const threads = where.resources.of(makeMailThreads, where);
  const tasks = mails.map(({ template, ...filled }) => ({
    kind: 'render' as const,
    source: template,
    ...filled,
    key: `${projectId}/${template.template_id}/${template.version}`,
  }));
  const outcomes = await threads.perform(projectId, tasks, msMax);
  return outcomes.map((outcome) => (outcome === null ? null : as<RenderOutcome>(outcome)));
};

const perform = async (
  where: Where,
  projectId: string,
  task: Exclude<Task, { kind: 'render' }>,
): Promise<Outcome> => {
  const threads = where.resources.of(makeAuthorThreads, where);
  if (threads.isFullFor(projectId)) throw new Refusal('overloaded', { retryAfterSeconds: 1 });
  const [outcome] = await threads.perform(projectId, [task], AUTHORS_WAIT_MS_MAX);
  // Its time was over before its turn, or the process is about to end.
  if (!outcome) throw new Refusal('unavailable', { retryAfterSeconds: 1 });
  return outcome;
};

type Failed = { kind: 'failed'; reason: string };

/** Looks at what somebody wrote, in a thread. */
export const examineApart = async (
  where: Where,
  projectId: string,
  written: Written,
): Promise<Examined | Failed> =>
  as<Examined | Failed>(await perform(where, projectId, { kind: 'examine', written }));

/** Shows a template for somebody, in a thread. */
export const showApart = async (where: Where, projectId: string, shown: Filled): Promise<Shown> =>
  as<Shown>(await perform(where, projectId, { kind: 'show', ...shown }));
