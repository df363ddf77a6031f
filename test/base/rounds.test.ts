import { describe, expect, test } from 'vitest';
import { inRounds } from '../../src/base/rounds.ts';

async function* listed(...projects: string[]): AsyncGenerator<string> {
  await Promise.resolve();
  yield* projects;
}

/** Does so many batches of each project; returns who had a turn. */
const play = async (batches: Record<string, number>, stopAfter = Infinity): Promise<string[]> => {
  const turns: string[] = [];
  const stop = new AbortController();
  await inRounds(listed(...Object.keys(batches)), '0', stop.signal, (project, after) => {
    turns.push(`${project}${after}`);
    if (turns.length === stopAfter) stop.abort();
    const done = Number(after) + 1;
    return Promise.resolve(done < (batches[project] ?? 0) ? String(done) : null);
  });
  return turns;
};

describe('rounds', () => {
  test('give each project one batch in turn, each from where it ended', async () => {
    expect(await play({ a: 3, b: 1, c: 2 })).toEqual(['a0', 'b0', 'c0', 'a1', 'c1', 'a2']);
  });

  test.each([1, 4])('end between two batches after a stop: %i', async (stopAfter) => {
    expect(await play({ a: 3, b: 3 }, stopAfter)).toHaveLength(stopAfter);
  });

  test('end at once where there is no project', async () => {
    expect(await play({})).toEqual([]);
  });
});
