import type { Deps } from '../base/deps.ts';
import { watchQueue } from '../base/memory_queues.ts';
import { Refusal } from '../base/refusal.ts';
import { STREAM_STALL_MS } from '../base/route.ts';

/** How many exports of a project are open at a time in one process: each holds a piece in memory. */
export const EXPORTS_OPEN_MAX = 16;
/** How many of them read the database at a time; the others wait for their turn. */
export const EXPORTS_READING_MAX = 4;

/** The exports of one project in this process. */
class Turns {
  open = 0;
  #reading = 0;
  readonly #waiting: (() => void)[] = [];

  async take(): Promise<void> {
    if (this.#reading < EXPORTS_READING_MAX) this.#reading += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Passes a turn on to who has waited longest. */
  give(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#reading -= 1;
  }
}

const makeTurns = (deps: Pick<Deps, 'resources'>) => {
  const all = new Map<string, Turns>();
  const mostOpen = () => Math.max(0, ...[...all.values()].map(({ open }) => open));
  watchQueue(deps, 'exports_of_a_project', { size: mostOpen, max: EXPORTS_OPEN_MAX });
  return all;
};

/** Makes the next piece when it is this export's turn. Who is slow to take one keeps nobody from theirs. */
async function* piecesIn(turns: Turns, pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    for (;;) {
      await turns.take();
      const next = await pieces.next().finally(() => turns.give());
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await pieces.return(undefined);
  }
}

/** The pieces of an export among the others of its project. Refuses one too many. */
export async function* inTurns(
  deps: Pick<Deps, 'resources'>,
  projectId: string,
  pieces: AsyncGenerator<string>,
): AsyncGenerator<string> {
  const all = deps.resources.of(makeTurns, deps);
  const turns = all.get(projectId) ?? new Turns();
  if (turns.open >= EXPORTS_OPEN_MAX) {
    throw new Refusal('rate_limited', {
      // By then whoever does not read has been left.
      retryAfterSeconds: STREAM_STALL_MS / 1_000,
      detail: `At most ${EXPORTS_OPEN_MAX} exports are open at a time: read them, and retry after Retry-After.`,
    });
  }
  all.set(projectId, turns);
  turns.open += 1;
  try {
    yield* piecesIn(turns, pieces);
  } finally {
    turns.open -= 1;
    if (turns.open === 0) all.delete(projectId);
  }
}
