import { z } from 'zod';
import { PEOPLE_AT_STEP_MAX } from '../life_queries.ts';
import { SHOWN_COMMAND_KINDS } from './queries.ts';
import type { Command } from './queries.ts';

export const ShownCommand = z.strictObject({
  kind: z.enum(SHOWN_COMMAND_KINDS),
  to_version: z.int().nullable().meta({ description: 'Of a move.' }),
  requested_at: z.iso.datetime(),
  changed: z.int().meta({ description: 'Runs and sends written so far.' }),
});

/** Serializes commands. A deleted automation is not shown, and neither is its deletion. */
export const toShownCommands = (commands: readonly Command[]) =>
  commands.flatMap(({ kind, to_version, requested_at, changed }) =>
    kind === 'delete'
      ? []
      : [{ kind, to_version, requested_at: requested_at.toISOString(), changed }],
  );

const people = z.int().nonnegative();

export const Moved = z
  .strictObject({
    on_it: people.meta({
      description: `People on the active version now. Each step counts at most ${PEOPLE_AT_STEP_MAX}.`,
    }),
    stayed: people.meta({ description: 'People at a step that the version lacks.' }),
    left: people.meta({ description: 'People that a job is still to move.' }),
    version: z.int().nullable(),
  })
  .meta({ examples: [{ on_it: 1, stayed: 0, left: 0, version: 2 }] });
