import { z } from 'zod';
import { sql } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { KeptDefinition } from './schema.ts';
import type { Definition } from './schema.ts';

/** One frozen version of an automation. */
export type VersionRef = { automation_id: string; version: number };

/** How many versions are remembered, and how many characters all that they say may have. */
const DEFINITIONS_MAX = 1_000;
const DEFINITIONS_CHARS_MAX = 16 * 1024 * 1024;

/** What versions say. They never change, so each is read and parsed once in a process; the oldest goes first. */
class Definitions {
  readonly #known = new Map<string, { definition: Definition; chars: number }>();
  #chars = 0;

  find(key: string): Definition | null {
    return this.#known.get(key)?.definition ?? null;
  }

  keep(key: string, definition: Definition): void {
    if (this.#known.has(key)) return;
    const { length: chars } = JSON.stringify(definition);
    this.#known.set(key, { definition, chars });
    this.#chars += chars;
    for (const [old, { chars: size }] of this.#known) {
      if (this.#known.size <= DEFINITIONS_MAX && this.#chars <= DEFINITIONS_CHARS_MAX) break;
      this.#known.delete(old);
      this.#chars -= size;
    }
  }
}
const definitions = new Definitions();

const Row = z.strictObject({
  automation_id: z.uuid(),
  version: z.int(),
  definition: KeptDefinition,
});

const keyOf = (projectId: string, { automation_id, version }: VersionRef): string =>
  `${projectId}/${automation_id}/${version}`;

const readMissing = async ({ tx, projectId }: Scope, missing: readonly VersionRef[]) =>
  tx.any(sql.type(Row)`
    select known.automation_id, known.version, known.definition
    from unnest(
      ${sql.array(
        missing.map(({ automation_id }) => automation_id),
        'uuid',
      )},
      ${sql.array(
        missing.map(({ version }) => version),
        'int4',
      )}
    ) as asked (automation_id, version)
    cross join lateral (
      select found.automation_id, found.version, found.definition
      from automations.versions as found
      where found.project_id = ${projectId}
      and found.automation_id = asked.automation_id and found.version = asked.version
      limit 1
    ) as known
  `);

/** What some versions say, each asked for once. Throws when one of them cannot be understood. */
export const readDefinitions = async (
  scope: Scope,
  versions: readonly VersionRef[],
): Promise<(version: VersionRef) => Definition> => {
  const { projectId } = scope;
  const found = new Map<string, Definition>();
  const missing = new Map<string, VersionRef>();
  for (const version of versions) {
    const key = keyOf(projectId, version);
    const definition = definitions.find(key);
    if (definition) found.set(key, definition);
    else missing.set(key, version);
  }
  if (missing.size > 0)
    for (const row of await readMissing(scope, [...missing.values()])) {
      const key = keyOf(projectId, row);
      found.set(key, row.definition);
      definitions.keep(key, row.definition);
    }
  return (version) => {
    const definition = found.get(keyOf(projectId, version));
    if (!definition)
      throw new Error(`automation ${version.automation_id} has no version ${version.version}`);
    return definition;
  };
};

/** The same for some versions of one automation. */
export const readVersions = async (
  scope: Scope,
  automationId: string,
  versions: readonly number[],
): Promise<(version: number) => Definition> => {
  const refOf = (version: number): VersionRef => ({ automation_id: automationId, version });
  const definitionOf = await readDefinitions(scope, versions.map(refOf));
  return (version) => definitionOf(refOf(version));
};
